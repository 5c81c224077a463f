// The requests in progress, so that a server that stops closes its connections without cutting a request off. A client
// that just got a reply may have sent its next request already, so a connection counts as idle only after a while. While
// the server stops, every reply tells the client to close the connection. And uWebSockets.js closes a connection 10 to 14 s after it
// was last told to read, whether or not a reply is awaited or under way: so it is told again meanwhile.
import { setImmediate as nextTurn } from 'node:timers/promises';

/** From a reply to the request that follows it on the same connection, at most, between machines that are not far apart. */
const QUIET_MS = 100;

/**
 * Turns of the event loop from a request in the kernel to `begin`: a proxy listener before the server accepts the connection, reads it,
 * connects to the server, and hands large pieces on with a delay; a turn for each.
 */
const ARRIVAL_TURNS = 8;

const READ_AGAIN_MS = 4_000;

interface OpenRequest {
  /** The connection is not closed for the next ten seconds. */
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

  /** Resolves when nothing is under way and nothing has been for a moment, or when `graceMs` are over. */
  async settle(graceMs: number): Promise<void> {
    const until = performance.now() + graceMs;
    for (;;) {
      // What has arrived while this process was busy is read first.
      for (let turn = 0; turn < ARRIVAL_TURNS; turn++) await nextTurn();
      const now = performance.now();
      const quietAt = this.#underWay.size > 0 ? Number.POSITIVE_INFINITY : this.#lastAt + QUIET_MS;
      if (now >= Math.min(quietAt, until)) return;
      await this.#changeWithin(Math.min(quietAt, until) - now);
    }
  }

  /** The timer ends when there was nothing for a while: requests that are short neither begin nor end it. */
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
