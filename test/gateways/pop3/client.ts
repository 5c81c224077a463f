// A line client of POP3: sends commands, collects replies as they came. One character is one octet.
import type net from 'node:net';
import tls from 'node:tls';

/** The server has closed the connection. */
export class Closed extends Error {
  override readonly name = 'Closed';
}

export class Pop3Client {
  socket: net.Socket;
  #received = '';
  #isOver = false;
  #changed: (() => void) | undefined;

  constructor(socket: net.Socket) {
    this.socket = socket;
    this.#listen(socket);
  }

  write(octets: string | Uint8Array): this {
    this.socket.write(typeof octets === 'string' ? Buffer.from(octets, 'latin1') : octets);
    return this;
  }

  /** The first line of the reply; the command as UTF-8. */
  async command(line: string): Promise<string> {
    this.write(Buffer.from(`${line}\r\n`));
    return this.line();
  }

  /** The reply and, when it is +OK, the octets up to the line with the dot, dots taken off again. */
  async listing(line: string): Promise<string> {
    const reply = await this.command(line);
    return reply.startsWith('+OK') ? `${reply}\r\n${await this.body()}` : reply;
  }

  /** The octets of a multi-line response whose first line was read. Lines end in CRLF, and a bare LF ends one too. */
  async body(): Promise<string> {
    for (;;) {
      const end = this.#received.startsWith('.\r\n') ? 0 : this.#received.indexOf('\r\n.\r\n') + 2;
      if (end !== 1) {
        const octets = this.#received.slice(0, end);
        this.#received = this.#received.slice(end + 3);
        return octets.replace(/(^|\n)\./g, '$1');
      }
      await this.#more();
    }
  }

  /** The next line without its end. @throws Closed */
  async line(): Promise<string> {
    for (;;) {
      const end = this.#received.indexOf('\r\n');
      if (end >= 0) {
        const line = this.#received.slice(0, end);
        this.#received = this.#received.slice(end + 2);
        return line;
      }
      await this.#more();
    }
  }

  /** All octets up to the end of the connection. */
  async rest(): Promise<string> {
    try {
      for (;;) await this.#more();
    } catch (error) {
      if (!(error instanceof Closed)) throw error;
    }
    return this.#received;
  }

  async startTls(): Promise<void> {
    const reply = await this.command('STLS');
    if (!reply.startsWith('+OK')) throw new Error(reply);
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

  /** @throws Closed */
  async #more(): Promise<void> {
    if (this.#isOver) throw new Closed(`the connection is closed; last: ${this.#received.slice(-200)}`);
    await new Promise<void>((resolve) => {
      this.#changed = resolve;
    });
  }

  #listen(socket: net.Socket): void {
    socket.on('error', () => {});
    socket.on('data', (octets: Buffer) => {
      this.#received += octets.toString('latin1');
      this.#changed?.();
    });
    socket.on('close', () => {
      this.#isOver = true;
      this.#changed?.();
    });
  }
}
