// Random and damaged sessions of two accounts against a whole server: no crash, no hang, no bug, nothing of the other account, and
// after the damage the next good command is answered, or the server has said BYE. Each client sends all at once, in random pieces,
// closes its side, and reads up to the end. Some compress what they send behind COMPRESS. `FUZZ_RUNS` makes it longer.
import net from 'node:net';
import { setImmediate } from 'node:timers/promises';
import zlib from 'node:zlib';
import test from 'ava';
import fc from 'fast-check';
import { ALICE, ALICE_EMAIL, BOB, BOB_EMAIL, type ImapGateway, startImap } from './gateway.js';

const RUNS = Number(process.env['FUZZ_RUNS'] ?? 60);
const MAX_MESSAGE = 1_000;
const LIMITS = {
  errors: 1_000,
  unauthenticatedCommandOctets: 1_000,
  commandOctets: 3_000,
  literalOctets: 1_000,
  lineOctets: 2_000,
  idleMs: 20_000,
  minRateGraceMs: 20_000,
};
const PROBE = 'probe NOOP\r\n';
/** Longer than all that a damaged command may swallow. */
const PROBES = PROBE.repeat(Math.ceil((2 * MAX_MESSAGE + 2 * LIMITS.commandOctets) / PROBE.length));
/** Ends what waits for a line. */
const WAY_OUT = '\r\nDONE\r\n*\r\n';

const MESSAGE = [
  'From: "a" <a@example.test>',
  'To: b@example.test',
  'Subject: =?utf-8?B?Wm/Dqw==?= hello',
  'Message-ID: <1@example.test>',
  'MIME-Version: 1.0',
  'Content-Type: multipart/mixed; boundary=x',
  '',
  '--x',
  '',
  'text',
  '--x',
  'Content-Type: message/rfc822',
  '',
  'Subject: inner',
  '',
  'inner text',
  '--x--',
  '',
].join('\r\n');

const COMMANDS: readonly string[] = [
  'NOOP',
  'CAPABILITY',
  'CHECK',
  'ID NIL',
  'ID ("name" "fuzz" "x" NIL)',
  'NAMESPACE',
  'LIST "" *',
  'LIST "" ""',
  'LIST (SUBSCRIBED RECURSIVEMATCH) "" ("%" "*") RETURN (STATUS (MESSAGES UIDNEXT SIZE HIGHESTMODSEQ MAILBOXID DELETED-STORAGE) CHILDREN)',
  'LIST (SPECIAL-USE) "" * RETURN (SPECIAL-USE SUBSCRIBED METADATA (/private/comment))',
  'LSUB "" %',
  'STATUS INBOX (MESSAGES RECENT UIDNEXT UIDVALIDITY UNSEEN DELETED SIZE HIGHESTMODSEQ MAILBOXID APPENDLIMIT)',
  'SELECT INBOX',
  'SELECT INBOX',
  'SELECT {5+}\r\nINBOX (CONDSTORE)',
  'EXAMINE INBOX',
  'SELECT INBOX (QRESYNC (1 1 1:9 (1:2 1:2)))',
  'SELECT Archive',
  'SELECT "Zo&AOs-"',
  'CLOSE',
  'UNSELECT',
  'CREATE a/b',
  'CREATE "Zo&AOs-"',
  'CREATE Later (USE (\\Archive))',
  'RENAME a/b c',
  'RENAME INBOX old',
  'DELETE c',
  'DELETE old',
  'SUBSCRIBE a',
  'UNSUBSCRIBE INBOX',
  'ENABLE CONDSTORE QRESYNC',
  'ENABLE IMAP4REV2 UTF8=ACCEPT',
  'ENABLE UIDONLY',
  'FETCH 1:* FULL',
  'FETCH 1:* (UID FLAGS INTERNALDATE RFC822.SIZE ENVELOPE BODYSTRUCTURE BODY.PEEK[HEADER.FIELDS (Subject "From")] PREVIEW)',
  'UID FETCH 1:* (BODY[]<0.100> BODY[1] BODY[2.MIME] BODY[2.HEADER] BODY.PEEK[2.TEXT] BINARY[1] BINARY.SIZE[1])',
  'UID FETCH 1:* (MODSEQ EMAILID THREADID SAVEDATE FLAGS) (CHANGEDSINCE 1 VANISHED)',
  'UID FETCH 1:* FLAGS (PARTIAL -1:-2)',
  'FETCH $ (RFC822 RFC822.HEADER RFC822.TEXT)',
  'STORE 1:2 +FLAGS (\\Seen \\Deleted $fuzz)',
  'STORE * FLAGS ()',
  'UID STORE 1:* (UNCHANGEDSINCE 2) -FLAGS.SILENT \\Seen \\Answered',
  'SEARCH ALL',
  'SEARCH RETURN (MIN MAX COUNT SAVE) OR UNSEEN (FROM a NOT DELETED) SINCE 1-Jan-2026 LARGER 10',
  'UID SEARCH CHARSET UTF-8 TEXT {5+}\r\nhello BODY "text" HEADER Message-ID "" KEYWORD $fuzz',
  'UID SEARCH RETURN (PARTIAL 1:2 UPDATE CONTEXT) UID 1:* YOUNGER 100000 MODSEQ 1',
  'CANCELUPDATE "t1" "t2"',
  'SORT (REVERSE DATE SUBJECT FROM SIZE) UTF-8 ALL',
  'UID SORT RETURN (COUNT PARTIAL -1:-3) (DISPLAYFROM ARRIVAL) US-ASCII NOT $',
  'UID THREAD REFERENCES UTF-8 ALL',
  'THREAD ORDEREDSUBJECT US-ASCII UNDELETED',
  'COPY 1 Archive',
  'UID COPY 1:* "Zo&AOs-"',
  'MOVE 1 Trash',
  'UID MOVE * Archive',
  'EXPUNGE',
  'UID EXPUNGE 1:*',
  `APPEND INBOX (\\Seen) " 1-Jan-2026 00:00:00 +0000" {${MESSAGE.length}+}\r\n${MESSAGE}`,
  `APPEND INBOX {${MESSAGE.length}}\r\n${MESSAGE}`,
  `APPEND INBOX {${MESSAGE.length}+}\r\n${MESSAGE} ($fuzz) ~{${MESSAGE.length}+}\r\n${MESSAGE}`,
  `APPEND Drafts UTF8 (~{${MESSAGE.length}+}\r\n${MESSAGE})`,
  'APPEND Drafts CATENATE (URL "/INBOX/;UID=1/;SECTION=HEADER" TEXT {5+}\r\nhello URL ";UID=1/;SECTION=TEXT")',
  `APPEND INBOX {${MAX_MESSAGE + 1}+}\r\n`,
  'APPEND Nowhere {3}\r\nabc',
  `REPLACE 1 INBOX {${MESSAGE.length}+}\r\n${MESSAGE}`,
  `UID REPLACE 2 {6+}\r\nDrafts {${MESSAGE.length}}\r\n${MESSAGE}`,
  'GETMETADATA (DEPTH infinity MAXSIZE 10) INBOX (/private/comment)',
  'GETMETADATA "" /shared/comment',
  'SETMETADATA INBOX (/private/comment "x" /private/none NIL)',
  'GETQUOTAROOT INBOX',
  'GETQUOTA ""',
  'NOTIFY SET STATUS (selected (MessageNew (FLAGS UID) MessageExpunge FlagChange)) (personal (MailboxName SubscriptionChange))',
  'NOTIFY NONE',
  'IDLE\r\nDONE',
  'AUTHENTICATE PLAIN\r\n*',
  `LOGIN ${BOB_EMAIL} bad`,
  'STARTTLS x',
  'COMPRESS DEFLATE',
  'UID NOOP',
  'XYZZY',
];

interface Damage {
  readonly at: number;
  readonly length: number;
  readonly put: string;
}

const damages: fc.Arbitrary<Damage> = fc.record({
  at: fc.nat(5_000),
  length: fc.nat(6),
  put: fc.oneof(
    fc.constantFrom(
      '',
      ' ',
      '(',
      ')',
      '"',
      '\\',
      '\r\n',
      '\r',
      '\n',
      '\0',
      '\xff',
      '*',
      '$',
      ':',
      ',',
      '0',
      '4294967295',
      '99999999999999999999',
    ),
    fc.constantFrom(
      '{3}\r\n',
      '{3+}\r\n',
      '~{3+}\r\n',
      '{3000+}\r\n',
      '{99999+}\r\n',
      'UID ',
      'NIL',
      '<',
      '[',
      ']',
      '%',
      '&',
      '&-',
      '('.repeat(60),
    ),
    fc.string({ unit: 'binary-ascii', maxLength: 5 }),
  ),
});

/** What most sessions begin with, so that the commands behind it do something. */
const BEGINNINGS: readonly (readonly string[])[] = [
  [],
  ['SELECT INBOX'],
  ['SELECT INBOX'],
  [`APPEND INBOX {${MESSAGE.length}+}\r\n${MESSAGE}`, 'SELECT INBOX'],
  ['ENABLE QRESYNC', 'SELECT INBOX'],
  ['ENABLE IMAP4REV2 UTF8=ACCEPT', 'SELECT INBOX'],
  ['ENABLE UIDONLY', 'EXAMINE INBOX'],
];

interface Session {
  readonly who: 'alice' | 'bob' | 'nobody';
  readonly beginning: readonly string[];
  readonly commands: readonly string[];
  readonly damages: readonly Damage[];
  readonly cuts: readonly number[];
  readonly isCompressed: boolean;
}

const sessions: fc.Arbitrary<Session> = fc.record({
  who: fc.constantFrom('alice', 'bob', 'alice', 'bob', 'nobody'),
  beginning: fc.constantFrom(...BEGINNINGS),
  commands: fc.array(fc.constantFrom(...COMMANDS), { minLength: 1, maxLength: 25 }),
  damages: fc.array(damages, { maxLength: 4 }),
  cuts: fc.array(fc.nat(6_000), { maxLength: 10 }),
  isCompressed: fc.boolean(),
});

function damaged(octets: string, { at, length, put }: Damage): string {
  const from = at % (octets.length + 1);
  return octets.slice(0, from) + put + octets.slice(from + length);
}

interface Wire {
  /** An octet a character. */
  readonly login: string;
  readonly rest: string;
}

function wireOf({ who, beginning, commands, damages: all }: Session): Wire {
  const login = {
    alice: `t0 LOGIN ${ALICE_EMAIL} alice-key\r\n`,
    bob: `t0 LOGIN ${BOB_EMAIL} bob-key\r\n`,
    nobody: '',
  }[who];
  const begin = beginning.map((command) => `b ${command}\r\n`).join('');
  const body = commands.map((command, i) => `t${i + 1} ${command}\r\n`).join('');
  return { login, rest: begin + all.reduce(damaged, body) + WAY_OUT + PROBES };
}

const latin1 = (octets: string): Buffer => Buffer.from(octets, 'latin1');

/** Everything that the server sends up to its end of the connection, as octets. */
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

/** What the server sends behind COMPRESS is readable as far as it came. */
function inflated(octets: Buffer): string {
  const at = octets.indexOf(COMPRESSED_FROM);
  if (at < 0) return octets.toString('latin1');
  const from = at + COMPRESSED_FROM.length;
  const rest = zlib.inflateRawSync(octets.subarray(from), { finishFlush: zlib.constants.Z_SYNC_FLUSH });
  return octets.toString('latin1', 0, from) + rest.toString('latin1');
}

/** Compressed behind COMPRESS, which is sent together with what is behind it. */
const compressed = ({ login, rest }: Wire): Buffer =>
  Buffer.concat([latin1(login + COMPRESS), zlib.deflateRawSync(latin1(rest))]);

const octetsOf = (wire: Wire, { isCompressed, who }: Session): Buffer =>
  // Before the login COMPRESS is refused.
  isCompressed && who !== 'nobody' ? compressed(wire) : latin1(wire.login + wire.rest);

/** Hangs, and so fails, when a connection is never given up. */
async function allClosed({ listener }: ImapGateway): Promise<void> {
  while (listener.connections > 0) await setImmediate();
}

const canary = (name: string) => `canary-of-${name}`;

async function prepare(gateway: ImapGateway): Promise<void> {
  for (const [account, name, key] of [
    [ALICE, 'alice', 'alice-key'],
    [BOB, 'bob', 'bob-key'],
  ] as const) {
    for (let i = 0; i < 3; i++) {
      const text = MESSAGE.replace('hello', canary(name)).replaceAll('text', canary(name)).replace('<1@', `<${i}@`);
      await gateway.deliver(account, text);
    }
    const client = await gateway.open(key);
    await client.command(`CREATE folder-${canary(name)}`);
    await client.command(`SETMETADATA INBOX (/private/comment "${canary(name)}")`);
    client.close();
  }
}

/** What was wrong; empty when nothing was. */
function verdict({ who }: Session, received: string): string {
  if (received.includes('SERVERBUG')) return 'a bug';
  for (const other of ['alice', 'bob']) {
    if (other !== who && received.includes(canary(other))) return `${who} was shown what is ${other}'s`;
  }
  // What comes behind COMPRESS is not compressed here, so the connection ends without a word that can be read.
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
    { numRuns: RUNS, endOnFailure: process.env['FUZZ_RUNS'] === undefined },
  );
  await allClosed(gateway);
  t.pass();
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
    { numRuns: RUNS, endOnFailure: process.env['FUZZ_RUNS'] === undefined },
  );
  await allClosed(gateway);
});

/** The most memory of this process beyond what it had, while `work` runs. */
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

/** Much that compresses well, after `first`; never at once in the memory of this test. */
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

test('a little that expands into much is inflated no further than it is read', async (t) => {
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
