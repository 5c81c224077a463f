// Tests RETR and TOP: unchanged octets of small and large messages, read-ahead, slow readers, and a store that fails.

import { SMALL_OCTETS } from '../../../../src/gateways/pop3/message-reader.js';
import { StoreFault } from '../../../../src/store/errors.js';
import test from '../../../support/test.js';
import { ALICE, BOB, startPop3 } from '../gateway.js';

const LARGE = SMALL_OCTETS + 100_000;

for (const [what, message] of [
  ['dots', 'A: b\r\n\r\n.\r\n..\r\n.a\r\na.\r\n.\r\n'],
  ['bare LF', 'A: b\n\n.\nx\r\n'],
  ['8 bits', 'Subject: \xc3\xa4\r\n\r\n\xff\xfe\0\r\n'],
  ['an empty body', 'A: b\r\n\r\n'],
] as const) {
  test(`a message with ${what} is fetched as it is`, async (t) => {
    const gateway = await startPop3(t);
    await gateway.deliver(ALICE, message);
    const client = await gateway.open();
    t.is(await client.listing('RETR 1'), `+OK ${message.length} octets\r\n${message}`);
    t.is(await client.command('NOOP'), '+OK Nothing done');
  });
}

test('a message that does not end in CRLF is sent with one', async (t) => {
  const gateway = await startPop3(t);
  await gateway.deliver(ALICE, 'A: b\r\n\r\nno end');
  const client = await gateway.open();
  t.is(await client.listing('RETR 1'), '+OK 14 octets\r\nA: b\r\n\r\nno end\r\n');
});

test('the top of a message, small and large', async (t) => {
  const gateway = await startPop3(t);
  const header = 'A: b\r\nC: d\r\n\r\n';
  await gateway.deliver(ALICE, `${header}.one\r\ntwo\r\n`);
  await gateway.deliver(ALICE, `${header}.one\r\n${'x'.repeat(LARGE)}\r\n`);
  const client = await gateway.open();
  const TOP = '+OK The top of the message follows\r\n';
  for (const number of [1, 2]) {
    t.is(await client.listing(`TOP ${number} 0`), TOP + header);
    t.is(await client.listing(`TOP ${number} 1`), `${TOP + header}.one\r\n`);
  }
  t.is(await client.listing(`TOP 1 ${'9'.repeat(30)}`), `${TOP + header}.one\r\ntwo\r\n`);
  t.is(await client.listing('TOP 1 100'), `${TOP + header}.one\r\ntwo\r\n`);
  t.deepEqual(
    [gateway.blobs.left, gateway.blobs.finished],
    [2, 0],
    'a large message is not read to its end for its top',
  );
});

test('large messages are streamed at the pace of their reader', async (t) => {
  const gateway = await startPop3(t);
  const lines = '.0123456789abcdef\r\n'.repeat(1_000_000);
  const message = `A: b\r\n\r\n${lines}`;
  await gateway.deliver(ALICE, message);
  const client = await gateway.open();
  client.socket.pause();
  client.write('RETR 1\r\n');
  let pulled = -1;
  while (gateway.blobs.pulled !== pulled || pulled <= 0) {
    pulled = gateway.blobs.pulled;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  t.true(pulled < message.length);
  client.socket.resume();
  t.is(await client.line(), `+OK ${message.length} octets`);
  t.is(await client.body(), message);
});

test('a client that goes away in the middle ends the reading', async (t) => {
  const gateway = await startPop3(t);
  await gateway.deliver(ALICE, `A: b\r\n\r\n${'x'.repeat(40_000_000)}\r\n`);
  const client = await gateway.open();
  const ended = new Promise<void>((resolve) => {
    gateway.blobs.onEnd = resolve;
  });
  client.write('RETR 1\r\n');
  await client.line();
  client.socket.resetAndDestroy();
  await ended;
  t.is(gateway.blobs.left, 1);
  await gateway.reopen();
});

test('a message that cannot be read to its end is not ended', async (t) => {
  const gateway = await startPop3(t);
  await gateway.deliver(ALICE, `A: b\r\n\r\n${'x'.repeat(LARGE)}\r\n`);
  gateway.blobs.failAfter = SMALL_OCTETS;
  const client = await gateway.open();
  client.write('RETR 1\r\nNOOP\r\nDELE 1\r\nQUIT\r\n');
  const received = await client.rest();
  t.regex(received, /^\+OK \d+ octets\r\nA: b\r\n\r\nx/);
  t.false(received.includes('.\r\n'));
  t.false(received.includes('Nothing done'));
  // Commands that were pipelined after it do not run either.
  t.is(await (await gateway.reopen()).command('STAT'), `+OK 1 ${LARGE + 10}`);
});

test('a client that goes away while messages are sent has nothing carried out that it pipelined behind them', async (t) => {
  const gateway = await startPop3(t);
  await gateway.deliver(ALICE, `A: b\r\n\r\n${'x'.repeat(40_000_000)}\r\n`);
  const client = await gateway.open();
  client.write('RETR 1\r\nDELE 1\r\nQUIT\r\n');
  await client.line();
  client.socket.resetAndDestroy();
  t.is(await (await gateway.reopen()).command('STAT'), '+OK 1 40000010');
});

test('a store that fails is a temporary failure, and the session goes on', async (t) => {
  let fault: StoreFault | undefined;
  const gateway = await startPop3(t);
  await gateway.deliver(ALICE, 'A: b\r\n\r\n');
  const { readAll } = gateway.blobs;
  gateway.blobs.readAll = async (hashes) => {
    if (fault !== undefined) throw fault;
    return readAll.call(gateway.blobs, hashes);
  };
  const client = await gateway.open();
  fault = new StoreFault('store-unavailable', 'down', { temporary: true });
  t.is(await client.command('RETR 1'), '-ERR [SYS/TEMP] Temporary failure, try again later');
  fault = undefined;
  t.is(await client.listing('RETR 1'), '+OK 8 octets\r\nA: b\r\n\r\n');
});

test('many messages are fetched, whatever is marked between', async (t) => {
  const gateway = await startPop3(t);
  const messages = Array.from({ length: 300 }, (_, i) => `Subject: ${i}\r\n\r\n${'x'.repeat(i * 7)}\r\n`);
  for (const message of messages) await gateway.deliver(ALICE, message);
  const client = await gateway.open();
  client.write('DELE 7\r\nDELE 8\r\n');
  await client.line();
  await client.line();
  const wanted = messages.map((_, i) => i + 1).filter((number) => number !== 7 && number !== 8);
  client.write(wanted.map((number) => `RETR ${number}\r\nDELE ${number}\r\n`).join(''));
  for (const number of wanted) {
    t.is(await client.line(), `+OK ${messages[number - 1]!.length} octets`);
    t.is(await client.body(), messages[number - 1]!);
    t.is(await client.line(), '+OK Marked for deletion');
  }
  t.is(await client.command('RSET'), '+OK No message is marked for deletion');
  for (const number of [300, 1, 150, 151, 152, 7, 8]) {
    t.is(
      await client.listing(`RETR ${number}`),
      `+OK ${messages[number - 1]!.length} octets\r\n${messages[number - 1]}`,
    );
  }
});

test('a message that was marked while others were read ahead is there after RSET', async (t) => {
  const gateway = await startPop3(t);
  for (let i = 1; i <= 9; i++) await gateway.deliver(ALICE, `Subject: ${i}\r\n\r\n`);
  const client = await gateway.open();
  await client.command('DELE 4');
  for (const number of [1, 2, 3]) await client.listing(`RETR ${number}`);
  await client.command('RSET');
  t.is(await client.listing('RETR 4'), '+OK 14 octets\r\nSubject: 4\r\n\r\n');
});

test('sessions take turns: one with much to fetch keeps no other waiting', async (t) => {
  const gateway = await startPop3(t);
  for (let i = 0; i < 40; i++) await gateway.deliver(ALICE, `Subject: ${i}\r\n\r\n${'.x\r\n'.repeat(20_000)}`);
  const [busy, other] = [await gateway.open(), await gateway.open('bob-key')];
  const script = Array.from({ length: 40 }, (_, i) => `RETR ${i + 1}\r\n`).join('');
  let isOver = false;
  busy.write(`${script}QUIT\r\n`);
  const all = busy.rest().then((text) => {
    isOver = true;
    return text;
  });
  t.is(await other.command('STAT'), '+OK 0 0');
  t.false(isOver);
  t.true((await all).endsWith('+OK Bye\r\n'));
  t.is(gateway.mailboxes.account(BOB).emails.size, 0);
});
