// What a node has started, in order, and how to stop it in reverse within a bound: a part that hangs or fails never keeps
// the parts below it from being stopped.
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';

interface Part {
  readonly name: string;
  readonly stop: () => Promise<void> | void;
  readonly reserveMs: number;
}

export class Lifecycle {
  readonly #parts: Part[] = [];
  readonly #log: Logger;
  #stopping: Promise<boolean> | undefined;

  constructor(log: Logger) {
    this.#log = log;
  }

  /** `reserveMs`: what the parts above have to leave of the deadline for this one. */
  add(name: string, stop: () => Promise<void> | void, reserveMs = 100): void {
    this.#parts.push({ name, stop, reserveMs });
  }

  /** Never fails; later calls wait for the first. False when a part failed or was late. */
  stop(deadlineMs: number): Promise<boolean> {
    this.#stopping ??= this.#stopAll(Date.now() + deadlineMs);
    return this.#stopping;
  }

  async #stopAll(deadline: number): Promise<boolean> {
    let clean = true;
    for (let part = this.#parts.pop(); part !== undefined; part = this.#parts.pop()) {
      const reserved = this.#parts.reduce((sum, { reserveMs }) => sum + reserveMs, 0);
      const boundMs = Math.max(deadline - Date.now() - reserved, part.reserveMs);
      clean = (await this.#stopOne(part, boundMs)) && clean;
    }
    return clean;
  }

  async #stopOne({ name, stop }: Part, boundMs: number): Promise<boolean> {
    const bound = new AbortController();
    const late = delay(boundMs, true, { signal: bound.signal }).catch(() => false);
    const started = Date.now();
    try {
      const timedOut = await Promise.race([Promise.resolve(stop()).then(() => false), late]);
      if (timedOut) this.#log.error({ part: name, boundMs }, 'did not stop in time');
      else this.#log.debug({ part: name, ms: Date.now() - started }, 'stopped');
      return !timedOut;
    } catch (error) {
      this.#log.error({ part: name, err: error }, 'did not stop cleanly');
      return false;
    } finally {
      bound.abort();
    }
  }
}
