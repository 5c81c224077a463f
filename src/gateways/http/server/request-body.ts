// The body of one request as it arrives, up to a limit and a time. Before a handler asks for the body, and while its reader is busy, only a
// little is buffered and the client waits. The server reads a short body that no handler wants to its end, so that the client reads the
// reply; after a longer one it closes the connection behind the reply. Later requests wait in the kernel.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { BodyError, type BodyErrorReason, type TakeBody } from '../exchange.js';

/** The part of the server's response object that reads from the client. */
export interface BodySource {
  onData(each: (chunk: ArrayBuffer, isLast: boolean) => void): unknown;
  pause(): void;
  resume(): void;
}

export interface BodyLimits {
  /** The time for a whole body, unless its limit at the least rate takes longer. */
  readonly bodyMs: number;
  /** The least rate, in octets per second, of bodies too large for `bodyMs`. */
  readonly bodyRate: number;
}

/** This many unread octets are buffered before the client has to wait. */
const KEPT_UNREAD = 64 * 1024;
/** Unwanted octets up to this number are read: closing with unread octets resets the connection, and the client may miss the reply. */
const DRAINED = 64 * 1024 * 1024;

export class RequestBody {
  readonly #source: BodySource;
  readonly #declared: number | null;
  readonly #limits: BodyLimits;
  readonly #isRead: boolean;
  #chunks: Uint8Array[] = [];
  #unread = 0;
  #received = 0;
  #complete = false;
  #paused = false;
  #unwanted = false;
  /** The data after the body is read: the reply is about to be written, or somebody watches whether the client is still there. */
  #readsOn = false;
  #limit = Number.POSITIVE_INFINITY;
  #fault: BodyErrorReason | undefined;
  #settle: (() => void) | undefined;

  /**
   * Must be created in the callback that brought the request, because data follows at once. Data after the body is not read before
   * `abandon` or `readOn`. `isRead`: the method is GET or HEAD, which is answered at once when all its data is in memory.
   */
  constructor(source: BodySource, declared: number | null, limits: BodyLimits, isRead: boolean) {
    this.#source = source;
    this.#isRead = isRead;
    this.#declared = declared;
    this.#limits = limits;
    if (declared === 0) this.#completed();
    else source.onData((chunk, isLast) => this.#take(chunk, isLast));
  }

  /** Passes all octets to `take`, in order. @throws BodyError, and what `take` throws */
  async read(limit: number, take: TakeBody): Promise<void> {
    this.#limit = limit;
    if ((this.#declared ?? this.#received) > limit) this.#fault ??= 'too-large';
    const timer = this.#complete ? undefined : this.#patience(limit);
    let hasWaited = false;
    try {
      for (;;) {
        if (this.#fault !== undefined) throw new BodyError(this.#fault);
        const chunk = this.#chunks.shift();
        if (chunk !== undefined) {
          this.#unread -= chunk.length;
          await take(chunk);
        } else if (!this.#complete) {
          await this.#arrival();
          hasWaited = true;
        } else if (hasWaited) {
          // After this turn, everything that came in the same segment has been read.
          await nextTurn();
          hasWaited = false;
        } else return;
      }
    } catch (error) {
      this.#unwanted = true;
      this.#chunks = [];
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  /** The client is gone. */
  gone(): void {
    this.#fault ??= 'gone';
    this.#settle?.();
  }

  /** Reads the data after the body from now on, so that somebody notices when the client leaves. */
  readOn(): void {
    this.#readsOn = this.#complete;
    if (!this.#complete || !this.#paused) return;
    this.#paused = false;
    this.#source.resume();
  }

  /** The server library closes a connection some time after the last order to read; it does not know that a reply is due. */
  stayOpen(): void {
    if (this.#complete && !this.#paused && this.#fault === undefined) this.#source.resume();
  }

  /** Called before the reply is written. True when the connection has to close behind it. */
  abandon(): boolean {
    this.#readsOn = true;
    if (this.#paused) this.#source.resume();
    this.#paused = false;
    if (this.#complete) return false;
    this.#unwanted = true;
    this.#chunks = [];
    return this.#fault === 'too-slow' || this.#declared === null || this.#declared - this.#received > DRAINED;
  }

  #patience(limit: number): NodeJS.Timeout {
    const expected = Math.min(limit, this.#declared ?? limit);
    const ms = Math.max(this.#limits.bodyMs, (expected / this.#limits.bodyRate) * 1000);
    return setTimeout(() => {
      if (this.#complete) return;
      this.#fault ??= 'too-slow';
      this.#settle?.();
    }, ms);
  }

  async #arrival(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#settle = resolve;
      if (this.#paused) this.#source.resume();
      this.#paused = false;
    });
    this.#settle = undefined;
  }

  /** Stops reading the data after the body, unless it may be read. */
  #hold(): void {
    if (this.#paused || this.#readsOn || this.#fault !== undefined) return;
    this.#paused = true;
    this.#source.pause();
  }

  #completed(): void {
    this.#complete = true;
    if (this.#paused || this.#unwanted) return;
    // This runs after all promises of this tick and before the server reads again.
    if (this.#isRead) queueMicrotask(() => process.nextTick(() => this.#hold()));
    else this.#hold();
  }

  #take(chunk: ArrayBuffer, isLast: boolean): void {
    this.#received += chunk.byteLength;
    if (isLast) this.#completed();
    if (!this.#unwanted) {
      if (this.#received > this.#limit) this.#fault ??= 'too-large';
      // The server reuses the memory when this callback returns.
      else if (chunk.byteLength > 0) {
        this.#chunks.push(new Uint8Array(chunk.slice(0)));
        this.#unread += chunk.byteLength;
      }
      if (this.#settle === undefined && !isLast && !this.#paused && this.#unread > KEPT_UNREAD) {
        this.#paused = true;
        this.#source.pause();
      }
    }
    this.#settle?.();
  }
}
