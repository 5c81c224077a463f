// A client of IMAP: sends commands with or without literals, collects responses as they came.
import zlib from 'node:zlib';
import { OctetClient } from '../../support/octet-client.js';

export interface Answer {
  /** Untagged responses and continuation requests without `* `, literals in them, without the end of the line. */
  readonly untagged: readonly string[];
  /** Without the tag: `OK [CODE] text`. */
  readonly tagged: string;
}

/** Octets of a command that are sent as a literal; `~` before it for binary ones. */
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

  /** Octets as they are, compressed after `compress`. */
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
    // What has arrived is inflated before the end.
    socket.once('close', () => inflate.end());
    inflate.on('data', (octets: Buffer) => this.received(octets));
    inflate.on('error', () => this.ended());
    inflate.on('end', () => this.ended());
  }

  /** A command with a tag of its own, texts as UTF-8, literals sent without being asked for; with all up to its tagged response. */
  async command(...parts: readonly (string | Literal)[]): Promise<Answer> {
    return this.answer(this.send(...parts));
  }

  /** The tag. */
  send(...parts: readonly (string | Literal)[]): string {
    const tag = `a${++this.#tags}`;
    const pieces = parts.map((part) => {
      if (typeof part === 'string') return Buffer.from(part, 'utf8');
      return Buffer.concat([Buffer.from(`${part.isBinary ? '~' : ''}{${part.octets.length}+}\r\n`), part.octets]);
    });
    this.write(Buffer.concat([Buffer.from(`${tag} `), ...pieces, Buffer.from('\r\n')]));
    return tag;
  }

  /** All up to the tagged response. @throws Closed */
  async answer(tag: string): Promise<Answer> {
    const untagged: string[] = [];
    for (;;) {
      const response = await this.next();
      if (response.startsWith(`${tag} `)) return { untagged, tagged: response.slice(tag.length + 1) };
      untagged.push(response.replace(/^\* /, ''));
    }
  }

  /** The next response without its end, literals in it. @throws Closed */
  next(): Promise<string> {
    return this.take(endOfResponse, 2);
  }

  /** All responses up to the end of the connection. */
  rest(): Promise<string[]> {
    return this.untilClosed(() => this.next());
  }

  async startTls(): Promise<void> {
    const { tagged } = await this.command('STARTTLS');
    if (!tagged.startsWith('OK')) throw new Error(tagged);
    await this.secure();
  }
}

/** Behind the end of the first response; undefined while it is incomplete. */
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
