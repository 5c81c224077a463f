// A connection whose octets travel compressed (RFC 4978: raw deflate, RFC 1951), as a stream in place of its socket. What is
// written in one turn is flushed once, so that the peer can read it. What the peer sends is inflated piece by piece, no further
// than somebody reads: a little that expands into much waits outside.
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { constants, createDeflateRaw, createInflateRaw, type DeflateRaw, type InflateRaw } from 'node:zlib';

/** A window of 4 kB and small tables: 32 kB a connection in place of 256. What leaves is 15 to 35 % longer for that. */
const DEFLATE = { level: 6, windowBits: 12, memLevel: 5, chunkSize: 4096, readableHighWaterMark: 16_384 };
/** The peer has chosen its window: it may be the largest. A peer that ends its side need not send the last block of deflate before. */
const INFLATE = { windowBits: 15, chunkSize: 4096, readableHighWaterMark: 16_384, finishFlush: constants.Z_SYNC_FLUSH };

type Done = (error?: Error | null) => void;

export class DeflatedSocket extends Duplex {
  readonly #socket: Socket;
  readonly #inflate: InflateRaw = createInflateRaw(INFLATE);
  readonly #deflate: DeflateRaw = createDeflateRaw(DEFLATE);
  #written = 0;
  /** The reader takes more; what it has not asked for stays compressed. */
  #isWanted = false;

  /** Nothing may wait to be written. `early`: what was read of the socket and is compressed already; the socket may have ended behind it. */
  constructor(socket: Socket, early?: Uint8Array) {
    super({ allowHalfOpen: true, decodeStrings: true });
    this.#socket = socket;
    const fail = (error: Error): void => void this.destroy(error);
    // A peer that compresses wrongly.
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

  /** Octets that were written to this stream and left it, as those of a socket; and those that wait in it. */
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

  /** The stream takes more when the socket has room. */
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
