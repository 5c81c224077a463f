// Measures how long one account's client waits while another account works on a large mailbox: the longest response time of a client that
// sends NOOP continuously, as the median of a few rounds. That client has its own thread, so that what this process reads does not delay
// it. BENCH_IMAP_LARGE: messages of the mailbox, 100,000 by default.
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { type MansioContender, startMansio } from './imap/contenders.js';
import { append } from './imap/lines.js';
import { figure, percentile, withGoal } from './support/figures.js';
import type { ImapClient } from './support/imap-client.js';

const MESSAGES = Number(process.env['BENCH_IMAP_LARGE'] ?? 100_000);
const THREADED = Math.min(MESSAGES, 80_000);
const EXPUNGED = Math.min(MESSAGES, 20_000);
const MOVED = Math.min(MESSAGES, 40_000);
/** The figure is the median of these rounds. */
const ROUNDS = Number(process.env['BENCH_IMAP_ROUNDS'] ?? 3);
const GOAL_MS = 50;
const BATCH = 500;
/** The messages per thread. */
const ANSWERS = 5;

interface Work {
  readonly name: string;
  readonly before?: (client: ImapClient) => Promise<unknown>;
  readonly run: (client: ImapClient) => Promise<unknown>;
}

const WORK: readonly Work[] = [
  { name: `THREAD of ${THREADED}`, run: (client) => client.ok(`THREAD REFERENCES UTF-8 1:${THREADED}`) },
  { name: `SORT by subject of ${THREADED}`, run: (client) => client.ok(`SORT (SUBJECT) UTF-8 1:${THREADED}`) },
  { name: `SELECT of ${MESSAGES}`, run: (client) => client.ok('SELECT INBOX') },
  { name: `FETCH FLAGS of ${MESSAGES}`, run: (client) => client.ok('FETCH 1:* FLAGS') },
  {
    name: `STORE \\Flagged on ${MESSAGES}`,
    before: (client) => client.ok('STORE 1:* -FLAGS.SILENT (\\Flagged)'),
    run: (client) => client.ok('STORE 1:* +FLAGS (\\Flagged)'),
  },
  {
    name: `STORE of a keyword on ${MESSAGES}`,
    before: (client) => client.ok('STORE 1:* -FLAGS.SILENT (work)'),
    run: (client) => client.ok('STORE 1:* +FLAGS (work)'),
  },
  {
    name: `STORE \\Deleted on ${MESSAGES}, and back`,
    async run(client) {
      await client.ok('STORE 1:* +FLAGS.SILENT (\\Deleted)');
      await client.ok('STORE 1:* -FLAGS.SILENT (\\Deleted)');
    },
  },
  {
    name: `COPY of ${THREADED} to a mailbox`,
    before: (client) => client.run('DELETE Large'),
    async run(client) {
      await client.ok('CREATE Large');
      for (let from = 1; from <= THREADED; from += 10_000) {
        await client.ok(`COPY ${from}:${Math.min(from + 9_999, THREADED)} Large`);
      }
    },
  },
  {
    name: `EXPUNGE of ${EXPUNGED}`,
    async before(client) {
      await client.run('CREATE Large');
      await client.ok('SELECT Large');
      await client.ok(`STORE 1:${EXPUNGED} +FLAGS.SILENT (\\Deleted)`);
    },
    run: (client) => client.ok('EXPUNGE'),
  },
  {
    name: 'DELETE of a mailbox with the rest',
    before: (client) => client.ok('SELECT INBOX'),
    run: (client) => client.ok('DELETE Large'),
  },
  {
    name: `MOVE of ${MOVED} to a mailbox`,
    before: (client) => client.ok('CREATE Only'),
    run: (client) => client.ok(`MOVE 1:${MOVED} Only`),
  },
  { name: `DELETE of the only mailbox of ${MOVED}`, run: (client) => client.ok('DELETE Only') },
  {
    name: `MOVE of ${MOVED} back`,
    before: (client) => client.ok('SELECT Archive'),
    async run(client) {
      await client.ok('MOVE 1:* INBOX');
      await client.ok('SELECT INBOX');
    },
  },
];

export async function run(): Promise<void> {
  const mansio = await startMansio(1);
  const thread = await quiet(mansio);
  try {
    const client = await mansio.open();
    await fill(client);
    await client.ok('SELECT INBOX');
    const longest = new Map<string, number[]>();
    for (let round = 0; round < ROUNDS; round++) {
      for (const { name, before, run } of WORK) {
        await before?.(client);
        await thread.take();
        await run(client);
        longest.set(name, [...(longest.get(name) ?? []), await thread.take()]);
      }
    }
    for (const [name, ms] of longest) {
      const median = percentile(ms, 0.5);
      const rounds = ms.map((each) => each.toFixed(0)).join(', ');
      figure(`another account's NOOP during ${name}`, median, 'ms', `${withGoal(median, GOAL_MS)}; rounds: ${rounds}`);
    }
    client.close();
  } finally {
    await thread.stop();
    await mansio.stop();
  }
}

async function quiet(mansio: MansioContender) {
  const worker = new Worker(new URL('./imap/noop-thread.js', import.meta.url), { workerData: mansio.login(1) });
  return {
    /** Returns the longest response time since the last call, in ms. */
    async take(): Promise<number> {
      const answer = once(worker, 'message');
      worker.postMessage('take');
      const [longest] = (await answer) as [number];
      return longest;
    },
    stop: () => worker.terminate(),
  };
}

async function fill(client: ImapClient): Promise<void> {
  for (let from = 0; from < MESSAGES; from += BATCH) {
    const count = Math.min(BATCH, MESSAGES - from);
    await append(
      client,
      'INBOX',
      Array.from({ length: count }, (_, i) => messageOf(from + i)),
    );
  }
}

function messageOf(n: number): Buffer {
  const first = n - (n % ANSWERS);
  const references =
    n === first ? '' : `In-Reply-To: <m${first}@example.test>\r\nReferences: <m${first}@example.test>\r\n`;
  const subject = `${n === first ? '' : 'Re: '}subject ${first}`;
  const header = `From: p${n % 97}@example.test\r\nSubject: ${subject}\r\nMessage-ID: <m${n}@example.test>\r\n`;
  return Buffer.from(`${header}${references}Date: Thu, 1 Jan 2026 00:00:00 +0000\r\n\r\ntext ${n}\r\n`);
}
