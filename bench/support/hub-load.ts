// Benchmark `hub`: many hub connections on one running node: memory a connection, time to open them, and how long an
// event takes from the act that causes it to every connection. The clients live in a process of their own; starting the
// node and causing events is left to who calls.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { figure, latency } from './figures.js';
import type { Order, Report } from './hub-clients.js';

export interface HubLoad {
  /** Hub of the running node, http://host:port/hubs/email. */
  readonly url: string;
  /** Key that may connect; all connections are of its account. */
  readonly key: string;
  /** Process whose memory is read (Linux); none is read without it. */
  readonly nodePid?: number;
  readonly connections?: number;
  readonly rounds?: number;
  /** The event that is counted, NewEmail when absent, and how many of it one `trigger` causes, 1 when absent. */
  readonly event?: string;
  readonly events?: number;
  /** Causes the events in the account; resolves once they are caused. */
  trigger(): Promise<void>;
}

/** Prints what it measured. */
export async function hubLoad(args: HubLoad): Promise<void> {
  const { connections = 10_000, rounds = 20, event = 'NewEmail', events = 1 } = args;
  const clients = fork(fileURLToPath(new URL('hub-clients.js', import.meta.url)));
  const order = (what: Order) => clients.send(what);
  const reported = async <K extends Report['kind']>(kind: K): Promise<Extract<Report, { kind: K }>> => {
    const [report] = (await once(clients, 'message')) as [Report];
    if (report.kind === 'failed') throw new Error(report.error);
    if (report.kind !== kind) throw new Error(`${report.kind} instead of ${kind}`);
    return report as Extract<Report, { kind: K }>;
  };

  try {
    const before = await residentBytes(args.nodePid);
    order({ kind: 'open', url: args.url, key: args.key, connections });
    const { seconds } = await reported('opened');
    const after = await residentBytes(args.nodePid);

    const latencies: number[] = [];
    let deliveriesPerSecond = 0;
    for (let i = 0; i < rounds; i++) {
      order({ kind: 'round', event, events });
      await reported('ready');
      const received = reported('received');
      const caused = process.hrtime.bigint();
      await Promise.all([args.trigger(), received]);
      const at = (await received).at.map((ns) => Number(BigInt(ns) - caused) / 1e6);
      latencies.push(...at);
      const spreadMs = Math.max(at.at(-1)! - at[0]!, 0.001);
      deliveriesPerSecond = Math.max(deliveriesPerSecond, (connections * events * 1000) / spreadMs);
    }
    figure(`opening ${connections} connections`, connections / seconds, 'connections/s');
    if (before !== undefined && after !== undefined) {
      figure('memory a connection', (after - before) / connections, 'octets');
    }
    latency(`from the sender's act to the event, all ${connections} connections`, latencies);
    figure('deliveries in a burst, first to last', deliveriesPerSecond, 'deliveries/s');
  } finally {
    clients.kill();
  }
}

async function residentBytes(pid: number | undefined): Promise<number | undefined> {
  if (pid === undefined) return undefined;
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const [, kib] = /^VmRSS:\s+(\d+) kB$/m.exec(status) ?? [];
  return kib === undefined ? undefined : Number(kib) * 1024;
}
