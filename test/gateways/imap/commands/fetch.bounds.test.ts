// Tests what FETCH reads and keeps in memory: nothing that it does not show, large and slow transfers within bounds, and faults in the
// middle of them.
import { readAhead } from '../../../../src/gateways/imap/messages/read-ahead.js';
import type { BlobStore } from '../../../../src/store/blobs.js';
import test from '../../../support/test.js';
import { ALICE, startImap } from '../gateway.js';
import { inbox, message } from './fetched-inbox.js';

test('headers and structures read no bodies', async (t) => {
  const reads: unknown[] = [];
  const untouched = (...args: unknown[]) => void reads.push(args) as never;
  const blobs: BlobStore = {
    put: untouched,
    index: untouched,
    indexes: untouched,
    read: untouched,
    readRanges: untouched,
    readAll: untouched,
    stream: untouched,
    collect: untouched,
  };
  const client = await inbox(await startImap(t, { blobs }), 300);
  const { untagged, tagged } = await client.command(
    'FETCH 1:* (ENVELOPE BODYSTRUCTURE BODY.PEEK[HEADER] BODY.PEEK[HEADER.FIELDS (SUBJECT)] PREVIEW)',
  );
  t.is(untagged.length, 300);
  t.true(untagged.every((line, i) => line.includes(`{${20 + String(i + 1).length}}\r\nSubject: number ${i + 1}\r\n`)));
  t.true(tagged.startsWith('OK'));
  t.deepEqual(reads, []);
});

test('a client that does not read holds a large part back', async (t) => {
  const gateway = await startImap(t);
  const size = 30_000_000;
  await gateway.deliver(ALICE, Buffer.concat([Buffer.from('Subject: large\r\n\r\n'), Buffer.alloc(size, 'x\r\n')]));
  const client = await gateway.open();
  await client.command('EXAMINE INBOX');
  client.socket.pause();
  const tag = client.send('FETCH 1 (BODY.PEEK[TEXT])');
  const { blobs } = gateway;
  // The loop ends when nothing more is read: the buffers of both sockets are full.
  for (let pulled = -1; pulled !== blobs.pulled || pulled === 0; ) {
    pulled = blobs.pulled;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  t.true(blobs.pulled < size / 2, `${blobs.pulled}`);
  // The client is too slow here: it looks for the end of the response at every piece.
  client.socket.removeAllListeners('data');
  const end = `)\r\n${tag} OK FETCH completed\r\n`;
  const expected = '* 1 FETCH (BODY[TEXT] {30000000}\r\n'.length + size + end.length - client.pending.length;
  let received = 0;
  let last = '';
  await new Promise<void>((resolve) => {
    client.socket.on('data', (octets: Buffer) => {
      received += octets.length;
      last = (last + octets.toString('latin1')).slice(-end.length);
      if (received >= expected) resolve();
    });
    client.socket.resume();
  });
  t.is(received, expected);
  t.is(last, end);
});

test('one response with the same octets many times over is read as it is written', async (t) => {
  const gateway = await startImap(t);
  const body = 'x\r\n'.repeat(200_000);
  await gateway.deliver(ALICE, `Subject: large\r\n\r\n${body}`);
  const client = await gateway.open();
  await client.command('EXAMINE INBOX');
  const offsets = Array.from({ length: 100 }, (_, i) => i);
  const tag = client.send(`FETCH 1 (${offsets.map((i) => `BODY.PEEK[TEXT]<${i}.250000>`).join(' ')})`);
  // The client is too slow here: it looks for the end of the response at every piece.
  client.socket.removeAllListeners('data');
  const parts = offsets.map((i) => `BODY[TEXT]<${i}> {250000}\r\n${body.slice(i, i + 250_000)}`);
  const expected = Buffer.from(`* 1 FETCH (${parts.join(' ')})\r\n${tag} OK FETCH completed\r\n`);
  const pieces: Buffer[] = [];
  let received = 0;
  await new Promise<void>((resolve) => {
    client.socket.on('close', resolve);
    client.socket.on('data', (octets: Buffer) => {
      pieces.push(octets);
      received += octets.length;
      if (received >= expected.length) resolve();
    });
  });
  t.true(Buffer.concat(pieces).equals(expected), `${received} octets of ${expected.length}`);
});

/** Returns `count` attributes, each of which shows the header. */
const headers = (count: number) =>
  Array.from({ length: count }, (_, i) => `BODY.PEEK[HEADER.FIELDS.NOT (A${i})]`).join(' ');

test('one response with a long header very many times over is refused, and a few times is not', async (t) => {
  const gateway = await startImap(t);
  await gateway.deliver(ALICE, `${'X-Filler: y\r\n'.repeat(16_000)}\r\ntext\r\n`);
  const client = await gateway.open();
  await client.command('EXAMINE INBOX');
  t.is((await client.command(`FETCH 1 (${headers(12)})`)).untagged[0]!.match(/\{208002\}/g)?.length, 12);
  for (const more of ['', ' BODY.PEEK[TEXT]']) {
    const { untagged, tagged } = await client.command(`FETCH 1 (${headers(100)}${more})`);
    t.deepEqual(untagged, []);
    t.is(tagged, 'NO [LIMIT] Too much of one message is asked for at a time');
  }
  t.regex((await client.command('NOOP')).tagged, /^OK /);
});

test('messages before one that is refused are shown', async (t) => {
  const gateway = await startImap(t);
  await gateway.deliver(ALICE, message(1));
  await gateway.deliver(ALICE, `${'X-Filler: y\r\n'.repeat(16_000)}\r\ntext\r\n`);
  const client = await gateway.open();
  await client.command('EXAMINE INBOX');
  const { untagged, tagged } = await client.command(`FETCH 1:2 (FLAGS ${headers(100)})`);
  t.deepEqual(
    untagged.map((response) => response.slice(0, 50)),
    ['1 FETCH (FLAGS () BODY[HEADER.FIELDS.NOT (A0)] {83'],
  );
  t.is(tagged, 'NO [LIMIT] Too much of one message is asked for at a time');
});

for (const more of ['', ' BODY.PEEK[TEXT]']) {
  test(`flags that a refused response would have told are told afterwards${more && ', octets included'}`, async (t) => {
    const gateway = await startImap(t);
    await gateway.deliver(ALICE, `${'X-Filler: y\r\n'.repeat(16_000)}\r\ntext\r\n`);
    const [client, other] = [await gateway.open(), await gateway.open()];
    await client.command('SELECT INBOX');
    await other.command('SELECT INBOX');
    await other.command('STORE 1 FLAGS (\\Flagged)');
    const { untagged, tagged } = await client.command(`FETCH 1 (FLAGS ${headers(100)}${more})`);
    t.regex(tagged, /^NO \[LIMIT\]/);
    t.deepEqual(untagged, []);
    t.deepEqual((await client.command('NOOP')).untagged, ['1 FETCH (UID 1 FLAGS (\\Flagged))']);
    t.deepEqual((await client.command('NOOP')).untagged, []);
  });
}

test.serial('an account whose sessions have read their share ahead gets one message at a time', async (t) => {
  const gateway = await startImap(t);
  const client = await inbox(gateway, 5);
  const { blobs } = gateway;
  let readings = 0;
  const readAll = blobs.readAll.bind(blobs);
  blobs.readAll = (hashes) => {
    readings++;
    return readAll(hashes);
  };
  const expected = [1, 2, 3, 4, 5].map((n) => `${n} FETCH (BODY[TEXT] {8}\r\ntext ${n}\r\n)`);
  t.deepEqual((await client.command('FETCH 1:* (BODY.PEEK[TEXT])')).untagged, expected);
  t.is(readings, 1);
  t.is(readAhead.usedBy(ALICE), 0);
  const share = 16 * 1024 * 1024;
  const others = readAhead.reserve(ALICE, share)!;
  t.deepEqual((await client.command('FETCH 1:* (BODY.PEEK[TEXT])')).untagged, expected);
  t.is(readings, 1);
  t.is(readAhead.usedBy(ALICE), share);
  others.release();
});

test('a fault before a body is NO, and in the middle of one the connection ends', async (t) => {
  const gateway = await startImap(t);
  await gateway.deliver(ALICE, Buffer.concat([Buffer.from('\r\n'), Buffer.alloc(2_000_000, 'x\r\n')]));
  const client = await gateway.open();
  await client.command('EXAMINE INBOX');
  gateway.blobs.failAfter = 0;
  const { untagged, tagged } = await client.command('FETCH 1 (UID BODY.PEEK[])');
  t.deepEqual(untagged, []);
  t.regex(tagged, /^NO \[UNAVAILABLE\]/);
  gateway.blobs.failAfter = 1_000_000;
  const tag = client.send('FETCH 1 (UID BODY.PEEK[])');
  await client.rest();
  t.true(client.pending.startsWith('* 1 FETCH (UID 1 BODY[] {2000002}\r\n'));
  t.false(client.pending.includes(`${tag} `));
});
