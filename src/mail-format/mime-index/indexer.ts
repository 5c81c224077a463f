// Turns the octets of a message into its MIME index, in one pass over pieces of any size. Memory does not grow with the message: it holds
// header blocks up to their limit, and the start of the first bodies for the preview. The scanner finds headers, bodies and delimiters; the
// indexer builds the part tree. Never throws.
import { isUtf8 } from 'node:buffer';
import { decodeTransfer, isEncoded } from '../decode/transfer.js';
import { headerIn } from '../header/header-lines.js';
import type { IndexedEnvelope, MessageIndex } from '../message-index.js';
import { bodyPlace, chooseBodies, isBodyText } from './body-choice.js';
import { BodySample } from './body-sample.js';
import type { Delimiter } from './boundaries.js';
import { boundaryOf, contentFields, isMessage } from './content-fields.js';
import { EnvelopeReader } from './envelope.js';
import { HeaderFields } from './header-fields.js';
import { clean, WordDecoder } from './header-text.js';
import { DEFAULT_LIMITS, type MimeLimits, type Truncation } from './limits.js';
import { asText, BodySize, type Builders, buildTree, PartBuilder } from './part-builder.js';
import { type PartEvents, PartScanner } from './part-scanner.js';
import { PreviewSamples } from './preview.js';
import { isTnef, TnefPart } from './tnef-part.js';

const LF = 0x0a;
const DELIVERED_TO = 100;
/** The most TNEF parts of a message that are opened, because the start of the texts in each is held. */
const TNEF_PARTS = 8;
/** The octets of a message in base64 that are read for its envelope. */
const ENCODED_HEADER = 32 * 1024;

export class MimeIndexer implements PartEvents {
  readonly #limits: MimeLimits;
  readonly #truncated = new Set<Truncation>();
  readonly #words = new WordDecoder();
  readonly #envelopes: EnvelopeReader;
  readonly #scanner: PartScanner;
  readonly #samples = new PreviewSamples();
  readonly #root = new PartBuilder(0, undefined);
  /** The parts from the root to the current one. */
  readonly #open: PartBuilder[] = [this.#root];
  /** The charset of the first header that declares one: the message's own, otherwise that of a text. */
  #charset: string | undefined;
  /** The envelopes that wait for the charset. The limit of all headers limits their number. */
  readonly #undeclared: (() => void)[] = [];
  #parts = 1;
  #tnefParts = 0;
  /** The number of files in all TNEF parts: at most as many as a message may have parts. */
  #tnefFiles = 0;
  #envelope: IndexedEnvelope | undefined;
  #receivedCount = 0;
  #deliveredTo: readonly string[] = [];

  constructor(limits: Partial<MimeLimits> = {}) {
    this.#limits = { ...DEFAULT_LIMITS, ...limits };
    this.#scanner = new PartScanner(this.#limits.headerOctets, this);
    this.#envelopes = new EnvelopeReader(this.#limits, this.#words, this.#truncated);
  }

  /** The caller may reuse the chunk afterwards. */
  push(chunk: Uint8Array): void {
    this.#scanner.push(chunk);
  }

  /** Called once, after the last octet. */
  finish(): MessageIndex {
    this.#scanner.finish();
    const size = this.#scanner.offset;
    while (this.#open.length > 0) this.#closeInnermost(size, this.#scanner.lines);
    for (const read of this.#undeclared) read();
    const builders: Builders = new Map();
    const root = buildTree(this.#root, builders);
    const bodies = chooseBodies(root, builders);
    return {
      version: 1,
      size,
      envelope: this.#envelope!,
      root,
      textSections: bodies.text.map((part) => part.section),
      htmlSections: bodies.html.map((part) => part.section),
      attachments: bodies.attachments,
      preview: this.#samples.preview(bodies, builders),
      receivedCount: this.#receivedCount,
      deliveredTo: this.#deliveredTo,
      truncated: [...this.#truncated],
    };
  }

  header(block: Buffer, cut: boolean, bodyStart: number, lines: number): boolean {
    if (cut) this.#truncated.add('header');
    const part = this.#open.at(-1)!;
    const fields = new HeaderFields(block, this.#charset);
    part.content = contentFields(fields, this.#words, part.parent?.isDigest === true);
    if (part.content.type === 'text' || part === this.#root) this.#charset ??= fields.charset;
    part.bodyStart = bodyStart;
    part.linesBefore = lines;
    if (part === this.#root || part.parent?.boundary === undefined) this.#readEnvelope(part, fields, block);
    if (part === this.#root) {
      this.#receivedCount = fields.receivedCount;
      this.#deliveredTo = fields
        .all('delivered-to')
        .slice(0, DELIVERED_TO)
        .map((address) => clean(address.slice(0, 1000)).toLowerCase());
    }
    return this.#enter(part);
  }

  /**
   * An envelope with octets that are neither UTF-8 nor in a charset that its header declares is read later, when the texts have declared
   * theirs.
   */
  #readEnvelope(message: PartBuilder, fields: HeaderFields, block: Buffer): void {
    const read = () => {
      const envelope = this.#envelopes.read(fields);
      if (message.parent === undefined) this.#envelope = envelope;
      else message.parent.envelope = envelope;
    };
    if (fields.charset !== undefined || isUtf8(block)) read();
    else
      this.#undeclared.push(() => {
        fields.charset = this.#charset;
        read();
      });
  }

  body(data: Buffer, from: number, to: number): number {
    const part = this.#open.at(-1)!;
    part.sample?.push(data, from, to);
    part.tnef?.push(data.subarray(from, to));
    return part.size?.push(data, from, to) ?? countLines(data, from, to);
  }

  delimiter(delimiter: Delimiter, bodyEnd: number, lines: number, next: number): boolean {
    while (this.#open.length - 1 > delimiter.level) this.#closeInnermost(bodyEnd, lines);
    const multipart = this.#open.at(-1)!;
    if (delimiter.closing) this.#forgetBoundary(multipart);
    return !delimiter.closing && this.#openPart(next);
  }

  /** Decides how the body of a part is read, when its header has ended; returns true when the body begins with a header. */
  #enter(part: PartBuilder): boolean {
    const boundary = part.content!.type === 'multipart' ? boundaryOf(part.content!) : undefined;
    if (part.content!.type === 'multipart' && boundary === undefined) part.content = asText(part.content!);
    const content = part.content!;
    const descends = boundary !== undefined || (isMessage(content) && /^(?:7bit|8bit|binary)$/.test(content.encoding));
    if (descends && this.#open.length > this.#limits.depth) {
      this.#truncated.add('depth');
      part.content = { ...content, type: 'application', subtype: 'octet-stream', params: {} };
    } else if (boundary !== undefined) {
      part.boundary = boundary;
      part.boundaryIsOpen = true;
      this.#scanner.boundaries.open(boundary, this.#open.length - 1);
      this.#samples.openPreamble(part);
      return false;
    } else if (descends) return this.#openPart(part.bodyStart);
    if (isMessage(content) && isEncoded(content.encoding)) part.sample = new BodySample(ENCODED_HEADER);
    if (part.isEmbedded) return false;
    if (isTnef(content) && this.#tnefParts++ < TNEF_PARTS) {
      part.tnef = new TnefPart(content.encoding, this.#limits.parts - this.#tnefFiles);
    }
    const place = bodyPlace(part.parent?.content, part.isFirst);
    const isText = isBodyText(part.content!, part.isFirst, place);
    if (isText) this.#samples.openText(part);
    if (!isText || place === 'undecided') part.size = BodySize.of(content.encoding);
    return false;
  }

  /** Adds a child to the innermost part; returns false when a limit is reached: the rest then belongs to the open part. */
  #openPart(headerStart: number): boolean {
    if (this.#parts >= this.#limits.parts || this.#scanner.headers.full) {
      this.#truncated.add(this.#parts >= this.#limits.parts ? 'parts' : 'header');
      this.#scanner.boundaries.clear();
      return false;
    }
    const parent = this.#open.at(-1)!;
    const part = new PartBuilder(headerStart, parent);
    parent.parts.push(part);
    this.#open.push(part);
    this.#parts++;
    return true;
  }

  #closeInnermost(bodyEnd: number, lines: number): void {
    const part = this.#open.pop()!;
    this.#forgetBoundary(part);
    part.bodyEnd = Math.max(part.bodyStart, bodyEnd);
    part.lines = Math.max(0, lines - part.linesBefore);
    part.tnef?.finish();
    this.#tnefFiles += part.tnef?.files.length ?? 0;
    if (isMessage(part.content!) && part.sample !== undefined) this.#openEncoded(part);
  }

  /**
   * Opens a message in base64, an encoding that RFC 2046 §5.2.1 forbids: its envelope is read, and its octets become one text part, since
   * sections of its other parts could not be served.
   */
  #openEncoded(part: PartBuilder): void {
    const { encoding } = part.content!;
    const octets = Buffer.from(decodeTransfer(encoding, part.sample!.octets));
    part.sample = undefined;
    if (this.#parts >= this.#limits.parts || this.#open.length >= this.#limits.depth) return;
    this.#parts++;
    const fields = new HeaderFields(headerIn(octets), this.#charset);
    part.envelope = this.#envelopes.read(fields);
    const text = new PartBuilder(part.bodyStart, part);
    text.content = { ...contentFields(new HeaderFields(Buffer.alloc(0)), this.#words, false), encoding };
    text.bodyStart = part.bodyStart;
    text.bodyEnd = part.bodyEnd;
    text.lines = part.lines;
    part.parts.push(text);
  }

  #forgetBoundary(part: PartBuilder): void {
    if (part.boundaryIsOpen) this.#scanner.boundaries.close(part.boundary!);
    part.boundaryIsOpen = false;
  }
}

/** Returns the index of a whole message in memory. */
export function indexMessage(bytes: Uint8Array, limits: Partial<MimeLimits> = {}): MessageIndex {
  const indexer = new MimeIndexer(limits);
  indexer.push(bytes);
  return indexer.finish();
}

function countLines(data: Buffer, from: number, to: number): number {
  let count = 0;
  for (let at = data.indexOf(LF, from); at >= 0 && at < to; at = data.indexOf(LF, at + 1)) count++;
  return count;
}
