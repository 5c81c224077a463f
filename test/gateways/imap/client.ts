// A line client of IMAP: sends commands with or without literals, collects responses as they came. One character is one octet.
import type net from 'node:net';
import tls from 'node:tls';
import zlib from 'node:zlib';

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

/** The server has closed the connection. */
export class Closed extends Error {
  override readonly name = 'Closed';
}

export class ImapClient {
  socket: net.Socket;
  #received = '';
  #isOver = false;
  #changed: (() => void) | undefined;
  #tags = 0;
  #deflate: zlib.DeflateRaw | undefined;

  constructor(socket: net.Socket) {
    this.socket = socket;
    this.#listen(socket);
  }

  /** Octets as they are, compressed after `compress`. */
  write(octets: string | Uint8Array): this {
    const buffer = typeof octets === 'string' ? Buffer.from(octets, 'latin1') : octets;
    if (this.#deflate === undefined) this.socket.write(buffer);
    else {
      this.#deflate.write(buffer);
      this.#deflate.flush(zlib.constants.Z_SYNC_FLUSH);
    }
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
    inflate.on('data', (octets: Buffer) => this.#take(octets));
    inflate.on('error', () => this.#end());
    inflate.on('end', () => this.#end());
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
  async next(): Promise<string> {
    for (;;) {
      const end = endOfResponse(this.#received);
      if (end >= 0) {
        const response = this.#received.slice(0, end - 2);
        this.#received = this.#received.slice(end);
        return response;
      }
      if (this.#isOver) throw new Closed(`the connection is closed; last: ${this.#received}`);
      await new Promise<void>((resolve) => {
        this.#changed = resolve;
      });
    }
  }

  /** All responses up to the end of the connection. */
  async rest(): Promise<string[]> {
    const responses: string[] = [];
    try {
      for (;;) responses.push(await this.next());
    } catch (error) {
      if (!(error instanceof Closed)) throw error;
    }
    return responses;
  }

  /** Responses that have arrived and were not taken yet. */
  get pending(): string {
    return this.#received;
  }

  async startTls(): Promise<void> {
    const { tagged } = await this.command('STARTTLS');
    if (!tagged.startsWith('OK')) throw new Error(tagged);
    await this.secure();
  }

  async secure(): Promise<void> {
    this.socket.removeAllListeners('data');
    const secured = tls.connect({ socket: this.socket, rejectUnauthorized: false });
    this.socket = secured;
    this.#listen(secured);
    await new Promise((resolve, reject) => {
      secured.once('secureConnect', resolve);
      secured.once('error', reject);
      secured.once('close', reject);
    });
  }

  close(): void {
    this.socket.destroy();
  }

  #take(octets: Buffer): void {
    this.#received += octets.toString('latin1');
    this.#changed?.();
  }

  #end(): void {
    this.#isOver = true;
    this.#changed?.();
  }

  #listen(socket: net.Socket): void {
    socket.on('error', () => {});
    socket.on('data', (octets: Buffer) => this.#take(octets));
    socket.on('close', () => this.#end());
  }
}

/** Behind the end of the first response; -1 while it is incomplete. */
function endOfResponse(text: string): number {
  for (let from = 0; ; ) {
    const end = text.indexOf('\r\n', from);
    if (end < 0) return -1;
    const literal = /\{(\d+)\}$/.exec(text.slice(Math.max(from, end - 20), end));
    if (literal === null) return end + 2;
    from = end + 2 + Number(literal[1]);
    if (from > text.length) return -1;
  }
}
