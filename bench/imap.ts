// Compares IMAP with Dovecot: the same corpus in both, the same client, in turns. It measures commands on a folder of 10,000 messages of 6
// kB (BENCH_IMAP_MESSAGES, BENCH_IMAP_OCTETS), then how fast news reaches an idle client, what an idle connection takes, and how many
// commands per second 50 clients get. Commands that change mail are also compared with a Dovecot that answers when the change is on disk,
// as Mansio does; by default Dovecot has only the octets of an APPEND there. BENCH_IMAP_SERVERS=dovecot measures only Dovecot, `mansio`
// only Mansio, `mansio,dovecot` omits the other Dovecot.
import { type Contender, startDovecotContender, startMansio } from './imap/contenders.js';
import { append, imapLines, type Line } from './imap/lines.js';
import { commandRate, idleLatencies, idleMemory } from './imap/sessions.js';
import { comparison, figure } from './support/figures.js';
import type { ImapClient } from './support/imap-client.js';
import { corpusMessage, rareWordOf } from './support/mail-corpus.js';

const MESSAGES = Number(process.env['BENCH_IMAP_MESSAGES'] ?? 10_000);
const OCTETS = Number(process.env['BENCH_IMAP_OCTETS'] ?? 6_000);
const ROUNDS = Number(process.env['BENCH_IMAP_ROUNDS'] ?? 11);
const SERVERS = process.env['BENCH_IMAP_SERVERS']?.split(',') ?? ['mansio', 'dovecot', 'synced'];
const WARM_ROUNDS = 8;
/**
 * The least time in ms for which a line is repeated as warm-up, and while it is measured. V8 compiles the code of a long command sooner.
 */
const LEAST_MS = 300;
const MOST_ROUNDS = 500;
const BATCH = 50;
const SEARCHABLE_MS = 120_000;

export async function run(args: readonly string[]): Promise<void> {
  const isWanted = (name: string) => args.length === 0 || args.some((arg) => name.includes(arg));
  const contenders: Contender[] = [];
  try {
    if (SERVERS.includes('mansio')) contenders.push(await startMansio());
    const dovecot = SERVERS.includes('dovecot') ? await startDovecotContender() : undefined;
    if (dovecot !== undefined) contenders.push(dovecot);
    // Memory is measured first, while the heap has no free space that other work left.
    if (isWanted('memory')) for (const contender of contenders) await idleMemory(contender);
    const clients = new Map<Contender, ImapClient>();
    const lines = imapLines(MESSAGES, OCTETS).filter(({ name }) => isWanted(name));
    for (const contender of contenders) {
      const client = await filled(contender);
      if (lines.some(({ name }) => name.startsWith('SEARCH'))) await searchable(contender, client);
      clients.set(contender, client);
    }
    const measure = async (isWriting: boolean, by: ReadonlyMap<Contender, ImapClient>) => {
      for (const line of lines)
        if ((line.writes === true) === isWriting) report(line.name, line.goal, await timesOf(line, by));
    };
    await measure(false, clients);
    const isSyncedWanted = SERVERS.includes('synced') && lines.some(({ writes }) => writes === true);
    const synced = isSyncedWanted ? await startDovecotContender(true) : undefined;
    try {
      const all = synced === undefined ? clients : new Map([...clients, [synced, await filled(synced)]]);
      await measure(true, all);
      for (const client of all.values()) client.close();
    } finally {
      await synced?.stop();
    }
    if (isWanted('latency')) for (const contender of contenders) await idleLatencies(contender, OCTETS);
    if (isWanted('rate')) for (const contender of contenders) await commandRate(contender, MESSAGES);
  } finally {
    for (const contender of contenders) await contender.stop();
  }
}

/** Returns a session that has the corpus in its inbox and has selected it. */
async function filled(contender: Contender): Promise<ImapClient> {
  const client = await contender.open();
  const started = performance.now();
  for (let from = 0; from < MESSAGES; from += BATCH) {
    const count = Math.min(BATCH, MESSAGES - from);
    await append(
      client,
      'INBOX',
      Array.from({ length: count }, (_, i) => corpusMessage(from + i, OCTETS)),
    );
  }
  const seconds = (performance.now() - started) / 1000;
  figure(`${contender.name}: put in by MULTIAPPEND, ${BATCH} at a time`, MESSAGES / seconds, 'messages/s');
  await client.ok('SELECT INBOX');
  return client;
}

/** Resolves when all messages of the corpus can be found by their words. */
async function searchable(contender: Contender, client: ImapClient): Promise<void> {
  const until = Date.now() + SEARCHABLE_MS;
  const started = performance.now();
  for (;;) {
    // The last words may never become searchable, so there is a time limit.
    const { text } = await client.run(`SEARCH BODY ${rareWordOf(MESSAGES - 1)}`, true);
    if (/\d/.test(text)) break;
    if (Date.now() > until) throw new Error(`${contender.name} does not find the last message by its words`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  figure(`${contender.name}: until the last one is found by its words`, (performance.now() - started) / 1000, 's');
}

/** Returns the times in ms by contender; a line that a server refuses has none. */
async function timesOf(line: Line, clients: ReadonlyMap<Contender, ImapClient>): Promise<Map<Contender, number[]>> {
  const times = new Map<Contender, number[]>();
  const failed = new Set<Contender>();
  const repeat = async (least: number, take: (contender: Contender, ms: number) => void) => {
    const until = performance.now() + LEAST_MS;
    for (let round = 0; round < least || (round < MOST_ROUNDS && performance.now() < until); round++) {
      for (const [contender, client] of clients) {
        if (failed.has(contender)) continue;
        try {
          await line.before?.(client, contender);
          const started = performance.now();
          await line.timed(client, ++rounds);
          take(contender, performance.now() - started);
          await line.after?.(client);
        } catch (error) {
          failed.add(contender);
          process.stdout.write(
            `  ${line.name}: ${contender.name}: ${error instanceof Error ? error.message : error}\n`,
          );
        }
      }
    }
  };
  let rounds = 0;
  await repeat(line.warmRounds ?? WARM_ROUNDS, () => {});
  await repeat(ROUNDS, (contender, ms) => times.set(contender, [...(times.get(contender) ?? []), ms]));
  return times;
}

function report(name: string, goal: number, times: ReadonlyMap<Contender, readonly number[]>): void {
  comparison(
    name,
    goal,
    [...times].map(([contender, ms]) => [contender.name, ms]),
  );
}
