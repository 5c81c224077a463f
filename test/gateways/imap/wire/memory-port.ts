// Implements a connection whose client has sent everything, in pieces: the next piece arrives when it is read.
import type { CommandPort } from '../../../../src/gateways/imap/wire/command-source.js';
import { ConnectionEnd } from '../../../../src/net/tcp/connection-end.js';
import { LineFramer } from '../../../../src/net/tcp/line-framer.js';

export class MemoryPort implements CommandPort {
  /** What the server has sent to the client. */
  written = '';
  /** The maximum of unread octets. */
  mostHeld = 0;
  readonly #pieces: string[];
  readonly #framer: LineFramer;

  /** One character is one octet. */
  constructor(pieces: readonly string[], maxLine = 65_536) {
    this.#pieces = [...pieces];
    this.#framer = new LineFramer({ maxLine, bareLf: 'ends-line' });
  }

  async readLine(): Promise<Buffer | undefined> {
    for (;;) {
      const line = this.#framer.readLine();
      if (line !== undefined) return line;
      if (!this.#arrive()) return undefined;
    }
  }

  async *readOctets(length: number): AsyncGenerator<Buffer> {
    let left = length;
    while (left > 0) {
      const octets = this.#framer.readOctets(left);
      if (octets !== undefined) {
        left -= octets.length;
        yield octets;
      } else if (!this.#arrive()) throw new ConnectionEnd('lost');
    }
  }

  write(octets: string): void {
    this.written += octets;
  }

  #arrive(): boolean {
    const piece = this.#pieces.shift();
    if (piece === undefined) return false;
    if (piece !== '') this.#framer.push(Buffer.from(piece, 'latin1'));
    this.mostHeld = Math.max(this.mostHeld, this.#framer.buffered);
    return true;
  }
}
