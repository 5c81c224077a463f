// The parts of a message that form its bodies: which parts they are, how many octets they have, and the octets themselves.
import { isUtf8 } from 'node:buffer';
import type { BodyPart } from '../../mail-format/decode/bodies.js';
import { isVerbatim } from '../../mail-format/decode/part-text.js';
import type { IndexedPart, MessageIndex, OctetRange } from '../../mail-format/message-index.js';
import { enclosedSources, type TextSource } from '../../mail-format/parts.js';

/** Reads octets of the message; each range comes in its own buffer, which the caller owns. */
export type ReadRanges = (ranges: readonly OctetRange[], signal?: AbortSignal) => Promise<readonly Uint8Array[]>;

/** The parts of the text body and of the HTML body, in the order of the message. */
export function bodyParts(index: MessageIndex): TextSource[] {
  const sections = new Set([...index.textSections, ...index.htmlSections]);
  const found: TextSource[] = [];
  // Embedded messages are attachments: no part of them belongs to the body.
  const walk = (part: IndexedPart): void => {
    if (part.type === 'multipart') for (const child of part.parts) walk(child);
    else if (sections.has(part.section)) found.push(part);
    else if (part.enclosed) found.push(...enclosedSources(part).filter(({ section }) => sections.has(section)));
  };
  walk(index.root);
  return found;
}

/** Raw octets of the bodies of a message. */
export function bodyOctets(index: MessageIndex): number {
  return octetsOf(bodyParts(index));
}

export function octetsOf(parts: readonly TextSource[]): number {
  return parts.reduce((sum, part) => sum + part.bodyEnd - part.bodyStart, 0);
}

/** Whether each part can be shown unchanged: no encoding, no format, and no HTML that has to become text. */
export function areVerbatim(index: MessageIndex, parts: readonly TextSource[]): boolean {
  const text = new Set(index.textSections);
  return parts.every((part) => isVerbatim(part) && (part.subtype !== 'html' || !text.has(part.section)));
}

/** Octets are copied when they keep more than this many times their size in memory. */
const MOST_HELD = 4;

/**
 * The octets of a text body that is one part and needs no decoding: a view of the message, or a copy when a view would keep too
 * much in memory.
 */
export function verbatimText(index: MessageIndex, message: Uint8Array): Buffer | undefined {
  const [part, ...others] = bodyParts(index);
  if (part === undefined || others.length > 0 || !areVerbatim(index, [part])) return undefined;
  const octets = Buffer.from(message.buffer, message.byteOffset + part.bodyStart, part.bodyEnd - part.bodyStart);
  if (!isUtf8(octets) || octets.includes(0)) return undefined;
  return octets.buffer.byteLength > MOST_HELD * octets.length ? Buffer.from(octets) : octets;
}

/** Reads at most `limit` octets of the parts, all in one call of `read`. */
export async function readParts(
  index: MessageIndex,
  chosen: readonly TextSource[],
  limit: number,
  read: ReadRanges,
  signal: AbortSignal | undefined,
): Promise<BodyPart[]> {
  const text = new Set(index.textSections);
  const html = new Set(index.htmlSections);
  const parts: { readonly part: TextSource; readonly range: OctetRange }[] = [];
  let left = limit;
  for (const part of chosen) {
    const { bodyStart: start } = part;
    const end = Math.min(part.bodyEnd, start + left);
    if (end === start) continue;
    left -= end - start;
    parts.push({ part, range: { start, end } });
  }
  const ranges = parts.map(({ range }) => range);
  const bytes = ranges.length === 0 ? [] : await read(ranges, signal);
  return parts.map(({ part }, i) => ({
    subtype: part.subtype,
    encoding: part.encoding,
    params: part.params,
    ...(part.within && { within: part.within }),
    inText: text.has(part.section),
    inHtml: html.has(part.section),
    bytes: bytes[i]!,
  }));
}
