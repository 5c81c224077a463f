// The started parts of a node in their order, and how to stop them in reverse order within a time limit: a part that hangs or fails never
// prevents the parts below it from being stopped.

import type { Logger } from 'pino';
import { atMost } from '../concurrency/time-bounds.js';

/** The reserve of a part that names none. */
const RESERVE_MS = 100;
/** The most that such a part may take, even when more time is left: a listener's grace and a little more. */
const AT_MOST_MS = 3_500;

interface Part {
  readonly name: string;
  readonly stop: (boundMs: number) => Promise<void> | void;
  readonly reserveMs: number;
  readonly atMostMs: number;
}

export class Lifecycle {
  readonly #parts: Part[] = [];
  readonly #log: Logger;
  #stopping: Promise<boolean> | undefined;

  constructor(log: Logger) {
    this.#log = log;
  }

  /**
   * `stop` gets its time limit. `reserveMs`: the time that the parts above must leave for this one. `atMostMs`: the most that the part may
   * use of the remaining time; all of it for a part with a reserve of its own.
   */
  add(
    name: string,
    stop: (boundMs: number) => Promise<void> | void,
    reserveMs = RESERVE_MS,
    atMostMs = reserveMs === RESERVE_MS ? AT_MOST_MS : Number.POSITIVE_INFINITY,
  ): void {
    this.#parts.push({ name, stop, reserveMs, atMostMs });
  }

  /** Never fails; later calls wait for the first. False when a part failed or was late. */
  stop(deadlineMs: number): Promise<boolean> {
    this.#stopping ??= this.#stopAll(performance.now() + deadlineMs);
    return this.#stopping;
  }

  async #stopAll(deadline: number): Promise<boolean> {
    let clean = true;
    for (let part = this.#parts.pop(); part !== undefined; part = this.#parts.pop()) {
      const reserved = this.#parts.reduce((sum, { reserveMs }) => sum + reserveMs, 0);
      const left = Math.max(0, deadline - performance.now());
      // When less time is left than is reserved, all shares shrink alike, so the sum stays within the deadline.
      const share = (left * part.reserveMs) / (part.reserveMs + reserved);
      const boundMs = Math.min(part.atMostMs, Math.max(left - reserved, share));
      clean = (await this.#stopOne(part, boundMs)) && clean;
    }
    return clean;
  }

  async #stopOne({ name, stop }: Part, boundMs: number): Promise<boolean> {
    const started = performance.now();
    try {
      const isStopped = await atMost(Promise.resolve(stop(boundMs)), boundMs);
      if (!isStopped) this.#log.error({ part: name, boundMs }, 'a part of the node did not stop in time');
      else this.#log.debug({ part: name, ms: performance.now() - started }, 'stopped');
      return isStopped;
    } catch (error) {
      this.#log.error({ part: name, err: error }, 'a part of the node did not stop cleanly');
      return false;
    }
  }
}
