// Benchmark `hub`: many hub connections on one running node: memory a connection, time to open them, and how long an
// event takes from the act that causes it to every connection. The clients live in a process of their own; starting the
// node and causing events is left to who calls.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Order, Report } from './hub-clients.js';

export interface HubBenchArgs {
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
  readonly print?: (line: string) => void;
}

export interface HubBenchResult {
  readonly connections: number;
  readonly openedPerSecond: number;
  /** Growth of the node's resident memory, octets a connection. */
  readonly bytesPerConnection: number | undefined;
  /** From the call of `trigger` until a connection had all events of the round, ms over all rounds and connections. */
  readonly latencyMs: { readonly p50: number; readonly p99: number; readonly max: number };
  /** Events received a second from the first connection served to the last, best round. */
  readonly deliveriesPerSecond: number;
}

export async function run(args: HubBenchArgs): Promise<HubBenchResult> {
  const { connections = 10_000, rounds = 20, event = 'NewEmail', events = 1 } = args;
  const print = args.print ?? ((line: string) => process.stdout.write(`${line}\n`));
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
    latencies.sort((a, b) => a - b);

    const result: HubBenchResult = {
      connections,
      openedPerSecond: connections / seconds,
      bytesPerConnection: before === undefined || after === undefined ? undefined : (after - before) / connections,
      latencyMs: { p50: quantile(latencies, 0.5), p99: quantile(latencies, 0.99), max: latencies.at(-1)! },
      deliveriesPerSecond,
    };
    print(`hub connections        ${connections}, opened at ${result.openedPerSecond.toFixed(0)}/s`);
    print(`memory a connection    ${result.bytesPerConnection?.toFixed(0) ?? 'not measured'} octets`);
    const { p50, p99, max } = result.latencyMs;
    print(`act to client          p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, max ${max.toFixed(1)} ms`);
    print(`deliveries in a burst  ${deliveriesPerSecond.toFixed(0)}/s (${events} a connection and round)`);
    return result;
  } finally {
    clients.kill();
  }
}

function quantile(ascending: readonly number[], q: number): number {
  return ascending[Math.min(ascending.length - 1, Math.floor(ascending.length * q))]!;
}

async function residentBytes(pid: number | undefined): Promise<number | undefined> {
  if (pid === undefined) return undefined;
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const [, kib] = /^VmRSS:\s+(\d+) kB$/m.exec(status) ?? [];
  return kib === undefined ? undefined : Number(kib) * 1024;
}
