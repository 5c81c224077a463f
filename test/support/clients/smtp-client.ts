// A raw SMTP client for tests: it sends exactly the given octets, in the given segments, and waits for replies rather than for time.
import { connect, type Socket } from 'node:net';
import { connect as tlsConnect } from 'node:tls';
import { patiently } from '../patience.js';

export interface Reply {
  readonly code: number;
  /** The lines without the code. */
  readonly lines: readonly string[];
  readonly text: string;
}

export class SmtpClient {
  #socket: Socket;
  #buffer = '';
  #lines: string[] = [];
  readonly #replies: Reply[] = [];
  #closed = false;
  #wake: (() => void) | undefined;

  private constructor(socket: Socket) {
    this.#socket = socket;
    this.#listen();
  }

  /** Connects without waiting for the banner. `address` is `ip:port`; `from` is an address of this machine. */
  static async connect(address: string, from?: string): Promise<SmtpClient> {
    const at = address.lastIndexOf(':');
    const host = address.slice(0, at).replace(/[[\]]/g, '');
    const socket = connect({
      host,
      port: Number(address.slice(at + 1)),
      noDelay: true,
      ...(from && { localAddress: from }),
    });
    await new Promise((resolve, reject) => {
      socket.once('connect', resolve);
      socket.once('error', reject);
    });
    return new SmtpClient(socket);
  }

  /** Connects with TLS from the start. `opening` is sent before it. */
  static async connectSecurely(address: string, opening: Uint8Array | string = ''): Promise<SmtpClient> {
    const client = await SmtpClient.connect(address);
    if (opening.length > 0) client.write(opening);
    await client.secure();
    return client;
  }

  /** Connects, reads the banner and sends EHLO. */
  static async greeted(address: string, from?: string): Promise<SmtpClient> {
    const client = await SmtpClient.connect(address, from);
    await client.reply();
    await client.command('EHLO client.test');
    return client;
  }

  /** Returns the next reply; undefined when the peer has closed without one. @throws when nothing comes for five minutes */
  async next(): Promise<Reply | undefined> {
    while (this.#replies.length === 0 && !this.#closed) {
      const more = new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      await patiently(more, () => `a reply of the SMTP server, after ${JSON.stringify(this.#lines)} ${this.#buffer}`);
    }
    return this.#replies.shift();
  }

  async reply(): Promise<Reply> {
    const reply = await this.next();
    if (reply === undefined) throw new Error('connection closed');
    return reply;
  }

  async command(line: string): Promise<Reply> {
    this.write(`${line}\r\n`);
    return this.reply();
  }

  /** Returns every reply until the peer closes. */
  async rest(): Promise<Reply[]> {
    const replies: Reply[] = [];
    for (let reply = await this.next(); reply !== undefined; reply = await this.next()) replies.push(reply);
    return replies;
  }

  write(octets: string | Uint8Array): void {
    if (!this.#socket.destroyed) this.#socket.write(typeof octets === 'string' ? Buffer.from(octets) : octets);
  }

  /** Writes; resolves when the kernel has everything: the peer has then read it, except what fits in the sockets' buffers. */
  written(octets: string | Uint8Array): Promise<void> {
    return new Promise((resolve) => this.#socket.write(octets, () => resolve()));
  }

  /** Writes pieces as separate segments: each is passed to the kernel before the next. */
  async segments(pieces: readonly Uint8Array[]): Promise<void> {
    for (const piece of pieces) {
      if (this.#socket.destroyed) return;
      await new Promise<void>((resolve) => {
        this.#socket.write(piece, () => setImmediate(resolve));
      });
    }
  }

  /** Sends MAIL, RCPT for each recipient and DATA; returns the reply to DATA. */
  async envelope(sender: string, ...recipients: string[]): Promise<Reply> {
    await this.command(`MAIL FROM:<${sender}>`);
    for (const recipient of recipients) await this.command(`RCPT TO:<${recipient}>`);
    return this.command('DATA');
  }

  async send(sender: string, recipients: readonly string[], message: string): Promise<Reply> {
    await this.envelope(sender, ...recipients);
    this.write(`${message}\r\n.\r\n`);
    return this.reply();
  }

  /** Performs the handshake after a 220 to STARTTLS. */
  async secure(): Promise<void> {
    const plain = this.#socket;
    plain.removeAllListeners('data');
    const socket = tlsConnect({ socket: plain, rejectUnauthorized: false });
    await new Promise((resolve, reject) => {
      socket.once('secureConnect', resolve);
      socket.once('error', reject);
    });
    this.#socket = socket;
    this.#listen();
  }

  end(): void {
    this.#socket.end();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  /** The number of replies that have arrived and were not taken. */
  get pending(): number {
    return this.#replies.length;
  }

  #listen(): void {
    this.#socket.on('data', (chunk: Buffer) => this.#read(chunk.toString('latin1')));
    const closed = (): void => {
      this.#closed = true;
      this.#wake?.();
    };
    this.#socket.on('end', closed);
    this.#socket.on('close', closed);
    this.#socket.on('error', closed);
  }

  #read(text: string): void {
    this.#buffer += text;
    for (let end = this.#buffer.indexOf('\r\n'); end >= 0; end = this.#buffer.indexOf('\r\n')) {
      const line = this.#buffer.slice(0, end);
      this.#buffer = this.#buffer.slice(end + 2);
      this.#lines.push(line.slice(4));
      if (line[3] === '-') continue;
      this.#replies.push({ code: Number(line.slice(0, 3)), lines: this.#lines, text: this.#lines.join('\n') });
      this.#lines = [];
    }
    this.#wake?.();
  }
}
