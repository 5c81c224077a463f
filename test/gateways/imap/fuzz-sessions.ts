// Generates the sessions of the fuzz tests: commands with random damage, of two accounts, each with a text that the other must
// never see.
import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { IS_SEARCH, runs } from '../../support/amounts.js';
import { ALICE, ALICE_EMAIL, BOB, BOB_EMAIL, type ImapGateway } from './gateway.js';

export const RUNS = runs(60);
/** The daily run reports a failure at once; a search by hand shrinks it first. */
export const END_ON_FAILURE = !IS_SEARCH;
export const MAX_MESSAGE = 1_000;
export const LIMITS = {
  errors: 1_000,
  unauthenticatedCommandOctets: 1_000,
  commandOctets: 3_000,
  literalOctets: 1_000,
  lineOctets: 2_000,
  idleMs: 20_000,
  minRateGraceMs: 20_000,
};
const PROBE = 'probe NOOP\r\n';
/** Longer than anything a damaged command can swallow. */
const PROBES = PROBE.repeat(Math.ceil((2 * MAX_MESSAGE + 2 * LIMITS.commandOctets) / PROBE.length));
/** Ends any command that waits for a line. */
const WAY_OUT = '\r\nDONE\r\n*\r\n';

export const MESSAGE = [
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

export const COMMANDS: readonly string[] = [
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

/** Most sessions begin with one of these, so that later commands have an effect. */
const BEGINNINGS: readonly (readonly string[])[] = [
  [],
  ['SELECT INBOX'],
  ['SELECT INBOX'],
  [`APPEND INBOX {${MESSAGE.length}+}\r\n${MESSAGE}`, 'SELECT INBOX'],
  ['ENABLE QRESYNC', 'SELECT INBOX'],
  ['ENABLE IMAP4REV2 UTF8=ACCEPT', 'SELECT INBOX'],
  ['ENABLE UIDONLY', 'EXAMINE INBOX'],
];

export interface Session {
  readonly who: 'alice' | 'bob' | 'nobody';
  readonly beginning: readonly string[];
  readonly commands: readonly string[];
  readonly damages: readonly Damage[];
  readonly cuts: readonly number[];
  readonly isCompressed: boolean;
}

export const sessions: fc.Arbitrary<Session> = fc.record({
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

export interface Wire {
  /** Each character is one octet. */
  readonly login: string;
  readonly commands: string;
  /** The commands, then lines that end any state that the damage has caused. */
  readonly rest: string;
}

export function wireOf({ who, beginning, commands, damages: all }: Session): Wire {
  const login = {
    alice: `t0 LOGIN ${ALICE_EMAIL} alice-key\r\n`,
    bob: `t0 LOGIN ${BOB_EMAIL} bob-key\r\n`,
    nobody: '',
  }[who];
  const begin = beginning.map((command) => `b ${command}\r\n`).join('');
  const body = commands.map((command, i) => `t${i + 1} ${command}\r\n`).join('');
  const wire = begin + all.reduce(damaged, body);
  return { login, commands: wire, rest: wire + WAY_OUT + PROBES };
}

export const latin1 = (octets: string): Buffer => Buffer.from(octets, 'latin1');

/** Resolves when all connections are closed; a connection that stays open makes the test time out. */
export async function allClosed({ listener }: ImapGateway): Promise<void> {
  while (listener.connections > 0) await setImmediate();
}

export const canary = (name: string) => `canary-of-${name}`;

export async function prepare(gateway: ImapGateway): Promise<void> {
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
