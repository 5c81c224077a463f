// Implements an IMAP client: it sends commands with or without literals, and collects responses unchanged.
import zlib from 'node:zlib';
import { OctetClient } from '../../support/clients/octet-client.js';

export interface Answer {
  /** Untagged responses and continuation requests without `* ` and the final CRLF; literals are kept in them. */
  readonly untagged: readonly string[];
  /** The tagged response without its tag: `OK [CODE] text`. */
  readonly tagged: string;
}

/** An argument that is sent as a literal, or as a literal8 (`~`) when it is binary. */
export class Literal {
  readonly octets: Buffer;
  readonly isBinary: boolean;

  constructor(octets: string | Uint8Array, isBinary = false) {
    this.octets = typeof octets === 'string' ? Buffer.from(octets, 'utf8') : Buffer.from(octets);
    this.isBinary = isBinary;
  }
}

export class ImapClient extends OctetClient {
  #tags = 0;
  #deflate: zlib.DeflateRaw | undefined;

  /** Sends octets unchanged; they are compressed after `compress`. */
  override write(octets: string | Uint8Array): this {
    if (this.#deflate === undefined) return super.write(octets);
    this.#deflate.write(typeof octets === 'string' ? Buffer.from(octets, 'latin1') : octets);
    this.#deflate.flush(zlib.constants.Z_SYNC_FLUSH);
    return this;
  }

  /** Both sides compress from now on. */
  compress(): void {
    const { socket } = this;
    socket.removeAllListeners('data');
    socket.removeAllListeners('close');
    const inflate = zlib.createInflateRaw();
    this.#deflate = zlib.createDeflateRaw();
    this.#deflate.pipe(socket);
    socket.pipe(inflate);
    // All arrived octets are inflated before the end.
    socket.once('close', () => inflate.end());
    inflate.on('data', (octets: Buffer) => this.received(octets));
    inflate.on('error', () => this.ended());
    inflate.on('end', () => this.ended());
  }

  /** Sends a command with a new tag, texts as UTF-8 and literals without waiting; returns all up to its tagged response. */
  async command(...parts: readonly (string | Literal)[]): Promise<Answer> {
    return this.answer(this.send(...parts));
  }

  /** Sends a command and returns its tag. */
  send(...parts: readonly (string | Literal)[]): string {
    const tag = `a${++this.#tags}`;
    const pieces = parts.map((part) => {
      if (typeof part === 'string') return Buffer.from(part, 'utf8');
      return Buffer.concat([Buffer.from(`${part.isBinary ? '~' : ''}{${part.octets.length}+}\r\n`), part.octets]);
    });
    this.write(Buffer.concat([Buffer.from(`${tag} `), ...pieces, Buffer.from('\r\n')]));
    return tag;
  }

  /** Returns all responses up to the tagged one. @throws Closed */
  async answer(tag: string): Promise<Answer> {
    const untagged: string[] = [];
    for (;;) {
      const response = await this.next();
      if (response.startsWith(`${tag} `)) return { untagged, tagged: response.slice(tag.length + 1) };
      untagged.push(response.replace(/^\* /, ''));
    }
  }

  /** Returns the next response without its final CRLF; literals are kept in it. @throws Closed */
  next(): Promise<string> {
    return this.take(endOfResponse, 2);
  }

  /** Returns all responses up to the end of the connection. */
  rest(): Promise<string[]> {
    return this.untilClosed(() => this.next());
  }

  async startTls(): Promise<void> {
    const { tagged } = await this.command('STARTTLS');
    if (!tagged.startsWith('OK')) throw new Error(tagged);
    await this.secure();
  }
}

/** Returns the index after the first response; undefined while it is incomplete. */
function endOfResponse(text: string): number | undefined {
  for (let from = 0; ; ) {
    const end = text.indexOf('\r\n', from);
    if (end < 0) return undefined;
    const literal = /\{(\d+)\}$/.exec(text.slice(Math.max(from, end - 20), end));
    if (literal === null) return end + 2;
    from = end + 2 + Number(literal[1]);
    if (from > text.length) return undefined;
  }
}
