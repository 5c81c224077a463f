// The requests in progress, so that a server that stops closes its connections without cutting a request off. A client that just got a
// reply may have sent its next request already, so a connection counts as idle only after a while. While the server stops, every reply
// tells the client to close the connection. uWebSockets.js closes a connection 10 to 14 s after the last order to read, even while a reply
// is due or being sent, so the order is repeated.
import { setImmediate as nextTurn } from 'node:timers/promises';

/** The longest time from a reply to the next request on the same connection, between machines that are near each other. */
const QUIET_MS = 100;

/**
 * Turns of the event loop from a request in the kernel to `begin`. Before the server, a proxy listener accepts the connection, reads it,
 * connects to the server, and forwards large pieces with a delay; each step takes a turn.
 */
const ARRIVAL_TURNS = 8;

const READ_AGAIN_MS = 4_000;

interface OpenRequest {
  /** Keeps the connection open for the next ten seconds. */
  stayOpen(): void;
}

export class OpenRequests {
  readonly #underWay = new Set<OpenRequest>();
  #timer: NodeJS.Timeout | undefined;
  #lastAt = Number.NEGATIVE_INFINITY;
  #changed: () => void = () => {};

  begin(request: OpenRequest): void {
    this.#underWay.add(request);
    this.#timer ??= setInterval(() => this.#keepOpen(), READ_AGAIN_MS).unref();
  }

  end(request: OpenRequest): void {
    this.#underWay.delete(request);
    this.#lastAt = performance.now();
    this.#changed();
  }

  /** Resolves when no request is in progress and none has been for a moment, or after `graceMs`. */
  async settle(graceMs: number): Promise<void> {
    const until = performance.now() + graceMs;
    for (;;) {
      // Requests that arrived while this process was busy are read first.
      for (let turn = 0; turn < ARRIVAL_TURNS; turn++) await nextTurn();
      const now = performance.now();
      const quietAt = this.#underWay.size > 0 ? Number.POSITIVE_INFINITY : this.#lastAt + QUIET_MS;
      if (now >= Math.min(quietAt, until)) return;
      await this.#changeWithin(Math.min(quietAt, until) - now);
    }
  }

  /** Ends the timer after a period without requests, so that short requests neither start nor stop it. */
  #keepOpen(): void {
    for (const request of this.#underWay) request.stayOpen();
    if (this.#underWay.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
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
