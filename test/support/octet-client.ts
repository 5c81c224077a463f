// The client's side of a connection: octets out as they are given, octets in as text in which one character is one octet, and TLS at any
// time. What a reply is, each protocol's client says.
import type net from 'node:net';
import tls from 'node:tls';

/** The server has closed the connection. */
export class Closed extends Error {
  override readonly name = 'Closed';
}

export class OctetClient {
  socket: net.Socket;
  #received = '';
  #isOver = false;
  #wake: (() => void) | undefined;

  constructor(socket: net.Socket) {
    this.socket = socket;
    // A connection that is refused may be reset.
    socket.on('error', () => {});
    this.#listen(socket);
  }

  /** Texts have one character an octet. */
  write(octets: string | Uint8Array): this {
    this.socket.write(typeof octets === 'string' ? Buffer.from(octets, 'latin1') : octets);
    return this;
  }

  /** What has arrived and was not taken. */
  get pending(): string {
    return this.#received;
  }

  /** What `length` finds of what has arrived, without its last `dropped` octets, once that is not undefined. @throws Closed */
  async take(length: (received: string) => number | undefined, dropped = 0): Promise<string> {
    for (;;) {
      const end = length(this.#received);
      if (end !== undefined) {
        const taken = this.#received.slice(0, end - dropped);
        this.#received = this.#received.slice(end);
        return taken;
      }
      await this.more();
    }
  }

  /** Until there is more, or the end. @throws Closed */
  async more(): Promise<void> {
    if (this.#isOver) throw new Closed(`the connection is closed; last: ${this.#received.slice(-200)}`);
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
  }

  /** What `next` gives until the end of the connection. */
  async untilClosed<T>(next: () => Promise<T>): Promise<T[]> {
    const all: T[] = [];
    try {
      for (;;) all.push(await next());
    } catch (error) {
      if (!(error instanceof Closed)) throw error;
    }
    return all;
  }

  /** @throws when there is no handshake */
  async secure(options: tls.ConnectionOptions = {}): Promise<tls.TLSSocket> {
    const plain = this.socket;
    for (const event of ['data', 'close']) plain.removeAllListeners(event);
    const secured = tls.connect({ socket: plain, rejectUnauthorized: false, ...options });
    secured.on('error', () => {});
    this.socket = secured;
    await new Promise<void>((resolve, reject) => {
      secured.once('secureConnect', resolve);
      secured.once('error', reject);
      secured.once('close', () => reject(new Error('closed in the handshake')));
    });
    this.#listen(secured);
    return secured;
  }

  close(): void {
    this.socket.destroy();
  }

  /** Octets that have arrived. */
  received(octets: Buffer): void {
    this.#received += octets.toString('latin1');
    this.#wake?.();
  }

  /** Nothing more arrives. */
  ended(): void {
    this.#isOver = true;
    this.#wake?.();
  }

  #listen(socket: net.Socket): void {
    socket.on('data', (octets: Buffer) => this.received(octets));
    socket.on('close', () => this.ended());
  }
}

/** Behind the end of the first line. */
export function endOfLine(text: string): number | undefined {
  const end = text.indexOf('\r\n');
  return end < 0 ? undefined : end + 2;
}
