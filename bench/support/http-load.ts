// An HTTP client for load: it does as little work per request as possible, so that the server is measured. A request consists of prepared
// octets; only the status and the length of a reply are read.
import { connect, type Socket } from 'node:net';

export interface LoadReply {
  readonly status: number;
  readonly body: Buffer;
}

const HEAD_END = Buffer.from('\r\n\r\n');
const NOTHING = Buffer.alloc(0);

/** A connection that stays open, with one request at a time. */
export class HttpConnection {
  readonly #socket: Socket;
  #received: Buffer = NOTHING;
  #head: { readonly status: number; readonly length: number; readonly end: number } | undefined;
  #resolve: ((reply: LoadReply) => void) | undefined;
  #reject: ((error: Error) => void) | undefined;
  #broken: Error | undefined;

  constructor(port: number) {
    this.#socket = connect({ host: '127.0.0.1', port, noDelay: true });
    this.#socket.on('data', (octets: Buffer) => this.#take(octets));
    const broken = (error = new Error('the server closed the connection')) => {
      this.#broken = error;
      this.#reject?.(error);
    };
    this.#socket.on('error', broken);
    this.#socket.on('close', () => broken());
  }

  send(request: Buffer): Promise<LoadReply> {
    if (this.#broken !== undefined) return Promise.reject(this.#broken);
    return new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
      this.#socket.write(request);
    });
  }

  close(): void {
    this.#reject = undefined;
    this.#socket.destroy();
  }

  #take(octets: Buffer): void {
    this.#received = this.#received.length === 0 ? octets : Buffer.concat([this.#received, octets]);
    this.#head ??= headOf(this.#received);
    if (this.#head === undefined) return;
    const { status, length, end } = this.#head;
    if (this.#received.length < end + length) return;
    const body = this.#received.subarray(end, end + length);
    this.#received = NOTHING;
    this.#head = undefined;
    this.#resolve?.({ status, body });
  }
}

function headOf(octets: Buffer) {
  const end = octets.indexOf(HEAD_END);
  if (end < 0) return undefined;
  const head = octets.toString('latin1', 0, end);
  const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? '0';
  return { status: Number(head.slice(9, 12)), length: Number(length), end: end + HEAD_END.length };
}

/** `key` is the API key of the request. */
export function requestOctets(method: string, path: string, key: string, body?: object): Buffer {
  const content = body === undefined ? '' : JSON.stringify(body);
  const fields = content === '' ? '' : `Content-Type: application/json\r\nContent-Length: ${content.length}\r\n`;
  return Buffer.from(
    `${method} ${path} HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer ${key}\r\n${fields}\r\n${content}`,
  );
}
