// The texts of a message's body as a search sees them: every text part, decoded, with HTML reduced to its words, the
// headers of embedded messages, and the MIME header fields of parts, which TEXT searches too. The MIME index contains their
// positions, so attachments are not read.
import { htmlText } from '../../../mail-format/decode/html-text.js';
import { textOf } from '../../../mail-format/decode/part-text.js';
import { headerText, textCharset } from '../../../mail-format/header/field-text.js';
import type { IndexedPart, MessageIndex, OctetRange } from '../../../mail-format/message-index.js';

/** Octets of the texts of one message that are searched. */
const MOST_OCTETS = 1024 * 1024;

export interface BodyTextRange extends OctetRange {
  /** Undefined means that the octets are a header. */
  readonly part: IndexedPart | undefined;
  /** The charset of the first text that declares one. */
  readonly textCharset?: string | undefined;
  /** Whether the range has MIME header fields of a part, which TEXT searches and BODY does not (RFC 9051 §6.4.4). */
  readonly isMimeHeader: boolean;
}

/** Returns ascending ranges without overlaps. */
export function bodyTextRanges(index: MessageIndex): BodyTextRange[] {
  const charset = textCharset(index);
  const ranges: BodyTextRange[] = [];
  let left = MOST_OCTETS;
  const add = (part: IndexedPart | undefined, start: number, wholeEnd: number): void => {
    const end = Math.min(wholeEnd, start + left);
    if (end <= start) return;
    left -= end - start;
    ranges.push({ part, start, end, textCharset: charset, isMimeHeader: false });
  };
  // The limits of the index bound these headers, so they do not count against the texts.
  const addMimeHeader = ({ headerStart: start, bodyStart: end }: IndexedPart): void => {
    if (end > start) ranges.push({ part: undefined, start, end, textCharset: charset, isMimeHeader: true });
  };
  const inMultipart = new Set<IndexedPart>();
  const open = [index.root];
  for (let part = open.pop(); part !== undefined; part = open.pop()) {
    for (let i = part.parts.length - 1; i >= 0; i--) open.push(part.parts[i]!);
    if (inMultipart.has(part)) addMimeHeader(part);
    if (part.type === 'multipart') for (const inner of part.parts) inMultipart.add(inner);
    const isEmbedding = part.type === 'message' && part.parts.length > 0;
    if (isEmbedding) add(undefined, part.parts[0]!.headerStart, part.parts[0]!.bodyStart);
    else if (part.parts.length === 0 && hasText(part)) add(part, part.bodyStart, part.bodyEnd);
  }
  return ranges;
}

/** Decodes the octets of the range to text. Never throws. */
export function bodyTextOf(range: BodyTextRange, octets: Uint8Array): string {
  const { part } = range;
  if (part === undefined) return headerText(Buffer.from(octets.buffer, octets.byteOffset, octets.byteLength), range);
  const text = textOf(part, octets);
  return part.subtype === 'html' ? htmlText(text) : text;
}

/** A multipart without parts has no boundary in its text, so the whole text is searched. */
const hasText = ({ type }: IndexedPart): boolean => type === 'text' || type === 'message' || type === 'multipart';
