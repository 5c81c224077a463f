// A message from another server: its octets out of DATA into the spool, in bounded memory and with backpressure, and checked
// as they pass. A header that is large goes into the spool too, and such a message is checked when it has arrived, a few at a
// time. What goes before a message is written when it is whole, since the results of its checks are among that. One that
// cannot be kept is still read to its end, because the reply may only come there (RFC 5321 §4.1.1.4).
import { FairSemaphore } from '../../bounds/fair-semaphore.js';
import { Turns } from '../../bounds/turns.js';
import type { Authenticated, Checks } from '../../mail/authentication.js';
import { HeaderCollector } from '../../mail/header-collector.js';
import { incomingHeader } from '../../mail/incoming-header.js';
import type { BodyWriter, SpooledContent } from '../../spool/spool.js';
import type { MessageStream } from './data-parser.js';
import { Refused } from './replies.js';

/** Octets of a header that is kept in memory, if the spool has room for it. Few are larger than 20 kB. */
const HEADER_IN_MEMORY = 32_768;
/** Messages with larger ones that are checked and stored at a time. */
const LARGE_AT_A_TIME = 8;

/** What one listener does with large headers, of whatever connection. */
export class LargeHeaders {
  readonly semaphore = new FairSemaphore({ total: LARGE_AT_A_TIME });
  readonly turns = new Turns();
}

export interface Arrival {
  /** Octets of the message. */
  readonly maxSize: number;
  /** Octets of its header that are checked as such. */
  readonly maxHeaderSize: number;
  /** The network that it comes from. */
  readonly network: string;
  readonly largeHeaders: LargeHeaders;
  /** Begins the checks of a message whose header has arrived. */
  readonly authenticate?: ((header: Buffer) => Checks) | undefined;
  /** Our own name. */
  readonly hostname: string;
  /** Trace fields: what was found out stands between them. */
  readonly returnPath: string;
  readonly received: string;
}

export interface ArrivedMessage {
  readonly content: SpooledContent;
  readonly authenticated: Authenticated | undefined;
}

/**
 * Reads the stream to its end.
 * @throws Refused when too large, malformed, cut off or not what its author's domain lets pass; SpoolFault. Nothing is kept
 * then.
 */
export async function arrive(stream: MessageStream, writer: BodyWriter, arrival: Arrival): Promise<ArrivedMessage> {
  const reception = new Reception(stream, writer, arrival);
  const { semaphore, turns } = arrival.largeHeaders;
  let release = () => {};
  let checks: Checks | undefined;
  try {
    // Before the first await: the stream must find its reader in the turn it was made.
    let { header } = await reception.end;
    if (stream.discipline.malformed) throw new Refused('bareLineEnding');
    checks = reception.checks;
    const isLarge = header === undefined;
    let spooled = 0;
    if (header === undefined) {
      release = await semaphore.acquire(arrival.network);
      header = await readHeader(writer, arrival.maxHeaderSize);
      spooled = header.length;
      await turns.next();
      checks = arrival.authenticate?.(header);
      for await (const piece of writer.read(spooled)) checks?.write(piece);
    }
    const authenticated = await checks?.finish();
    if (authenticated?.disposition === 'reject') throw new Refused('dmarc');
    const trace = `${arrival.returnPath}${authenticated?.field ?? ''}${arrival.received}`;
    const head = Buffer.concat([Buffer.from(trace), incomingHeader(header, arrival.hostname)]);
    if (isLarge) await turns.next();
    const content = await writer.finish(head, spooled);
    const releaseAll = () => {
      content.release();
      release();
    };
    return { content: { ...content, release: releaseAll }, authenticated };
  } catch (error) {
    (checks ?? reception.checks)?.abandon();
    writer.discard();
    release();
    throw error;
  }
}

/** The header of what was written, or as much of it as is checked. */
async function readHeader(writer: BodyWriter, most: number): Promise<Buffer> {
  const header = new HeaderCollector();
  for await (const piece of writer.read()) {
    const octets = Buffer.from(piece.buffer, piece.byteOffset, Math.min(piece.length, most - header.length));
    if (header.push(octets) !== undefined || header.length === most) break;
  }
  return header.header();
}

class Reception {
  /** `header`: undefined for one that is in the spool, before the body. */
  readonly end: Promise<{ readonly header: Buffer | undefined }>;
  checks: Checks | undefined;
  readonly #stream: MessageStream;
  readonly #writer: BodyWriter;
  readonly #arrival: Arrival;
  #header: HeaderCollector | undefined = new HeaderCollector();
  #inBody = false;
  #size = 0;
  #failure: unknown;

  constructor(stream: MessageStream, writer: BodyWriter, arrival: Arrival) {
    this.#stream = stream;
    this.#writer = writer;
    this.#arrival = arrival;
    this.end = new Promise((resolve, reject) => {
      let ended = false;
      stream.on('data', (chunk: Buffer) => this.#take(chunk));
      stream.once('end', () => {
        ended = true;
        if (!this.#inBody) this.#try(() => this.#headerEnded());
        if (this.#failure !== undefined) reject(this.#failure);
        else resolve({ header: this.#header?.header() });
      });
      stream.once('error', () => undefined);
      stream.once('close', () => {
        if (!ended) reject(new Refused('connectionLost'));
      });
    });
  }

  #take(chunk: Buffer): void {
    this.#size += chunk.length;
    this.#try(() => {
      if (this.#size > this.#arrival.maxSize) throw new Refused('tooLarge');
      if (this.#stream.discipline.malformed) throw new Refused('bareLineEnding');
      if (this.#inBody) this.#keep(chunk);
      else this.#begin(this.#header!, chunk);
    });
  }

  #begin(header: HeaderCollector, chunk: Buffer): void {
    const before = header.length;
    const body = header.push(chunk);
    const isSmall = header.length <= Math.min(HEADER_IN_MEMORY, this.#arrival.maxHeaderSize);
    if (!isSmall || !this.#writer.reserve(header.length - before)) this.#spoolHeader(header, body);
    else if (body !== undefined) {
      this.#headerEnded();
      if (body.length > 0) this.#keep(body);
    }
  }

  #headerEnded(): void {
    this.#inBody = true;
    this.checks = this.#arrival.authenticate?.(this.#header!.header());
  }

  #spoolHeader(header: HeaderCollector, body: Buffer | undefined): void {
    this.#inBody = true;
    this.#header = undefined;
    this.#writer.unreserve();
    this.#keep(body === undefined ? header.header() : Buffer.concat([header.header(), body]));
  }

  #keep(octets: Buffer): void {
    this.checks?.write(octets);
    const written = this.#writer.write(octets);
    if (written === undefined) return;
    this.#stream.pause();
    written.catch((error) => this.#fail(error)).finally(() => this.#stream.resume());
  }

  /** After a failure the rest is read and forgotten. */
  #try(step: () => void): void {
    if (this.#failure !== undefined) return;
    try {
      step();
    } catch (error) {
      this.#fail(error);
    }
  }

  #fail(error: unknown): void {
    this.#failure ??= error;
    this.#header = undefined;
    this.#writer.discard();
  }
}
