// A POP3 client for load: it does as little work per reply as possible, so that the server is measured. It counts replies by their ends:
// the end of a line, or of a multi-line response.
import { connect as connectPlain, type Socket } from 'node:net';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';

export interface Pop3Address {
  readonly port: number;
  readonly isTls: boolean;
  /** The address of the client. */
  readonly localAddress: string;
  readonly name: string;
  readonly password: string;
}

const LINE_END = Buffer.from('\r\n');
const RESPONSE_END = Buffer.from('\r\n.\r\n');

interface Waiting {
  readonly end: Buffer;
  left: number;
  resolve(octets: number): void;
  reject(error: Error): void;
}

export class Pop3Client {
  readonly #socket: Socket;
  #waiting: Waiting | undefined;
  #octets = 0;
  /** The last octets that were received: they may contain the start of an end. */
  #tail: Buffer = Buffer.alloc(0);
  #first = '';

  private constructor(socket: Socket) {
    this.#socket = socket;
    const broken = (error: Error) => {
      this.#waiting?.reject(error);
      this.#waiting = undefined;
    };
    socket.on('data', (octets: Buffer) => this.#receive(octets));
    socket.on('error', broken);
    socket.on('close', () => broken(new Error('the connection was closed')));
  }

  /** Returns a client that has logged in. @throws Error when the server refuses the login */
  static async open({ port, isTls, localAddress, name, password }: Pop3Address): Promise<Pop3Client> {
    const options = { host: '127.0.0.1', port, localAddress, rejectUnauthorized: false } as ConnectionOptions;
    const socket = isTls ? connectTls(options) : connectPlain({ host: '127.0.0.1', port, localAddress, noDelay: true });
    const client = new Pop3Client(socket);
    await client.#ends(LINE_END, 1);
    await client.lines(`USER ${name}\r\n`, 1);
    await client.lines(`PASS ${password}\r\n`, 1);
    return client;
  }

  /** Sends commands whose replies are lines. @throws Error when the first of them is not +OK */
  lines(commands: string, count: number): Promise<number> {
    this.#socket.write(commands);
    return this.#ends(LINE_END, count);
  }

  /** Sends commands whose replies are multi-line responses; returns the octets of the responses. */
  responses(commands: string, count: number): Promise<number> {
    this.#socket.write(commands);
    return this.#ends(RESPONSE_END, count);
  }

  close(): void {
    this.#socket.destroy();
  }

  #ends(end: Buffer, left: number): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#octets = 0;
      this.#tail = Buffer.alloc(0);
      this.#first = '';
      this.#waiting = { end, left, resolve, reject };
    });
  }

  #receive(octets: Buffer): void {
    const waiting = this.#waiting;
    if (waiting === undefined) return;
    const { end } = waiting;
    this.#octets += octets.length;
    if (this.#first.length < 4) this.#first += octets.toString('latin1', 0, 200);
    if (this.#first.startsWith('-ERR')) {
      this.#waiting = undefined;
      waiting.reject(new Error(this.#first));
      return;
    }
    waiting.left -= this.#endsIn(octets, end);
    if (waiting.left > 0) return;
    this.#waiting = undefined;
    waiting.resolve(this.#octets);
  }

  #endsIn(octets: Buffer, end: Buffer): number {
    const seam = Buffer.concat([this.#tail, octets.subarray(0, end.length - 1)]);
    let count = seam.includes(end) ? 1 : 0;
    for (let at = octets.indexOf(end); at >= 0; at = octets.indexOf(end, at + end.length)) count++;
    const rest = octets.length >= end.length ? octets : Buffer.concat([this.#tail, octets]);
    this.#tail = Buffer.from(rest.subarray(Math.max(0, rest.length - end.length + 1)));
    return count;
  }
}
