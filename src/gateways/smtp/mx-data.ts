// DATA at MX: the body goes into the spool, and the authentication sees the message as it passes. A large header goes into the
// spool too; such a message is authenticated after it has arrived, a few at a time. Then the content checks judge the message. The
// trace fields are written last, because they contain the results.

import { FairSemaphore } from '../../concurrency/fair-semaphore.js';
import type { Reservation } from '../../concurrency/keyed-limiter.js';
import { PacedYield } from '../../concurrency/paced-yield.js';
import type { Authenticated, Authentication } from '../../mail-format/authentication/authentication.js';
import { HeaderCollector } from '../../mail-format/header/header-collector.js';
import { incomingHeader } from '../../mail-format/header/incoming-header.js';
import type { AcceptingJudgement, CheckChain } from '../../message-checks/check-chain.js';
import type { CheckedEnvelope, CheckedPeer } from '../../message-checks/content-check.js';
import type { BodyWriter, SpooledContent } from '../../message-content/spool/spool.js';
import type { MessageStream } from './data-parser.js';
import { type DataSink, receiveData } from './receive-data.js';
import { accepting } from './replies.js';

/** Octets of a header that stays in memory, if the spool has room for it. Few headers are larger than 20 kB. */
const HEADER_IN_MEMORY = 32_768;
/** Messages with larger headers that are checked and stored at a time. */
const LARGE_AT_A_TIME = 8;

/** Shared by all connections of a listener to process large headers. */
export class LargeHeaders {
  readonly semaphore = new FairSemaphore({ total: LARGE_AT_A_TIME });
  readonly pace = new PacedYield();
}

export interface MxDataOptions {
  /** Octets of the message. */
  readonly maxSize: number;
  /** Octets of its header that are checked. */
  readonly maxHeaderSize: number;
  /** The network of the peer. */
  readonly network: string;
  readonly largeHeaders: LargeHeaders;
  /** Begins the authentication of a message whose header has arrived. */
  readonly authenticate?: ((header: Buffer) => Authentication) | undefined;
  readonly checks: CheckChain;
  readonly envelope: CheckedEnvelope;
  readonly peer: CheckedPeer;
  /** The name of this host. */
  readonly hostname: string;
  /** Trace fields; the results of the authentication and the fields of the content checks stand between the two. */
  readonly returnPath: string;
  readonly received: string;
  /** Called with the header of a message that is not accepted, if the header is in memory. */
  readonly refused?: (header: Buffer) => void;
}

export interface ReceivedMessage {
  readonly content: SpooledContent;
  readonly authenticated: Authenticated | undefined;
  readonly judgement: AcceptingJudgement;
}

/** Keeps nothing when it throws. @throws SmtpRefused, ContentRefused, SpoolFault */
export async function receiveMail(
  stream: MessageStream,
  writer: BodyWriter,
  options: MxDataOptions,
): Promise<ReceivedMessage> {
  const sink = new MxSink(writer, options);
  const { semaphore, pace } = options.largeHeaders;
  let permit: Reservation | undefined;
  let authentication: Authentication | undefined;
  try {
    await receiveData(stream, options.maxSize, sink);
    const isLarge = sink.header === undefined;
    authentication = sink.authentication;
    if (isLarge) permit = await semaphore.acquire(options.network);
    const header = sink.header ?? (await readHeader(writer, options.maxHeaderSize));
    const spooled = isLarge ? header.length : 0;
    if (isLarge) {
      await pace.yield();
      authentication = options.authenticate?.(header);
      for await (const piece of writer.read(spooled)) authentication?.write(piece);
    }
    const authenticated = await authentication?.finish();
    const message = { authenticated, chunks: () => withHeader(header, writer.read(spooled)) };
    const judgement = accepting(await options.checks.judge(message, options.envelope, options.peer));
    const trace = `${options.returnPath}${authenticated?.field ?? ''}${judgement.headers}${options.received}`;
    const { hostname, envelope, maxHeaderSize } = options;
    const messageId = header.length < maxHeaderSize ? `<${envelope.id}@${hostname}>` : undefined;
    const head = Buffer.concat([Buffer.from(trace), incomingHeader(header, { hostname, messageId })]);
    if (isLarge) await pace.yield();
    const { hash, size, index, isInMemory, chunks, release: releaseContent } = await writer.finish(head, spooled);
    const releaseAll = () => {
      releaseContent();
      permit?.release();
    };
    return { content: { hash, size, index, isInMemory, chunks, release: releaseAll }, authenticated, judgement };
  } catch (error) {
    (authentication ?? sink.authentication)?.abandon();
    if (sink.header !== undefined) options.refused?.(sink.header);
    writer.discard();
    permit?.release();
    throw error;
  }
}

/** Returns the header of the written message, up to the size that is checked. */
async function readHeader(writer: BodyWriter, most: number): Promise<Buffer> {
  const header = new HeaderCollector();
  for await (const piece of writer.read()) {
    const octets = Buffer.from(piece.buffer, piece.byteOffset, Math.min(piece.length, most - header.length));
    if (header.push(octets) !== undefined || header.length === most) break;
  }
  return header.header();
}

async function* withHeader(header: Buffer, body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield header;
  yield* body;
}

class MxSink implements DataSink {
  authentication: Authentication | undefined;
  /** Set when the message has ended; undefined for a header that is in the spool before the body. */
  header: Buffer | undefined;
  readonly #writer: BodyWriter;
  readonly #options: MxDataOptions;
  #header: HeaderCollector | undefined = new HeaderCollector();
  #inBody = false;

  constructor(writer: BodyWriter, options: MxDataOptions) {
    this.#writer = writer;
    this.#options = options;
  }

  begin(): undefined {
    return undefined;
  }

  write(chunk: Buffer): Promise<void> | undefined {
    return this.#inBody ? this.#keep(chunk) : this.#addToHeader(this.#header!, chunk);
  }

  end(): void {
    if (!this.#inBody) this.#headerEnded();
    this.header = this.#header?.header();
  }

  discard(): void {
    this.#header = undefined;
    this.#writer.discard();
  }

  #addToHeader(header: HeaderCollector, chunk: Buffer): Promise<void> | undefined {
    const before = header.length;
    const body = header.push(chunk);
    const isSmall = header.length <= Math.min(HEADER_IN_MEMORY, this.#options.maxHeaderSize);
    if (!isSmall || !this.#writer.reserve(header.length - before)) return this.#spoolHeader(header, body);
    if (body === undefined) return undefined;
    this.#headerEnded();
    return body.length > 0 ? this.#keep(body) : undefined;
  }

  #headerEnded(): void {
    this.#inBody = true;
    this.authentication = this.#options.authenticate?.(this.#header!.header());
  }

  #spoolHeader(header: HeaderCollector, body: Buffer | undefined): Promise<void> | undefined {
    this.#inBody = true;
    this.#header = undefined;
    this.#writer.unreserve();
    return this.#keep(body === undefined ? header.header() : Buffer.concat([header.header(), body]));
  }

  #keep(octets: Buffer): Promise<void> | undefined {
    this.authentication?.write(octets);
    return this.#writer.write(octets);
  }
}
