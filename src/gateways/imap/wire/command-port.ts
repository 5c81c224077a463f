// What the reading of commands needs from a connection: a `LineConnection`, except that pending output is sent first.

export interface CommandPort {
  /** Returns the next line without its end, at once when available; undefined when the client has closed its side. Passes faults on. */
  readLine(): Buffer | undefined | Promise<Buffer | undefined>;
  /** Returns the next octets, piece by piece; a reader that stops early has read only the pieces it got. Passes faults on. */
  readOctets(length: number): AsyncIterable<Buffer>;
  /** Sends the octets at once, after earlier output. */
  write(octets: string): unknown;
}
