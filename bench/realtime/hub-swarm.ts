// Many hub connections for benchmarks, in their own process (hub-clients.ts): they are opened, told to count or to trace events,
// disconnected and reconnected. The caller starts the node and causes the events.
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Order, Report } from './hub-clients.js';

export interface Arrivals {
  /** The ms from the cause until each connection had all its events, ascending. */
  readonly ms: readonly number[];
  /** The octets of the payloads that all connections got. */
  readonly octets: number;
}

export class HubSwarm {
  readonly #clients: ChildProcess;
  readonly #reports: Report[] = [];
  #wake: (() => void) | undefined;
  #connections = 0;

  constructor() {
    this.#clients = fork(fileURLToPath(new URL('hub-clients.js', import.meta.url)));
    this.#clients.on('message', (report: Report) => this.#take(report));
    this.#clients.on('exit', () => this.#take({ kind: 'failed', error: 'the clients have ended' }));
  }

  /** The id of the clients' process. */
  get pid(): number {
    return this.#clients.pid!;
  }

  get connections(): number {
    return this.#connections;
  }

  /** Adds connections; returns the seconds that this took. */
  async open(url: string, keys: readonly string[], connections: number): Promise<number> {
    this.#order({ kind: 'open', url, keys, connections });
    this.#connections += connections;
    return (await this.#reported('opened')).seconds;
  }

  /** Waits until every connection got `events` events; `cause` returns the moment from which time counts, in ns of the monotonic clock. */
  async round(event: string, events: number, cause: () => Promise<bigint>): Promise<Arrivals> {
    this.#order({ kind: 'round', event, events });
    await this.#reported('ready');
    const caused = await cause();
    const { at, octets } = await this.#reported('received');
    return { ms: at.map((ns) => milliseconds(caused, ns)), octets };
  }

  /** Traces events with a number in their subject (`#17`) until `arrivals` have reached clients; times are in ns of the monotonic clock. */
  async trace(event: string, arrivals: number, cause: () => Promise<void>): Promise<(readonly [number, bigint])[]> {
    this.#order({ kind: 'trace', event, arrivals });
    await this.#reported('ready');
    await cause();
    const { at } = await this.#reported('traced');
    return at.map(([number, ns]) => [number, BigInt(ns)] as const);
  }

  /** Client `i` subscribes to the lists of `queries[i]`, modulo the number of queries. */
  async subscribe(queries: readonly (readonly unknown[])[]): Promise<void> {
    this.#order({ kind: 'subscribe', queries });
    await this.#reported('subscribed');
  }

  async leave(): Promise<void> {
    this.#order({ kind: 'leave' });
    await this.#reported('left');
  }

  /** All clients connect again and resume; returns the ms from now until each had the events. */
  async return(url: string, event: string, events: number): Promise<{ readonly openedMs: number } & Arrivals> {
    const began = process.hrtime.bigint();
    this.#order({ kind: 'return', url, event, events });
    // The last client has its cursor before it gets its events.
    const { seconds } = await this.#reported('opened');
    const { at, octets } = await this.#reported('received');
    return { openedMs: seconds * 1000, ms: at.map((ns) => milliseconds(began, ns)), octets };
  }

  close(): void {
    this.#clients.removeAllListeners('exit');
    this.#clients.kill();
  }

  #order(order: Order): void {
    this.#clients.send(order);
  }

  #take(report: Report): void {
    this.#reports.push(report);
    this.#wake?.();
  }

  async #reported<K extends Report['kind']>(kind: K): Promise<Extract<Report, { kind: K }>> {
    for (;;) {
      const failed = this.#reports.find((report) => report.kind === 'failed');
      if (failed !== undefined) throw new Error(failed.error);
      const at = this.#reports.findIndex((report) => report.kind === kind);
      if (at >= 0) return this.#reports.splice(at, 1)[0] as Extract<Report, { kind: K }>;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}

function milliseconds(from: bigint, to: string): number {
  return Number(BigInt(to) - from) / 1e6;
}
