// A message from another server: its octets out of DATA into the spool, in bounded memory and with backpressure, and checked
// as they pass. What goes before it is written when it is whole, since the results of its checks are among that. One that
// cannot be kept is still read to its end, because the reply may only come there (RFC 5321 §4.1.1.4).
import type { Authenticated, Checks } from '../../mail/authentication.js';
import { HeaderCollector } from '../../mail/header-collector.js';
import { incomingHeader } from '../../mail/incoming-header.js';
import type { BodyWriter, SpooledContent } from '../spool/spool.js';
import type { MessageStream } from './data-parser.js';
import { Refused } from './verdict.js';

export interface Arrival {
  /** Octets of the message. */
  readonly maxSize: number;
  /** Octets of its header that are checked as such. */
  readonly maxHeaderSize: number;
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
  const reading = new Reading(stream, writer, arrival);
  try {
    // Before the first await: the stream must find its reader in the turn it was made.
    const { header, checks } = await reading.end;
    if (stream.discipline.malformed) throw new Refused('bareLineEnding');
    const authenticated = await checks?.finish();
    if (authenticated?.disposition === 'reject') throw new Refused('dmarc');
    const trace = `${arrival.returnPath}${authenticated?.field ?? ''}${arrival.received}`;
    const head = Buffer.concat([Buffer.from(trace), incomingHeader(header, arrival.hostname)]);
    return { content: await writer.finish(head), authenticated };
  } catch (error) {
    reading.checks?.abandon();
    writer.discard();
    throw error;
  }
}

interface Read {
  readonly header: Buffer;
  readonly checks: Checks | undefined;
}

class Reading {
  readonly end: Promise<Read>;
  checks: Checks | undefined;
  readonly #stream: MessageStream;
  readonly #writer: BodyWriter;
  readonly #arrival: Arrival;
  readonly #header = new HeaderCollector();
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
        else resolve({ header: this.#header.header(), checks: this.checks });
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
      else this.#begin(chunk);
    });
  }

  #begin(chunk: Buffer): void {
    const before = this.#header.length;
    const body = this.#header.push(chunk);
    this.#writer.reserve(this.#header.length - before);
    // What is longer is no mail of honest people: the rest is kept as it comes, and checked as if it were the body.
    if (body === undefined && this.#header.length <= this.#arrival.maxHeaderSize) return;
    this.#headerEnded();
    if (body !== undefined && body.length > 0) this.#keep(body);
  }

  #headerEnded(): void {
    this.#inBody = true;
    this.checks = this.#arrival.authenticate?.(this.#header.header());
  }

  #keep(body: Buffer): void {
    this.checks?.write(body);
    const written = this.#writer.write(body);
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
    this.#writer.discard();
  }
}
