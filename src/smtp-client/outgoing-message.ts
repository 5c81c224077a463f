// The message as it is sent: its octets, read from the blob store as the connection takes them, and the extensions it needs,
// found by reading it once. Small messages are kept in memory for a while: one message often goes to many domains.
import { isAscii, isUtf8 } from 'node:buffer';
import { LRUCache } from 'lru-cache';
import { authorsOf } from '../mail/author-domains.js';
import { headerLines } from '../mail/header-lines.js';
import type { BlobStore } from '../store/blobs.js';

export interface OutgoingMessage {
  /** Octets. */
  readonly size: number;
  /** Some octet is above 127 (RFC 6152). */
  readonly isEightBit: boolean;
  /** Its header has UTF-8 in it (RFC 6532). */
  readonly hasUtf8Header: boolean;
  /** Of its From field, as they are looked up. */
  readonly authorDomains: readonly string[];
  /** All octets, when they are in memory. */
  readonly whole: Uint8Array | undefined;
  /** They can go out as they are: lines that end in CRLF, none of which begins with a dot. Not looked at without `whole`. */
  readonly isPlain: boolean;
  /** From the start, any number of times. @throws StoreFault */
  chunks(): AsyncIterable<Uint8Array>;
}

const CR = 13;
const LF = 10;
const DOT = 46;

type Needs = Pick<OutgoingMessage, 'isEightBit' | 'hasUtf8Header' | 'authorDomains'>;

const SMALL_OCTETS = 256 * 1024;
const KEPT_OCTETS = 16 * 1024 * 1024;
const KEPT_NEEDS = 20_000;
/** A longer header is not looked at to its end. */
const HEADER_OCTETS = 256 * 1024;

export class OutgoingMessages {
  readonly #blobs: Pick<BlobStore, 'read' | 'stream'>;
  readonly #small = new LRUCache<string, OutgoingMessage>({
    maxSize: KEPT_OCTETS,
    sizeCalculation: ({ size }) => size + 500,
  });
  readonly #needs = new LRUCache<string, Needs>({ max: KEPT_NEEDS });
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

  async #readSmall(blob: string, size: number): Promise<OutgoingMessage> {
    const whole = size === 0 ? new Uint8Array(0) : await this.#blobs.read(blob, 0, size);
    const scan = new NeedsScan();
    scan.add(whole);
    const content = { size, ...scan.needs(), whole, isPlain: isPlain(whole), chunks: () => once(whole) };
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

/** What a message needs, found in pieces of any size. */
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
    // Pieces are large and headers small: the end is hardly ever looked for twice.
    if (this.#headerOctets >= HEADER_OCTETS || Buffer.concat(this.#header).includes('\r\n\r\n')) this.#inHeader = false;
  }

  needs(): Needs {
    const octets = Buffer.concat(this.#header);
    const end = octets.indexOf('\r\n\r\n');
    const header = end === -1 ? octets : octets.subarray(0, end + 2);
    const isEightBit = this.#isEightBit;
    // Octets above 127 that are no UTF-8 are an old custom: 8BITMIME is all they can be sent with.
    const hasUtf8Header = isEightBit && !isAscii(header) && isUtf8(header);
    return { isEightBit, hasUtf8Header, authorDomains: authorsOf(headerLines(header)).domains };
  }
}
