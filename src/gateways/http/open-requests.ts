// The requests in progress, so that a server that stops closes its connections without cutting a request off. A client
// that just got a reply may have sent its next request already, so a connection counts as idle only after a while. While
// the server stops, every reply tells the client to close the connection.
import { setImmediate as nextTurn } from 'node:timers/promises';

/** From a reply to the request that follows it on the same connection, at most, between machines that are not far apart. */
const QUIET_MS = 100;

export class OpenRequests {
  #underWay = 0;
  #lastAt = Number.NEGATIVE_INFINITY;
  #changed: () => void = () => {};

  begin(): void {
    this.#underWay++;
  }

  end(): void {
    this.#underWay--;
    this.#lastAt = performance.now();
    this.#changed();
  }

  /** Resolves when nothing is under way and nothing has been for a moment, or when `graceMs` are over. */
  async settle(graceMs: number): Promise<void> {
    const until = performance.now() + graceMs;
    for (;;) {
      // What has arrived while this process was busy is read first.
      await nextTurn();
      const now = performance.now();
      const quietAt = this.#underWay > 0 ? Number.POSITIVE_INFINITY : this.#lastAt + QUIET_MS;
      if (now >= Math.min(quietAt, until)) return;
      await this.#changeWithin(Math.min(quietAt, until) - now);
    }
  }

  #changeWithin(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, Math.ceil(ms));
      this.#changed = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
