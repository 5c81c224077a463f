// TLS to PostgreSQL as one stream that accepts writes at once: the stream asks the server for TLS, upgrades the connection, and
// then sends the writes. With the driver's own TLS, the circuit breaker would see only encrypted octets and could not tell
// whether an answer is due, and a connection that is cut would end before its error is reported.
import { isIP, type Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { type ConnectionOptions, connect } from 'node:tls';

export interface Security {
  /** `sslmode` as the driver reads it, or options of TLS. */
  readonly ssl: unknown;
  /** Starts TLS without asking first. */
  readonly isDirect: boolean;
}

type WriteCallback = (error?: Error | null) => void;

const REQUEST = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);
const YES = 'S'.charCodeAt(0);
/** A `close` in the same turn as its error finds the driver about to write, which ends the process. */
const END_AFTER_MS = 1;

export class SecuredSocket extends Duplex {
  bytesRead = 0;
  readAtWrite = -1;
  heardAt = 0;
  readonly #raw: Socket;
  #stream: Socket | undefined;
  #waiting: (() => void) | undefined;

  constructor(raw: Socket, host: string, { ssl, isDirect }: Security) {
    super();
    this.#raw = raw;
    raw.on('error', (error) => this.destroy(error));
    raw.on('close', () => this.destroy());
    raw.once('connect', () => {
      if (isDirect) this.#secure(host, ssl, { ALPNProtocols: ['postgresql'] });
      else raw.write(REQUEST);
    });
    if (isDirect) return;
    raw.once('data', (answer) => {
      // Further octets do not come from the server that was asked (CVE-2021-23222).
      if (answer.length === 1 && answer[0] === YES) this.#secure(host, ssl, {});
      else if (answer.length === 1 && ssl === 'prefer') this.#use(raw);
      else this.destroy(new Error('the database server does not offer TLS'));
    });
  }

  /** The driver sends its farewell only on sockets that report `open`. */
  get readyState(): string {
    return this.destroyed ? 'closed' : this.writable ? 'open' : 'readOnly';
  }

  setKeepAlive(enable: boolean, delayMs: number): this {
    this.#raw.setKeepAlive(enable, delayMs);
    return this;
  }

  override _read(): void {
    this.#stream?.resume();
  }

  override _write(chunk: Buffer, encoding: BufferEncoding, callback: WriteCallback): void {
    this.readAtWrite = this.bytesRead;
    if (this.#stream === undefined) this.#waiting = () => this.#stream!.write(chunk, encoding, callback);
    else this.#stream.write(chunk, encoding, callback);
  }

  override _final(callback: WriteCallback): void {
    if (this.#stream === undefined) this.destroy();
    else this.#stream.end();
    callback();
  }

  override _destroy(error: Error | null, callback: WriteCallback): void {
    this.#stream?.destroy();
    this.#raw.destroy();
    callback(error);
  }

  override emit(event: string | symbol, ...args: unknown[]): boolean {
    if (event !== 'close') return super.emit(event, ...args);
    setTimeout(() => super.emit('close', false), END_AFTER_MS);
    return true;
  }

  #secure(host: string, ssl: unknown, further: ConnectionOptions): void {
    const unverified = ssl === 'require' || ssl === 'allow' || ssl === 'prefer';
    const stream = connect({
      socket: this.#raw,
      host,
      ...(isIP(host) === 0 ? { servername: host } : {}),
      ...further,
      ...(unverified ? { rejectUnauthorized: false } : {}),
      ...(typeof ssl === 'object' ? ssl : {}),
    });
    stream.on('error', (error) => this.destroy(error));
    stream.on('close', () => this.destroy());
    stream.once('secureConnect', () => this.#use(stream));
  }

  #use(stream: Socket): void {
    this.#stream = stream;
    stream.on('data', (chunk: Buffer) => {
      this.bytesRead += chunk.length;
      this.heardAt = performance.now();
      if (!this.push(chunk)) stream.pause();
    });
    stream.on('end', () => this.push(null));
    this.#waiting?.();
    this.#waiting = undefined;
  }
}
