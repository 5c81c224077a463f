// What the reading of commands needs of a connection. `LineConnection` has it, but for output that waits elsewhere to be sent.

export interface CommandPort {
  /** The next line without its end, at once when it is there; undefined when the client has closed its side. Faults are passed on. */
  readLine(): Buffer | undefined | Promise<Buffer | undefined>;
  /** The next octets, piece by piece; a reader that leaves early has read no more than it was given. Faults are passed on. */
  readOctets(length: number): AsyncIterable<Buffer>;
  /** The octets leave at once, behind what was written before. */
  write(octets: string): unknown;
}
