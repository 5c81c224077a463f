// The message as it is sent: its octets, read from the blob store as the connection accepts them, and the extensions it needs, found by
// reading it once. Small messages are kept in memory for some time: one message often goes to many domains. For servers without 8BITMIME a
// message has another form (mail/writing/seven-bit), which is written while it is sent; the stored message stays unchanged.
import { isAscii, isUtf8 } from 'node:buffer';
import { LRUCache } from 'lru-cache';
import { lruCache } from '../../concurrency/lru-cache.js';
import { authorsOf } from '../../mail-format/authentication/author-domains.js';
import { headerLines } from '../../mail-format/header/header-lines.js';
import { MimeIndexer } from '../../mail-format/mime-index/indexer.js';
import { EightBitRegions, type SevenBitObstacle, sevenBitEdits } from '../../mail-format/writing/seven-bit.js';
import { rewrittenMessage, UnwritableHeader } from '../../message-content/compose/rewritten-message.js';
import type { BlobStore } from '../../store/blobs.js';

export interface OutgoingMessage {
  /** In octets. */
  readonly size: number;
  /** True when an octet is above 127 (RFC 6152). */
  readonly isEightBit: boolean;
  /** True when the header has UTF-8 in it (RFC 6532). */
  readonly hasUtf8Header: boolean;
  /** The domains of its From field, in the form for look-ups. */
  readonly authorDomains: readonly string[];
  /** True for a report about TLS (RFC 8460 §5.3). */
  readonly isTlsReport: boolean;
  /** All octets, if they are in memory. */
  readonly whole: Uint8Array | undefined;
  /** True when the octets can be sent unchanged: lines end in CRLF, and none begins with a dot. It is computed only with `whole`. */
  readonly isPlain: boolean;
  /** Reads the message from its start, any number of times. @throws StoreFault */
  chunks(): AsyncIterable<Uint8Array>;
}

const CR = 13;
const LF = 10;
const DOT = 46;

type Needs = Pick<OutgoingMessage, 'isEightBit' | 'hasUtf8Header' | 'authorDomains' | 'isTlsReport'>;

const SMALL_OCTETS = 256 * 1024;
const KEPT_OCTETS = 16 * 1024 * 1024;
const KEPT_NEEDS = 20_000;
/** The octets of a header that are read; a longer header is not read to its end. */
const HEADER_OCTETS = 256 * 1024;

export class OutgoingMessages {
  readonly #blobs: Pick<BlobStore, 'read' | 'stream'>;
  readonly #small = new LRUCache<string, OutgoingMessage>({
    maxSize: KEPT_OCTETS,
    sizeCalculation: ({ size }) => size + 500,
  });
  readonly #needs = lruCache<string, Needs>(KEPT_NEEDS);
  readonly #underWay = new Map<string, Promise<OutgoingMessage>>();

  constructor(blobs: Pick<BlobStore, 'read' | 'stream'>) {
    this.#blobs = blobs;
  }

  /** @throws StoreFault */
  async of(blob: string, size: number): Promise<OutgoingMessage> {
    const kept = this.#small.get(blob);
    if (kept !== undefined) return kept;
    let read = this.#underWay.get(blob);
    if (read === undefined) {
      read = (size <= SMALL_OCTETS ? this.#readSmall(blob, size) : this.#readLarge(blob, size)).finally(() =>
        this.#underWay.delete(blob),
      );
      this.#underWay.set(blob, read);
    }
    return read;
  }

  /** Returns the same message without octets above 127, or the reason why there is none. @throws StoreFault */
  async inSevenBits(blob: string, message: OutgoingMessage): Promise<OutgoingMessage | SevenBitObstacle> {
    const key = `${blob} 7bit`;
    const kept = this.#small.get(key);
    if (kept !== undefined) return kept;
    const chunks = await sevenBitChunks(message);
    if (typeof chunks === 'string') return chunks;
    const { authorDomains, isTlsReport } = message;
    const needs = { isEightBit: false, hasUtf8Header: false, authorDomains, isTlsReport };
    try {
      let size = 0;
      const pieces: Uint8Array[] = [];
      for await (const piece of chunks()) {
        size += piece.length;
        if (message.whole !== undefined) pieces.push(piece);
      }
      if (message.whole === undefined) return { ...needs, size, whole: undefined, isPlain: false, chunks };
      const content = inMemory(Buffer.concat(pieces), needs);
      this.#small.set(key, content);
      return content;
    } catch (error) {
      if (error instanceof UnwritableHeader) return 'header';
      throw error;
    }
  }

  async #readSmall(blob: string, size: number): Promise<OutgoingMessage> {
    const whole = size === 0 ? new Uint8Array(0) : await this.#blobs.read(blob, 0, size);
    const scan = new NeedsScan();
    scan.add(whole);
    const content = inMemory(whole, scan.needs());
    this.#small.set(blob, content);
    return content;
  }

  async #readLarge(blob: string, size: number): Promise<OutgoingMessage> {
    const chunks = () => this.#blobs.stream(blob, 0, size);
    let needs = this.#needs.get(blob);
    if (needs === undefined) {
      const scan = new NeedsScan();
      for await (const chunk of chunks()) scan.add(chunk);
      needs = scan.needs();
      this.#needs.set(blob, needs);
    }
    return { size, ...needs, whole: undefined, isPlain: false, chunks };
  }
}

const inMemory = (whole: Uint8Array, needs: Needs): OutgoingMessage => ({
  ...needs,
  size: whole.length,
  whole,
  isPlain: isPlain(whole),
  chunks: () => once(whole),
});

/** Reads the message twice before it returns, and once each time that the chunks are read. */
async function sevenBitChunks(message: OutgoingMessage): Promise<OutgoingMessage['chunks'] | SevenBitObstacle> {
  const indexer = new MimeIndexer();
  for await (const piece of message.chunks()) indexer.push(piece);
  const index = indexer.finish();
  const regions = new EightBitRegions(index);
  for await (const piece of message.chunks()) regions.push(piece);
  const edits = sevenBitEdits(index, regions);
  if (typeof edits === 'string') return edits;
  return async function* () {
    // Readers ignore what is between parts (RFC 2046 §5.1.1).
    for await (const piece of rewrittenMessage(message, edits)) yield isAscii(piece) ? piece : withoutEightBit(piece);
  };
}

const QUESTION_MARK = 63;
const withoutEightBit = (octets: Uint8Array): Uint8Array =>
  octets.map((octet) => (octet > 127 ? QUESTION_MARK : octet));

function isPlain({ buffer, byteOffset, length }: Uint8Array): boolean {
  const octets = Buffer.from(buffer, byteOffset, length);
  for (let start = 0, end: number; start < octets.length; start = end + 1) {
    end = octets.indexOf(LF, start);
    if (end <= start || octets[start] === DOT || octets.indexOf(CR, start) !== end - 1) return false;
  }
  return length > 0;
}

async function* once(whole: Uint8Array): AsyncGenerator<Uint8Array> {
  yield whole;
}

/** Finds what a message needs, in pieces of any size. */
class NeedsScan {
  #isEightBit = false;
  #header: Uint8Array[] = [];
  #headerOctets = 0;
  #inHeader = true;

  add(chunk: Uint8Array): void {
    if (!this.#isEightBit && !isAscii(chunk)) this.#isEightBit = true;
    if (!this.#inHeader) return;
    this.#header.push(chunk.subarray(0, HEADER_OCTETS - this.#headerOctets));
    this.#headerOctets += chunk.length;
    // Pieces are large and headers small, so the end is rarely searched for twice.
    if (this.#headerOctets >= HEADER_OCTETS || Buffer.concat(this.#header).includes('\r\n\r\n')) this.#inHeader = false;
  }

  needs(): Needs {
    const octets = Buffer.concat(this.#header);
    const end = octets.indexOf('\r\n\r\n');
    const header = end === -1 ? octets : octets.subarray(0, end + 2);
    const isEightBit = this.#isEightBit;
    // Some senders write octets above 127 that are not UTF-8: such headers can be sent only with 8BITMIME.
    const hasUtf8Header = isEightBit && !isAscii(header) && isUtf8(header);
    const lines = headerLines(header);
    const isTlsReport = lines.some(({ name }) => name === 'tls-report-domain');
    return { isEightBit, hasUtf8Header, authorDomains: authorsOf(lines).domains, isTlsReport };
  }
}
