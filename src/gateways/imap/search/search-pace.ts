// The pace of a long search: the event loop serves others every few milliseconds, and the client gets progress reports
// (RFC 9585).

import { ConnectionEnd } from '../../../net/tcp/connection-end.js';
import { eventLoop, SLICE_MS } from '../../../net/tcp/event-loop.js';
import type { Output } from '../../sessions/output.js';
import { quoted } from '../wire/format.js';

const REPORT_EVERY_MS = 10_000;

/** The session that waits for the search. */
interface SearchingClient {
  readonly accountId: string;
  readonly output: Output;
  /** The tag of the command. */
  readonly tag: string;
  readonly connection: { readonly isLost: boolean };
}

export class SearchPace {
  readonly #client: SearchingClient;
  readonly #now: () => number;
  #sliceEnds: number;
  #dsnAt: number;

  /** `now` returns ms. */
  constructor(client: SearchingClient, now: () => number = () => performance.now()) {
    this.#client = client;
    this.#now = now;
    const began = now();
    this.#sliceEnds = began + SLICE_MS;
    this.#dsnAt = began + REPORT_EVERY_MS;
  }

  /** Whether the time slice is over and `rest` must be called. */
  get isDue(): boolean {
    return this.#now() >= this.#sliceEnds;
  }

  /**
   * Lets others run. `done` of `goal` messages have been searched for the current key.
   * @throws ConnectionEnd when the client is gone
   */
  async rest(done: number, goal: number): Promise<void> {
    const { accountId, connection } = this.#client;
    if (connection.isLost) throw new ConnectionEnd('lost');
    if (this.#now() >= this.#dsnAt) this.#report(done, goal);
    await eventLoop.yield(accountId);
    this.#sliceEnds = this.#now() + SLICE_MS;
  }

  /** Waits for something other than messages, and reports that none of `goal` messages is searched yet. Settles as `wait` does. */
  async while<T>(wait: Promise<T>, goal: number): Promise<T> {
    const reports = setInterval(() => this.#report(0, goal), REPORT_EVERY_MS).unref();
    try {
      return await wait;
    } finally {
      clearInterval(reports);
    }
  }

  #report(done: number, goal: number): void {
    const { output, tag } = this.#client;
    this.#dsnAt = this.#now() + REPORT_EVERY_MS;
    output.line(`* OK [INPROGRESS (${quoted(tag)} ${done} ${goal})] Searching`);
    output.flush();
  }
}
