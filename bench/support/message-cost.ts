// Measures what a message costs the servers: processor time from its sending until its words are found, without what idle servers use.
// Messages for the node that takes them in and messages for other nodes are sent by turns, so that the drift of the machine hits both.
import type { Sql } from '../../src/store/postgres/driver/client.js';
import { cpuSeconds, difference, sharesOf } from './cpu-time.js';
import { databaseWork } from './database-work.js';
import { figure, percentile, withGoal } from './figures.js';
import { untilSearchable } from './searchable.js';
import type { LoadResult } from './smtp-load.js';
import { pause } from './write-probe.js';

export interface Servers {
  readonly pids: Readonly<Record<Part, readonly number[]>>;
  readonly sql: Sql;
}

type Part = 'nodes' | 'database' | 'NATS';
type PartTimes = Readonly<Record<Part, number>>;

/** Where the mailbox of a message is: on the node that takes the message in, on another one, or on any. */
export type Where = 'local' | 'remote' | 'spread';

/** Sends messages and resolves when all have got a reply. */
export type Send = (where: Where) => Promise<LoadResult>;

interface MessageCost {
  /** In messages per second. */
  readonly rate: number;
  /** In µs of processor time per message, until its words are found. */
  readonly parts: PartTimes;
  /** In µs of processor time per message, until the last one was accepted. */
  readonly untilAccepted: number;
  /** Committed transactions per message, those of the search index included. */
  readonly transactions: number;
  /** Octets that the message adds to the log of the database. */
  readonly walOctets: number;
  /** How the processors were used until then. */
  readonly shares: string;
}

const PARTS: readonly Part[] = ['nodes', 'database', 'NATS'];
const IDLE_MS = 3_000;
/** A message for another node costs at most this many times what one for the own node costs. */
export const REMOTE_GOAL = 1.35;

/** Measures what the servers use while nobody asks them for anything, in seconds of processor time per second. */
export async function idleUse({ pids, sql }: Servers): Promise<PartTimes> {
  await untilSearchable(sql);
  const [before, began] = [await cpuSeconds(pids), performance.now()];
  await pause(IDLE_MS);
  const used = difference(await cpuSeconds(pids), before);
  const seconds = (performance.now() - began) / 1000;
  return partTimes((part) => used[part] / seconds);
}

/** Sends by turns to mailboxes of each kind, `rounds` times. */
export async function byTurns(
  servers: Servers,
  kinds: readonly Where[],
  rounds: number,
  send: Send,
): Promise<ReadonlyMap<Where, readonly MessageCost[]>> {
  const idle = await idleUse(servers);
  const costs = new Map<Where, MessageCost[]>(kinds.map((kind) => [kind, []]));
  for (let round = 0; round < rounds; round++)
    for (const kind of kinds) costs.get(kind)!.push(await costOf(servers, idle, () => send(kind)));
  const [total, ...parts] = [micros(sum(idle)), ...PARTS.map((part) => `${part} ${micros(idle[part])}`)];
  process.stdout.write(`    idle servers, µs of a processor per second: ${total} (${parts.join(', ')})\n`);
  return costs;
}

async function costOf({ pids, sql }: Servers, idle: PartTimes, send: () => Promise<LoadResult>): Promise<MessageCost> {
  const work = await databaseWork(sql);
  const [before, own, began] = [await cpuSeconds(pids), process.cpuUsage(), performance.now()];
  const { accepted, seconds } = await send();
  const { user, system } = process.cpuUsage(own);
  const afterReplies = difference(await cpuSeconds(pids), before);
  await untilSearchable(sql);
  const used = difference(await cpuSeconds(pids), before);
  const all = (performance.now() - began) / 1000;
  const written = await databaseWork(sql);
  const { machine, ...servers } = afterReplies;
  return {
    transactions: (written.transactions - work.transactions) / accepted,
    walOctets: (written.walOctets - work.walOctets) / accepted,
    rate: accepted / seconds,
    parts: partTimes((part) => ((used[part] - idle[part] * all) / accepted) * 1e6),
    untilAccepted: (sum(servers) / accepted) * 1e6,
    shares: sharesOf({ machine, ...servers, 'load generator': (user + system) / 1e6 }, seconds),
  };
}

/** Prints rate and cost of each kind, and returns the median rates. */
export function printCosts(
  name: string,
  costs: ReadonlyMap<Where, readonly MessageCost[]>,
): ReadonlyMap<Where, number> {
  const rates = new Map<Where, number>();
  for (const [where, each] of costs) {
    const rate = median(each, (cost) => cost.rate);
    rates.set(where, rate);
    const inAll = median(each, ({ parts }) => sum(parts));
    const words = PARTS.map((part) => `${part} ${median(each, ({ parts }) => parts[part]).toFixed(0)}`).join(' + ');
    const until = median(each, ({ untilAccepted }) => untilAccepted).toFixed(0);
    figure(
      `${name}, ${where}: accepted`,
      rate,
      'messages/s',
      `CPU a message ${inAll.toFixed(0)} µs: ${words}; ${until} until accepted`,
    );
    const transactions = median(each, (cost) => cost.transactions).toFixed(2);
    const wal = (median(each, ({ walOctets }) => walOctets) / 1_000).toFixed(1);
    process.stdout.write(
      `    ${transactions} transactions and ${wal} kB of WAL a message; CPU ${each.at(-1)!.shares}\n`,
    );
  }
  const [local, remote] = [costs.get('local'), costs.get('remote')];
  if (local === undefined || remote === undefined) return rates;
  const ratioOf = (of: (cost: MessageCost) => number) => local.map((each, round) => of(remote[round]!) / of(each));
  const ratios = ratioOf(({ parts }) => sum(parts));
  const ratio = percentile(ratios, 0.5);
  const until = percentile(
    ratioOf(({ untilAccepted }) => untilAccepted),
    0.5,
  ).toFixed(2);
  const note = `${withGoal(ratio, REMOTE_GOAL)}; rounds ${ratios.map((each) => each.toFixed(2)).join(', ')}; ${until} until accepted`;
  figure(`${name}: cost of a remote message / of a local one`, ratio, '', note);
  return rates;
}

const partTimes = (of: (part: Part) => number): PartTimes => ({
  nodes: of('nodes'),
  database: of('database'),
  NATS: of('NATS'),
});
const sum = ({ nodes, database, NATS }: PartTimes): number => nodes + database + NATS;
const micros = (seconds: number): string => (seconds * 1e6).toFixed(0);
const median = (costs: readonly MessageCost[], of: (cost: MessageCost) => number): number =>
  percentile(costs.map(of), 0.5);
