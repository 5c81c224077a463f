// A part of a message while its octets are read: the fields of its header, its offsets, and the size and the sample of its body.
// `buildTree` turns the builders into the stored parts and numbers the sections (RFC 9051 §6.4.5).
import { Base64Counter } from '../decode/base64.js';
import { QuotedPrintableDecoder } from '../decode/quoted-printable.js';
import { isEncoded } from '../decode/transfer.js';
import { isUuencode, UuDecoder } from '../decode/uuencode.js';
import type { IndexedEnvelope, IndexedPart } from '../message-index.js';
import type { TextSource } from '../parts.js';
import type { BodySample } from './body-sample.js';
import type { ContentFields } from './content-fields.js';
import type { TnefPart } from './tnef-part.js';

export class PartBuilder {
  readonly headerStart: number;
  readonly parent: PartBuilder | undefined;
  /** True for the first part of its parent. */
  readonly isFirst: boolean;
  /** True within a message/rfc822 part: the part is neither a body nor an attachment of the message itself. */
  readonly isEmbedded: boolean;
  readonly parts: PartBuilder[] = [];
  content: ContentFields | undefined;
  boundary: string | undefined;
  boundaryIsOpen = false;
  envelope: IndexedEnvelope | undefined;
  bodyStart = 0;
  bodyEnd = 0;
  /** The number of the message's line feeds before the body. */
  linesBefore = 0;
  lines = 0;
  size: BodySize | undefined;
  sample: BodySample | undefined;
  tnef: TnefPart | undefined;

  constructor(headerStart: number, parent: PartBuilder | undefined) {
    this.headerStart = headerStart;
    this.parent = parent;
    this.isFirst = parent === undefined || parent.parts.length === 0;
    this.isEmbedded = parent !== undefined && (parent.isEmbedded || parent.boundary === undefined);
  }

  get isMultipart(): boolean {
    return this.boundary !== undefined && this.parts.length > 0;
  }

  get isDigest(): boolean {
    return this.boundary !== undefined && this.content?.subtype === 'digest';
  }
}

/** Counts the decoded octets of a body whose encoding changes its length. */
export class BodySize {
  readonly #base64: Base64Counter | undefined;
  readonly #other: QuotedPrintableDecoder | UuDecoder;
  #octets = 0;

  static of(encoding: string): BodySize | undefined {
    return isEncoded(encoding) ? new BodySize(encoding) : undefined;
  }

  constructor(encoding: string) {
    this.#base64 = encoding === 'base64' ? new Base64Counter() : undefined;
    this.#other = isUuencode(encoding) ? new UuDecoder() : new QuotedPrintableDecoder();
  }

  /** The file name that the encoding contains; '' when it contains none. */
  get fileName(): string {
    return this.#other instanceof UuDecoder ? this.#other.fileName : '';
  }

  /** Returns the number of line feeds in [from, to), which base64 counts in the same pass; undefined when they are not counted. */
  push(data: Buffer, from: number, to: number): number | undefined {
    if (this.#base64 !== undefined) return this.#base64.push(data, from, to);
    this.#octets += this.#other.push(data.subarray(from, to)).length;
    return undefined;
  }

  finish(): number {
    if (this.#base64 !== undefined) return this.#base64.size;
    return this.#octets + this.#other.finish().length;
  }
}

/** The builders by their parts: they have the decoded size and the sample, which the index does not keep. */
export type Builders = Map<TextSource, PartBuilder>;

export function buildTree(root: PartBuilder, builders: Builders): IndexedPart {
  return build(root, root.isMultipart ? '' : '1', '', builders);
}

/** The limits of the index limit the depth of the recursion. */
function build(builder: PartBuilder, section: string, prefix: string, builders: Builders): IndexedPart {
  const content = builder.content!;
  const parts: IndexedPart[] = [];
  if (builder.isMultipart) {
    const childPrefix = section === '' ? prefix : `${section}.`;
    for (const [i, child] of builder.parts.entries()) parts.push(build(child, `${childPrefix}${i + 1}`, '', builders));
  } else {
    for (const root of builder.parts) {
      // The root of an embedded multipart has no number; its parts continue the number of the message part.
      parts.push(build(root, root.isMultipart ? '' : `${section}.1`, `${section}.`, builders));
    }
  }
  const fields = content.type === 'multipart' && !builder.isMultipart ? asText(content) : content;
  const { type, subtype, params, id, description, encoding, disposition, dispositionParams } = fields;
  const { language, location, md5 } = fields;
  // The fields are named one by one: a copy of all fields into a larger object takes several times as long.
  const part: IndexedPart = {
    section,
    type,
    subtype,
    params,
    id,
    description,
    encoding,
    disposition,
    dispositionParams,
    language,
    location,
    headerStart: builder.headerStart,
    bodyStart: builder.bodyStart,
    bodyEnd: builder.bodyEnd,
    lines: builder.lines,
    parts,
    envelope: builder.envelope ?? null,
    ...(md5 !== undefined && { md5 }),
    ...builder.tnef?.enclosed(section),
  };
  builders.set(part, builder);
  return part;
}

/** Returns the fields of a multipart without parts as those of the text that it consists of. */
export function asText(content: ContentFields): ContentFields {
  return { ...content, type: 'text', subtype: 'plain', params: {}, encoding: '7bit' };
}
