// A connection with compressed octets (RFC 4978: raw deflate, RFC 1951), as a stream that replaces its socket. Writes of one turn are
// flushed once, so that the peer can read them. Input is inflated piece by piece, only as far as somebody reads: a little input that
// expands into much waits in compressed form.
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { constants, createDeflateRaw, createInflateRaw, type DeflateRaw, type InflateRaw } from 'node:zlib';

/** A window of 4 kB and small tables take 32 kB per connection instead of 256 kB; the output is 15 to 35 % longer. */
const DEFLATE = { level: 6, windowBits: 12, memLevel: 5, chunkSize: 4096, readableHighWaterMark: 16_384 };
/** The peer chooses its window, so the largest is allowed. A peer that ends its side need not send the last block of deflate before. */
const INFLATE = { windowBits: 15, chunkSize: 4096, readableHighWaterMark: 16_384, finishFlush: constants.Z_SYNC_FLUSH };

type Done = (error?: Error | null) => void;

export class DeflatedSocket extends Duplex {
  readonly #socket: Socket;
  readonly #inflate: InflateRaw = createInflateRaw(INFLATE);
  readonly #deflate: DeflateRaw = createDeflateRaw(DEFLATE);
  #written = 0;
  /** The reader wants more; until then, input stays compressed. */
  #isWanted = false;

  /** No write may be pending. `early`: octets already read from the socket, which are compressed; the socket may have ended after them. */
  constructor(socket: Socket, early?: Uint8Array) {
    super({ allowHalfOpen: true, decodeStrings: true });
    this.#socket = socket;
    const fail = (error: Error): void => void this.destroy(error);
    // The peer compresses wrongly.
    this.#inflate.on('error', fail);
    this.#deflate.on('error', fail);
    socket.on('error', fail);
    socket.on('close', () => this.destroy());
    this.#inflate.on('readable', () => this.#forward());
    this.#inflate.on('end', () => this.push(null));
    if (early !== undefined) this.#inflate.write(early);
    if (socket.readableEnded) this.#inflate.end();
    else socket.pipe(this.#inflate);
    this.#deflate.pipe(socket);
  }

  /** Octets that were written to this stream, as a socket counts them: those that left it and those that wait in it. */
  get bytesWritten(): number {
    return this.#written + this.writableLength;
  }

  override _read(): void {
    this.#isWanted = true;
    this.#forward();
  }

  override _write(octets: Buffer, _encoding: BufferEncoding, done: Done): void {
    this.#deflate.write(octets);
    this.#flush(octets.length, done);
  }

  override _writev(chunks: readonly { readonly chunk: Buffer }[], done: Done): void {
    let octets = 0;
    for (const { chunk } of chunks) {
      this.#deflate.write(chunk);
      octets += chunk.length;
    }
    this.#flush(octets, done);
  }

  /** Calls `done`, after which the stream accepts more, when the socket has room. */
  #flush(octets: number, done: Done): void {
    this.#deflate.flush(constants.Z_SYNC_FLUSH, () => {
      const sent = (): void => {
        this.#written += octets;
        done();
      };
      if (this.#socket.writableNeedDrain) this.#socket.once('drain', sent);
      else sent();
    });
  }

  #forward(): void {
    while (this.#isWanted) {
      const octets: Buffer | null = this.#inflate.read();
      if (octets === null) return;
      this.#isWanted = this.push(octets);
    }
  }

  override _final(done: Done): void {
    this.#deflate.end(() => done());
  }

  override _destroy(error: Error | null, done: Done): void {
    this.#inflate.destroy();
    this.#deflate.destroy();
    this.#socket.destroy();
    done(error);
  }
}
