// A client of any protocol of lines: sends octets as they are given, and waits for lines rather than for time.
import net from 'node:net';
import tls from 'node:tls';

export class LineClient {
  #socket: net.Socket;
  #text = '';
  #isOver = false;
  #wake: (() => void) | undefined;

  private constructor(socket: net.Socket) {
    this.#socket = socket;
    this.#listen(socket);
  }

  static async connect(port: number): Promise<LineClient> {
    const socket = net.connect({ port, host: '127.0.0.1', noDelay: true });
    await new Promise((resolve, reject) => {
      socket.once('connect', resolve);
      socket.once('error', reject);
    });
    return new LineClient(socket);
  }

  write(octets: string | Uint8Array): this {
    this.#socket.write(octets);
    return this;
  }

  /** The next line without its end; undefined when the peer has closed. */
  async line(): Promise<string | undefined> {
    for (;;) {
      const end = this.#text.indexOf('\r\n');
      if (end >= 0) {
        const line = this.#text.slice(0, end);
        this.#text = this.#text.slice(end + 2);
        return line;
      }
      if (this.#isOver) return undefined;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** All lines up to the end of the connection. */
  async rest(): Promise<string[]> {
    const lines: string[] = [];
    for (let line = await this.line(); line !== undefined; line = await this.line()) lines.push(line);
    return lines;
  }

  /** What has arrived and was not taken. */
  get pending(): string {
    return this.#text;
  }

  /** @throws when there is no handshake */
  async secure(options: tls.ConnectionOptions = {}): Promise<tls.TLSSocket> {
    const plain = this.#socket;
    for (const event of ['data', 'close', 'error']) plain.removeAllListeners(event);
    const secured = tls.connect({ socket: plain, rejectUnauthorized: false, ...options });
    await new Promise<void>((resolve, reject) => {
      secured.once('secureConnect', resolve);
      secured.once('error', reject);
      secured.once('close', () => reject(new Error('closed in the handshake')));
    });
    this.#socket = secured;
    this.#listen(secured);
    return secured;
  }

  destroy(): void {
    this.#socket.destroy();
  }

  #listen(socket: net.Socket): void {
    const wake = () => {
      this.#wake?.();
      this.#wake = undefined;
    };
    socket.on('data', (octets: Buffer) => {
      this.#text += octets.toString('latin1');
      wake();
    });
    // A connection that is refused may be reset.
    socket.on('error', () => {});
    socket.on('close', () => {
      this.#isOver = true;
      wake();
    });
  }
}
