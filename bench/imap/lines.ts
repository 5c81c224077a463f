// The commands that the IMAP benchmark times in one session that has selected a large folder. Each line is a command; its goal is a
// multiple of Dovecot's time (issue 12).
import type { ImapClient } from '../support/imap-client.js';
import { corpusMessage, PHRASE, personOf, rareWordOf } from '../support/mail-corpus.js';
import type { Contender } from './contenders.js';

export interface Line {
  readonly name: string;
  /** The most time allowed, as a multiple of Dovecot's. */
  readonly goal: number;
  /** True when the line changes mail: it is also compared with a server that answers when the change is on disk. */
  readonly writes?: boolean;
  /** The repetitions before the first that counts, when a few hundred ms of them are not enough for V8 to compile the code. */
  readonly warmRounds?: number;
  /** This step is not timed. */
  readonly before?: (client: ImapClient, contender: Contender) => Promise<void>;
  /** Returns the untagged octets, or another result that must be equal for both servers. */
  readonly timed: (client: ImapClient, round: number) => Promise<unknown>;
  readonly after?: (client: ImapClient) => Promise<void>;
}

const quiet = (command: string, name: string, goal: number): Line => ({
  name,
  goal,
  timed: (client) => client.ok(command),
});

const PIPELINED = 100;

/** Sends the commands together: a round trip takes longer than a search of flags. */
const pipelined = (command: string, name: string, goal: number): Line => ({
  name: `${name}, ${PIPELINED} pipelined`,
  goal,
  timed: (client) => client.pipelined(command, PIPELINED),
});

const PLACED = 1_000;
const APPENDED = 50;
const WARM_APPENDS = 3_000;

/** Returns the lines for a selected folder with `count` corpus messages. */
export function imapLines(count: number, octets: number): readonly Line[] {
  const all = `1:${count}`;
  const person = personOf(3).split('.')[0]!;
  return [
    selectLine(),
    quiet(`FETCH ${all} FLAGS`, 'FETCH FLAGS', 0.7),
    quiet(`FETCH ${all} ENVELOPE`, 'FETCH ENVELOPE', 0.7),
    quiet(`FETCH ${all} BODYSTRUCTURE`, 'FETCH BODYSTRUCTURE', 1),
    quiet(`FETCH ${all} BODY.PEEK[HEADER.FIELDS (FROM TO SUBJECT DATE MESSAGE-ID)]`, 'FETCH five header fields', 1),
    quiet(`FETCH ${all} (UID FLAGS INTERNALDATE RFC822.SIZE)`, 'FETCH FAST', 1),
    quiet(`FETCH ${all} BODY.PEEK[]`, 'FETCH BODY[]', 1.5),
    quiet('NOOP', 'NOOP: one way there and back', 1),
    quiet('SEARCH UNSEEN', 'SEARCH UNSEEN', 0.1),
    quiet('SEARCH FLAGGED', 'SEARCH FLAGGED, none', 0.1),
    pipelined('NOOP', 'NOOP', 1),
    pipelined('SEARCH UNSEEN', 'SEARCH UNSEEN', 0.1),
    pipelined('SEARCH FLAGGED', 'SEARCH FLAGGED, none', 0.1),
    quiet(`SEARCH FROM ${person}`, 'SEARCH FROM', 0.1),
    quiet('SEARCH SUBJECT nothing', 'SEARCH SUBJECT', 0.1),
    quiet(`SEARCH BODY ${rareWordOf(count - 5)}`, 'SEARCH BODY, a rare word', 0.1),
    quiet(`SEARCH BODY "${PHRASE}"`, 'SEARCH BODY, a phrase', 0.1),
    quiet(`SEARCH TEXT ${rareWordOf(count - 7)}`, 'SEARCH TEXT, a rare word', 0.1),
    quiet('SORT (DATE) UTF-8 ALL', 'SORT by date', 1),
    quiet('SORT (SUBJECT) UTF-8 ALL', 'SORT by subject', 1),
    quiet('SORT (REVERSE FROM DATE) UTF-8 ALL', 'SORT by author', 1),
    quiet('THREAD REFERENCES UTF-8 ALL', 'THREAD by references', 1),
    {
      name: `STORE ${count} +FLAGS`,
      goal: 1,
      writes: true,
      timed: (client) => client.ok(`STORE ${all} +FLAGS (\\Answered)`),
      after: async (client) => void (await client.ok(`STORE ${all} -FLAGS.SILENT (\\Answered)`)),
    },
    {
      name: `STORE ${count} +FLAGS.SILENT`,
      goal: 1,
      writes: true,
      timed: (client) => client.ok(`STORE ${all} +FLAGS.SILENT (\\Answered)`),
      after: async (client) => void (await client.ok(`STORE ${all} -FLAGS.SILENT (\\Answered)`)),
    },
    storeLine(all, `STORE ${count} +FLAGS.SILENT, \\Flagged`, '\\Flagged'),
    storeLine(all, `STORE ${count} +FLAGS.SILENT, a keyword`, 'work'),
    {
      name: `COPY ${PLACED}`,
      goal: 1,
      writes: true,
      before: async (client) => void (await client.ok('CREATE Copies')),
      timed: (client) => client.ok(`COPY 1:${PLACED} Copies`),
      after: async (client) => void (await client.ok('DELETE Copies')),
    },
    {
      name: `MOVE ${PLACED}`,
      goal: 1,
      writes: true,
      async before(client) {
        for (const name of ['Origin', 'Target']) await client.ok(`CREATE ${name}`);
        await client.ok(`COPY 1:${PLACED} Origin`);
        await client.ok('SELECT Origin');
      },
      timed: (client) => client.ok('MOVE 1:* Target'),
      async after(client) {
        await client.ok('SELECT INBOX');
        for (const name of ['Origin', 'Target']) await client.ok(`DELETE ${name}`);
      },
    },
    appendLine(octets, `APPEND, ${APPENDED} one after the other`),
    appendLine(
      octets,
      `APPEND, ${APPENDED} one after the other, after ${WARM_APPENDS} of them`,
      WARM_APPENDS / APPENDED,
    ),
  ];
}

/** Sets the flag and removes it; both commands are timed. */
function storeLine(all: string, name: string, flag: string): Line {
  return {
    name: `${name}, and -FLAGS.SILENT`,
    goal: 1,
    writes: true,
    async timed(client) {
      await client.ok(`STORE ${all} +FLAGS.SILENT (${flag})`);
      await client.ok(`STORE ${all} -FLAGS.SILENT (${flag})`);
    },
  };
}

/** Selects in a new session each time, because mail programs select after they log in. */
function selectLine(): Line {
  let session: ImapClient;
  return {
    name: 'SELECT in a new session',
    goal: 1,
    async before(_, contender) {
      session = await contender.open();
    },
    timed: () => session.ok('SELECT INBOX'),
    after: async () => session.close(),
  };
}

function appendLine(octets: number, name: string, warmRounds?: number): Line {
  return {
    name,
    goal: 1,
    writes: true,
    ...(warmRounds !== undefined && { warmRounds }),
    before: async (client) => void (await client.ok('CREATE Appended')),
    async timed(client, round) {
      for (let i = 0; i < APPENDED; i++)
        await append(client, 'Appended', [corpusMessage(1e6 + round * APPENDED + i, octets)]);
    },
    after: async (client) => void (await client.ok('DELETE Appended')),
  };
}

/** Appends all messages with one command (MULTIAPPEND), with literals that wait for no continuation request. */
export async function append(client: ImapClient, folder: string, messages: readonly Buffer[]): Promise<void> {
  const pieces: (string | Buffer)[] = [`APPEND ${folder}`];
  for (const message of messages) pieces.push(` (\\Seen) {${message.length}+}\r\n`, message);
  await client.ok(pieces);
}
