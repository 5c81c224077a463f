// The texts of the body of a message as a search sees them: every text part, decoded, markup as the words that it shows, and the
// headers of embedded messages; and the MIME header fields of its parts, which TEXT searches too. The MIME index says where they
// are, so attachments are not read.
import { htmlText } from '../../../mail/decode/html-text.js';
import { textOf } from '../../../mail/decode/part-text.js';
import { headerText, textCharset } from '../../../mail/field-text.js';
import type { IndexedPart, MessageIndex, OctetRange } from '../../../mail/message-index.js';

/** Octets of the texts of one message that are searched. */
const MOST_OCTETS = 1024 * 1024;

export interface BodyTextRange extends OctetRange {
  /** Undefined: the octets are a header. */
  readonly part: IndexedPart | undefined;
  /** Of the first text that declares one. */
  readonly textCharset?: string | undefined;
  /** MIME header fields of a part: of TEXT, but not of BODY (RFC 9051 §6.4.4). */
  readonly isMimeHeader: boolean;
}

/** Ascending, without overlaps. */
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
  // The limits of the index bound the headers of a message: they take nothing of the room that its texts have.
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

/** Octets of the range to text. Never throws. */
export function bodyTextOf(range: BodyTextRange, octets: Uint8Array): string {
  const { part } = range;
  if (part === undefined) return headerText(Buffer.from(octets.buffer, octets.byteOffset, octets.byteLength), range);
  const text = textOf(part, octets);
  return part.subtype === 'html' ? htmlText(text) : text;
}

/** A multipart without parts has no boundary in its text: the whole text is searched. */
const hasText = ({ type }: IndexedPart): boolean => type === 'text' || type === 'message' || type === 'multipart';
