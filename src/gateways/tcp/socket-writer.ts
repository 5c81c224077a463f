// Output of one connection in bounded memory. Writes of one turn of the event loop leave together (a write is what costs most);
// a writer with much to send waits until the socket has room; a peer that reads nothing for a while, or for whom too much waits,
// is cut off.
import type { Duplex } from 'node:stream';

/** A socket, or TLS or compression on one. */
export type LineSocket = Duplex & {
  /** Octets that were given to the system, and those that wait for it. */
  readonly bytesWritten: number;
};

export interface WriterLimits {
  /** Octets that wait to be sent when `write` begins to hold its caller back. */
  readonly highWater: number;
  /** Octets that may be written after that by callers that do not wait. One write may be of any size. */
  readonly mostBuffered: number;
  /** ms in which the peer has to take something. */
  readonly stalledMs: number;
}

const DEFAULT_WRITER_LIMITS: WriterLimits = {
  highWater: 65_536,
  mostBuffered: 1_048_576,
  stalledMs: 60_000,
};

/** Those who have written in this turn of the event loop: one callback is for all of them. */
let scheduled: SocketWriter[] = [];

/** Never added to. */
const NOBODY: (() => void)[] = [];

export class SocketWriter {
  readonly #limits: WriterLimits;
  #socket: LineSocket;
  #isCorked = false;
  /** Among those that are told when the turn is over. */
  #isScheduled = false;
  /** The socket's `drain` is listened to: few sockets ever need it. */
  #isHeard = false;
  #stalled: NodeJS.Timeout | undefined;
  #taken = 0;
  /** Octets that callers have written without waiting for room. */
  #pressed = 0;
  #waiting = NOBODY;

  constructor(socket: LineSocket, limits: WriterLimits = DEFAULT_WRITER_LIMITS) {
    this.#limits = limits;
    this.#socket = socket;
  }

  /** Writes go to this socket from now on; everything has been flushed. */
  use(socket: LineSocket): void {
    this.#socket = socket;
    this.#isHeard = false;
    this.#taken = 0;
  }

  /** To be called when the socket is closed. */
  closed(): void {
    clearInterval(this.#stalled);
    this.#release();
  }

  /** Octets that wait to be sent. */
  get buffered(): number {
    return this.#socket.writableLength;
  }

  /**
   * Each character of a string is one octet. Returns a promise when the caller has to wait before it writes again; the promise is
   * kept too when the connection ends.
   */
  write(octets: string | Uint8Array): Promise<void> | undefined {
    const socket = this.#socket;
    if (!socket.writable) return undefined;
    this.#pressed = socket.writableLength < this.#limits.highWater ? 0 : this.#pressed + octets.length;
    this.#cork(socket);
    if (typeof octets === 'string') socket.write(octets, 'latin1');
    else socket.write(octets);
    if (this.#pressed > this.#limits.mostBuffered) {
      socket.destroy();
      return undefined;
    }
    if (socket.writableLength < this.#limits.highWater) return undefined;
    this.#uncork(socket);
    if (!this.#isHeard) {
      this.#isHeard = true;
      socket.on('drain', () => this.#release());
    }
    return new Promise((resolve) => {
      if (this.#waiting.length === 0) this.#waiting = [];
      this.#waiting.push(resolve);
    });
  }

  /** Resolves when everything has been handed to the system, or the connection is over. */
  flush(): Promise<void> {
    const socket = this.#socket;
    this.uncork();
    if (!socket.writable) return Promise.resolve();
    return new Promise((resolve) => socket.write('', () => resolve()));
  }

  /** Sends what this turn has written so far. */
  uncork(): void {
    this.#uncork(this.#socket);
  }

  #cork(socket: LineSocket): void {
    if (this.#isCorked) return;
    this.#isCorked = true;
    socket.cork();
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    if (scheduled.push(this) === 1) setImmediate(endTurn);
  }

  /** The turn is over. */
  turned(): void {
    this.#isScheduled = false;
    this.uncork();
  }

  #uncork(socket: LineSocket): void {
    if (!this.#isCorked || socket !== this.#socket) return;
    this.#isCorked = false;
    socket.uncork();
    if (socket.writableLength > 0) this.#watch(socket);
    else this.#release();
  }

  #watch(socket: LineSocket): void {
    if (this.#stalled !== undefined || socket.destroyed) return;
    this.#taken = sentBy(socket);
    this.#stalled = setInterval(() => {
      const sent = sentBy(socket);
      if (socket.writableLength === 0 || socket !== this.#socket) this.#stopWatching();
      else if (sent === this.#taken) socket.destroy();
      this.#taken = sent;
    }, this.#limits.stalledMs).unref();
  }

  #stopWatching(): void {
    clearInterval(this.#stalled);
    this.#stalled = undefined;
  }

  #release(): void {
    const waiting = this.#waiting;
    this.#waiting = NOBODY;
    for (const resolve of waiting) resolve();
  }
}

function endTurn(): void {
  const over = scheduled;
  scheduled = [];
  for (const writer of over) writer.turned();
}

/** Octets that have left: `bytesWritten` counts what waits, too. */
function sentBy(socket: LineSocket): number {
  return socket.bytesWritten - socket.writableLength;
}
