// The output of one connection in limited memory. Writes of one turn of the event loop leave together, because each write to the kernel is
// expensive; a writer with much to send waits until the socket has room; a peer that reads nothing for a while, or for which too much
// waits, is cut off.
import type { Duplex } from 'node:stream';

/** A socket, or a stream with TLS or compression on one. */
export type LineSocket = Duplex & {
  /** Octets that were passed to the system, and those that wait for it. */
  readonly bytesWritten: number;
};

export interface WriterLimits {
  /** Octets that wait to be sent from which on `write` makes its caller wait. */
  readonly highWater: number;
  /** Octets that callers may write beyond that without waiting. One write may have any size. */
  readonly mostBuffered: number;
  /** ms within which the peer must receive something. */
  readonly stalledMs: number;
}

const DEFAULT_WRITER_LIMITS: WriterLimits = {
  highWater: 65_536,
  mostBuffered: 1_048_576,
  stalledMs: 60_000,
};

/** The writers that have written in this turn of the event loop: one callback serves all of them. */
let scheduled: SocketWriter[] = [];

/** An empty list that never changes. */
const NOBODY: (() => void)[] = [];

export class SocketWriter {
  readonly #limits: WriterLimits;
  #socket: LineSocket;
  #isCorked = false;
  /** The writer is in `scheduled`. */
  #isScheduled = false;
  /** A listener for the socket's `drain` is set: few sockets ever need one. */
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

  /** Writes go to this socket from now on; everything before has been flushed. */
  use(socket: LineSocket): void {
    this.#socket = socket;
    this.#isHeard = false;
    this.#taken = 0;
  }

  /** Must be called when the socket is closed. */
  closed(): void {
    clearInterval(this.#stalled);
    this.#release();
  }

  /** The number of octets that wait to be sent. */
  get buffered(): number {
    return this.#socket.writableLength;
  }

  /**
   * Each character of a string is one octet. Returns a promise when the caller has to wait before it writes again; it also resolves when
   * the connection ends.
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

  /** Resolves when everything has been passed to the system, or the connection is over. */
  flush(): Promise<void> {
    const socket = this.#socket;
    this.uncork();
    if (!socket.writable) return Promise.resolve();
    return new Promise((resolve) => socket.write('', () => resolve()));
  }

  /** Sends the writes of this turn so far. */
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

  /** Called at the end of the turn. */
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

/** Octets that have left: `bytesWritten` also counts those that wait. */
function sentBy(socket: LineSocket): number {
  return socket.bytesWritten - socket.writableLength;
}
