// Sends octets as a statement's parameter in the binary form of the protocol (PostgreSQL, "Message Formats", Bind). The driver
// sends each parameter as text, which is twice as long for octets, is copied four times and converted back by the server. So the
// driver gets a short marker, and the socket replaces it by the octets when the driver writes the message. A marker is not a
// valid bytea text: the server refuses a statement that still contains one. A statement requests binary results in the same way
// (`binary-results.ts`).
import { randomBytes } from 'node:crypto';
import type { Duplex } from 'node:stream';
import { StoreFault } from '../../errors.js';

/**
 * Octets in pieces, which must not change before the statement is answered. They are a parameter of one statement, which casts it
 * to a type of the client.
 *
 * The pieces are released when they are written: the driver's query keeps its parameters and may survive collections of V8's
 * young generation, so the octets of all messages would stay until the next full collection, which their size alone would
 * trigger.
 */
export class Octets {
  readonly length: number;
  #pieces: readonly Uint8Array[];
  #isUsed = false;

  constructor(pieces: readonly Uint8Array[]) {
    this.#pieces = pieces;
    this.length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  }

  /** Marks them as a parameter. @throws Error the second time */
  use(): void {
    if (this.#isUsed) throw new Error('octets are a parameter of one statement');
    this.#isUsed = true;
  }

  /** Returns the pieces to write them, and releases them. */
  take(): readonly Uint8Array[] {
    const pieces = this.#pieces;
    this.#pieces = [];
    return pieces;
  }
}

/** The parameter of statements that request binary results. */
export const BINARY_RESULTS = new Octets([]);

const BIND = 0x42;
const TYPE_OCTETS = 5;
/** Octets of the result formats in the driver's messages, which name none. */
const RESULT_FORMATS_OCTETS = 2;
const NULL = -1;
const BINARY = 1;
/** Formats of the results: one format for all, which is binary. */
const ALL_BINARY = Buffer.from([0, 1, 0, BINARY]);
const SECRET = randomBytes(16).toString('hex');
const DIGITS = 12;
/** The secret prevents that a text made by a client is taken for a marker. */
const PREFIX = `\\x:${SECRET}:`;
const MARKER_OCTETS = PREFIX.length + DIGITS;
/**
 * The driver writes a message in the turn in which it makes it, or in the next one: octets that wait through two sweeps have lost
 * their connection.
 */
const SWEEP_MS = 10_000;
/**
 * Messages up to JOINED_OCTETS, and adjacent pieces below SHORT_OCTETS, are joined by copying, which costs less than separate
 * writes.
 */
const JOINED_OCTETS = 32_768;
const SHORT_OCTETS = 4_096;

/** The octet parameters of one pool and its sockets. */
export class OctetParameters {
  #waiting = new Map<string, Octets>();
  /** Octets that have waited through one sweep. Turns of the event loop pass between two sweeps, however long a turn takes. */
  #old = new Map<string, Octets>();
  #isSweepDue = false;
  #count = 0;

  /**
   * Returns what the driver sends as a bytea. A text is one that the driver sends again. @throws StoreFault when that is a marker
   */
  serialize(value: Octets | Uint8Array | string): string {
    if (value instanceof Octets) return this.#mark(value);
    if (typeof value !== 'string')
      return `\\x${Buffer.from(value.buffer, value.byteOffset, value.length).toString('hex')}`;
    if (!value.startsWith(PREFIX)) return value;
    throw new StoreFault('store-unavailable', 'a statement with octets has to be sent again', { temporary: true });
  }

  /** Makes the socket replace markers by octets in what it writes. */
  fillWrites<S extends Duplex>(socket: S): S {
    const write = socket.write.bind(socket) as (piece: Uint8Array, written?: () => void) => boolean;
    const fill = (messages: Buffer, written?: () => void): boolean => {
      const pieces = this.#waiting.size + this.#old.size === 0 ? undefined : this.#filled(messages);
      if (pieces === undefined) return write(messages, written);
      const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
      if (length <= JOINED_OCTETS) return write(Buffer.concat(pieces, length), written);
      const few = joined(pieces);
      socket.cork();
      for (const piece of few.slice(0, -1)) write(piece);
      const isBelowMark = write(few.at(-1)!, written);
      socket.uncork();
      return isBelowMark;
    };
    // On connect, a socket restores the `write` of its class.
    socket.once('connect', () => Object.assign(socket, { write: fill }));
    return Object.assign(socket, { write: fill });
  }

  #mark(octets: Octets): string {
    if (octets !== BINARY_RESULTS) octets.use();
    const marker = `${PREFIX}${String(this.#count++).padStart(DIGITS, '0')}`;
    this.#waiting.set(marker, octets);
    this.#sweepLater();
    return marker;
  }

  #sweepLater(): void {
    if (this.#isSweepDue) return;
    this.#isSweepDue = true;
    setTimeout(() => {
      this.#isSweepDue = false;
      this.#old = this.#waiting;
      this.#waiting = new Map();
      if (this.#old.size > 0) this.#sweepLater();
    }, SWEEP_MS).unref();
  }

  /** The messages with octets in place of markers; undefined when they contain none. */
  #filled(messages: Buffer): Uint8Array[] | undefined {
    const pieces: Uint8Array[] = [];
    let from = 0;
    for (let at = 0; at + TYPE_OCTETS <= messages.length; ) {
      const end = at + 1 + messages.readUInt32BE(at + 1);
      const bind = messages[at] === BIND ? this.#filledBind(messages.subarray(at, end)) : undefined;
      if (bind !== undefined) {
        if (at > from) pieces.push(messages.subarray(from, at));
        pieces.push(...bind);
        from = end;
      }
      at = end;
    }
    if (pieces.length === 0) return undefined;
    if (from < messages.length) pieces.push(messages.subarray(from));
    return pieces;
  }

  /**
   * Reads type, length, names of portal and statement, formats of the parameters (the driver gives none), parameters, formats of
   * results.
   */
  #filledBind(bind: Buffer): Uint8Array[] | undefined {
    const namesEnd = bind.indexOf(0, bind.indexOf(0, TYPE_OCTETS) + 1) + 1;
    const count = bind.readUInt16BE(namesEnd + 2);
    const valuesStart = namesEnd + 4;
    const formats = Buffer.alloc(2 + 2 * count + 2);
    const values: Uint8Array[] = [];
    let from = valuesStart;
    let growth = 2 * count;
    let results = bind.subarray(-RESULT_FORMATS_OCTETS);
    for (let at = valuesStart, i = 0; i < count; i++) {
      const length = bind.readInt32BE(at);
      const end = at + 4 + (length === NULL ? 0 : length);
      const octets = length === MARKER_OCTETS ? this.#take(bind.toString('latin1', at + 4, end)) : undefined;
      if (octets !== undefined) {
        if (octets === BINARY_RESULTS) results = ALL_BINARY;
        formats.writeUInt16BE(BINARY, 2 + 2 * i);
        const size = Buffer.alloc(4);
        size.writeInt32BE(octets.length);
        values.push(bind.subarray(from, at), size, ...octets.take());
        growth += octets.length - length;
        from = end;
      }
      at = end;
    }
    if (values.length === 0) return undefined;
    formats.writeUInt16BE(count, 0);
    formats.writeUInt16BE(count, 2 + 2 * count);
    const head = Buffer.from(bind.subarray(0, namesEnd));
    head.writeUInt32BE(bind.length - 1 + growth + results.length - RESULT_FORMATS_OCTETS, 1);
    return [head, formats, ...values, bind.subarray(from, -RESULT_FORMATS_OCTETS), results];
  }

  #take(marker: string): Octets | undefined {
    const octets = this.#waiting.get(marker) ?? this.#old.get(marker);
    if (!this.#waiting.delete(marker)) this.#old.delete(marker);
    return octets;
  }
}

/** Joins adjacent short pieces. */
function joined(pieces: readonly Uint8Array[]): Uint8Array[] {
  const few: Uint8Array[] = [];
  for (let from = 0, to = 0; from < pieces.length; from = to) {
    let length = 0;
    while (to < pieces.length && pieces[to]!.length < SHORT_OCTETS) length += pieces[to++]!.length;
    if (to > from) few.push(Buffer.concat(pieces.slice(from, to), length));
    else few.push(pieces[to++]!);
  }
  return few;
}
