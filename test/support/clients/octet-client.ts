// The client's side of a connection: it writes octets unchanged, reads octets as text in which one character is one octet, and starts TLS
// at any time. The client of each protocol defines what a reply is.
import type net from 'node:net';
import tls from 'node:tls';
import { patiently } from '../patience.js';

/** Thrown when the server has closed the connection. */
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
    // A refused connection may be reset.
    socket.on('error', () => {});
    this.#listen(socket);
  }

  /** Texts have one character per octet. */
  write(octets: string | Uint8Array): this {
    this.socket.write(typeof octets === 'string' ? Buffer.from(octets, 'latin1') : octets);
    return this;
  }

  /** The text that has arrived and was not taken. */
  get pending(): string {
    return this.#received;
  }

  /**
   * Takes what `length` finds in the text that has arrived, without its last `dropped` octets; waits while `length` returns undefined.
   * @throws Closed
   */
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

  /** Waits until more has arrived, or the connection ends. @throws Closed, and another error when nothing comes for five minutes */
  async more(): Promise<void> {
    if (this.#isOver) throw new Closed(`the connection is closed; last: ${this.#received.slice(-200)}`);
    const more = new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    await patiently(more, () => `octets of the server; last: ${this.#received.slice(-200)}`);
  }

  /** Collects what `next` returns until the end of the connection. */
  async untilClosed<T>(next: () => Promise<T>): Promise<T[]> {
    const all: T[] = [];
    try {
      for (;;) all.push(await next());
    } catch (error) {
      if (!(error instanceof Closed)) throw error;
    }
    return all;
  }

  /** @throws when the handshake fails */
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

  /** Called when octets have arrived. */
  received(octets: Buffer): void {
    this.#received += octets.toString('latin1');
    this.#wake?.();
  }

  /** Called when nothing more will arrive. */
  ended(): void {
    this.#isOver = true;
    this.#wake?.();
  }

  #listen(socket: net.Socket): void {
    socket.on('data', (octets: Buffer) => this.received(octets));
    socket.on('close', () => this.ended());
  }
}

/** Returns the position after the end of the first line. */
export function endOfLine(text: string): number | undefined {
  const end = text.indexOf('\r\n');
  return end < 0 ? undefined : end + 2;
}
