// Sends random and damaged sessions of two accounts to a whole server: it must not crash, hang, report a bug or show one account the
// other's mail, and after the damage it answers the next good command or has said BYE. Each client sends all at once, in random
// pieces, closes its side, and reads up to the end. Some compress what follows COMPRESS. `FUZZ_RUNS` makes the run longer.
import net from 'node:net';
import { setImmediate } from 'node:timers/promises';
import zlib from 'node:zlib';
import fc from 'fast-check';
import test from '../../support/test.js';
import {
  allClosed,
  canary,
  END_ON_FAILURE,
  LIMITS,
  latin1,
  MAX_MESSAGE,
  prepare,
  RUNS,
  type Session,
  sessions,
  type Wire,
  wireOf,
} from './fuzz-sessions.js';
import { ALICE_EMAIL, startImap } from './gateway.js';

/** Returns everything that the server sends up to the end of the connection; one character is one octet. */
async function answers(port: number, wire: Buffer, cuts: readonly number[]): Promise<string> {
  const socket = net.connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  // A server that has said BYE may reset the connection.
  socket.on('error', () => {});
  const closed = new Promise((resolve) => socket.once('close', resolve));
  let from = 0;
  for (const cut of [...cuts].sort((a, b) => a - b)) {
    const piece = wire.subarray(from, cut);
    if (piece.length > 0) await new Promise((resolve) => socket.write(piece, resolve));
    from = Math.max(from, cut);
  }
  socket.end(wire.subarray(from));
  await closed;
  return inflated(Buffer.concat(chunks));
}

const COMPRESS = 'z COMPRESS DEFLATE\r\n';
const COMPRESSED_FROM = 'z OK DEFLATE begins now\r\n';

/** Inflates what the server sends after COMPRESS, as far as it arrived. */
function inflated(octets: Buffer): string {
  const at = octets.indexOf(COMPRESSED_FROM);
  if (at < 0) return octets.toString('latin1');
  const from = at + COMPRESSED_FROM.length;
  const rest = zlib.inflateRawSync(octets.subarray(from), { finishFlush: zlib.constants.Z_SYNC_FLUSH });
  return octets.toString('latin1', 0, from) + rest.toString('latin1');
}

/** Sends COMPRESS together with the compressed commands that follow it. */
const compressed = ({ login, rest }: Wire): Buffer =>
  Buffer.concat([latin1(login + COMPRESS), zlib.deflateRawSync(latin1(rest))]);

const octetsOf = (wire: Wire, { isCompressed, who }: Session): Buffer =>
  // COMPRESS is refused before the login.
  isCompressed && who !== 'nobody' ? compressed(wire) : latin1(wire.login + wire.rest);

/** Returns what is wrong; empty when nothing is. */
function verdict({ who }: Session, received: string): string {
  if (received.includes('SERVERBUG')) return 'a bug';
  for (const other of ['alice', 'bob']) {
    if (other !== who && received.includes(canary(other))) return `${who} was shown what is ${other}'s`;
  }
  // The damage may contain COMPRESS; the octets after it are not compressed, so the connection ends without readable text.
  const hasEnded = /(^|\r\n)(\* BYE |(?!z )\S+ OK DEFLATE )/.test(received);
  if (!hasEnded && !/\r\nprobe OK [^\r\n]*\r\n$/.test(received)) return 'the next good command was not answered';
  return '';
}

test('random and damaged sessions of two accounts', async (t) => {
  const gateway = await startImap(t, { maxMessageSize: MAX_MESSAGE, limits: LIMITS });
  await prepare(gateway);
  await fc.assert(
    fc.asyncProperty(fc.array(sessions, { minLength: 1, maxLength: 4 }), async (all) => {
      const received = await Promise.all(
        all.map((session) => answers(gateway.port, octetsOf(wireOf(session), session), session.cuts)),
      );
      const wrong = received.map((text, i) => verdict(all[i]!, text)).filter((text) => text !== '');
      t.deepEqual(wrong, [], received.join('\r\n=====\r\n').replaceAll(/(probe OK [^\r\n]*\r\n)+/g, '$1'));
      const bugs = gateway.logged.filter(({ level }) => Number(level) >= 50);
      t.deepEqual(bugs, []);
    }),
    { numRuns: RUNS, endOnFailure: END_ON_FAILURE },
  );
  await allClosed(gateway);
  t.pass();
});

/** Sends octets and ends the connection, by FIN or by a reset while commands run. */
async function cutOff(port: number, octets: Buffer, isReset: boolean): Promise<void> {
  const socket = net.connect({ port, host: '127.0.0.1' });
  socket.on('error', () => {});
  const closed = new Promise((resolve) => socket.once('close', resolve));
  await new Promise((resolve) => socket.write(octets, resolve));
  if (isReset) {
    await Promise.race([new Promise((resolve) => socket.once('data', resolve)), setImmediate()]);
    socket.resetAndDestroy();
  } else socket.resume().end();
  await closed;
}

test('sessions that are cut at any octet leave nothing behind, and nothing half stored', async (t) => {
  let appended = 0;
  const meter = { appended: () => void appended++ };
  const gateway = await startImap(t, { maxMessageSize: MAX_MESSAGE, limits: LIMITS, meter });
  await prepare(gateway);
  const cuts = fc.record({
    session: sessions.map((session) => ({ ...session, damages: [] })),
    // Doubles would mostly be close to 0.
    at: fc.nat(1_000_000),
    isReset: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(cuts, { minLength: 4, maxLength: 12 }), async (all) => {
      await Promise.all(
        all.map(({ session, at, isReset }) => {
          const wire = wireOf(session);
          const octets = latin1(wire.login + wire.commands);
          return cutOff(gateway.port, octets.subarray(0, at % (octets.length + 1)), isReset);
        }),
      );
      await allClosed(gateway);
      t.is(gateway.context.spool.memory.used, 0);
      t.deepEqual(
        gateway.logged.filter(({ level }) => Number(level) >= 50),
        [],
      );
    }),
    { numRuns: RUNS, endOnFailure: END_ON_FAILURE },
  );
  t.true(appended > RUNS / 10, `${appended} messages`);
  for (const key of ['alice-key', 'bob-key']) {
    const client = await gateway.open(key);
    for (const mailbox of ['INBOX', 'Archive']) {
      await client.command(`EXAMINE ${mailbox}`);
      const { untagged } = await client.command('UID FETCH 1:* (BODY.PEEK[])');
      for (const response of untagged) t.true(response.includes('\r\n--x--\r\n'), response);
    }
    client.close();
  }
});

test('octets without an end of a line are not kept', async (t) => {
  const gateway = await startImap(t, { maxMessageSize: MAX_MESSAGE, limits: LIMITS });
  for (const endless of [
    'x'.repeat(300_000),
    `t1 LOGIN "${'x'.repeat(300_000)}`,
    `t1 X ${'{1+}\r\nx '.repeat(20_000)}`,
  ]) {
    const received = await answers(gateway.port, latin1(endless), []);
    t.regex(received.split('\r\n').at(-2) ?? '', /^\* BYE \[(LIMIT|TOOBIG)\] /);
  }
  await allClosed(gateway);
  t.pass();
});

test('compressed octets that are damaged end the session at the worst', async (t) => {
  const gateway = await startImap(t, { maxMessageSize: MAX_MESSAGE, limits: LIMITS });
  await prepare(gateway);
  const damage = fc.record({ at: fc.nat(5_000), octets: fc.uint8Array({ minLength: 1, maxLength: 20 }) });
  await fc.assert(
    fc.asyncProperty(sessions, fc.array(damage, { minLength: 1, maxLength: 4 }), async (session, all) => {
      const wire = wireOf({ ...session, who: 'alice' });
      const octets = compressed(wire);
      const plain = wire.login.length + COMPRESS.length;
      for (const { at, octets: put } of all) octets.set(put.subarray(0, 1), plain + (at % (octets.length - plain)));
      const [{ octets: garbage }] = all as [(typeof all)[number]];
      const received = await answers(gateway.port, Buffer.concat([octets, garbage]), session.cuts);
      t.false(received.includes('SERVERBUG'));
      t.false(received.includes(canary('bob')));
      t.deepEqual(
        gateway.logged.filter(({ level }) => Number(level) >= 50),
        [],
      );
    }),
    { numRuns: RUNS, endOnFailure: END_ON_FAILURE },
  );
  await allClosed(gateway);
});

/** Returns by how much the memory of this process grows at most while `work` runs. */
async function growthDuring(work: Promise<unknown>): Promise<number> {
  const memory = () => {
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  };
  const before = memory();
  let most = before;
  let isOver = false;
  const done = work.finally(() => {
    isOver = true;
  });
  while (!isOver) {
    most = Math.max(most, memory());
    await setImmediate();
  }
  await done;
  return most - before;
}

const MIB = 1024 * 1024;

/** Compresses many octets after `first`, without holding all of them in the memory of this test. */
async function bomb(first: string, mebioctets: number): Promise<Buffer> {
  const deflate = zlib.createDeflateRaw({ level: 1 });
  const chunks: Buffer[] = [];
  deflate.on('data', (chunk: Buffer) => chunks.push(chunk));
  deflate.write(first);
  const piece = Buffer.alloc(MIB, 'x');
  for (let i = 0; i < mebioctets; i++) await new Promise((resolve) => deflate.write(piece, resolve));
  await new Promise((resolve) => deflate.once('end', resolve).end());
  return Buffer.concat(chunks);
}

// No other test runs meanwhile, because the memory of the process is measured.
test.serial('a little that expands into much is inflated no further than it is read', async (t) => {
  const gateway = await startImap(t, { maxMessageSize: MAX_MESSAGE, limits: LIMITS });
  const login = `t0 LOGIN ${ALICE_EMAIL} alice-key\r\n`;
  for (const [first, end] of [
    ['', /^\* BYE \[LIMIT\] /],
    [`t1 APPEND INBOX {${512 * MIB}+}\r\n`, /^\* BYE \[TOOBIG\] /],
    [`t1 STATUS {${512 * MIB}+}\r\n`, /^\* BYE \[TOOBIG\] /],
  ] as const) {
    const octets = Buffer.concat([latin1(login + COMPRESS), await bomb(first, 512)]);
    let received = '';
    const growth = await growthDuring(
      answers(gateway.port, octets, []).then((text) => {
        received = text;
      }),
    );
    t.regex(received.split('\r\n').at(-2) ?? '', end);
    t.true(growth < 64 * MIB, `${Math.round(growth / MIB)} MiB more`);
  }
  await allClosed(gateway);
});

test('compressed commands wait for the client that reads no replies, and none is lost', async (t) => {
  const gateway = await startImap(t);
  const [client, other] = [await gateway.open(), await gateway.open()];
  t.regex((await client.command('COMPRESS DEFLATE')).tagged, /^OK /);
  client.compress();
  client.socket.pause();
  const count = 20_000;
  client.write(`${'x CAPABILITY\r\n'.repeat(count)}y NOOP\r\n`);
  for (let i = 0; i < 100; i++) t.is((await other.command('NOOP')).tagged, 'OK NOOP completed');
  client.socket.resume();
  const { untagged } = await client.answer('y');
  t.is(untagged.filter((line) => line.startsWith('x OK')).length, count);
});
