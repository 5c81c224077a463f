// The parts of a message as regions of octets, and the edits of a part: its header folded or without 8-bit octets, its body in another
// transfer encoding. The decoded content of a part stays the same octet for octet.
import { asciiHeader } from '../header/ascii-header.js';
import { foldedHeader } from '../header/header-folding.js';
import { headerLines } from '../header/header-lines.js';
import type { IndexedPart, MessageIndex } from '../message-index.js';

/** The header of a part, or the body of a part without children. Offsets are those of the index. */
export interface PartRegion {
  readonly kind: 'header' | 'body';
  readonly start: number;
  readonly end: number;
  readonly part: IndexedPart;
  /** True when the part's header is the header of a message: an encoding in it needs MIME-Version. */
  readonly isMessage: boolean;
  /** True within a multipart/signed: no octet of it may change. */
  readonly isSigned: boolean;
}

/** Returns the regions in the order of the message; only the header when the index does not have all parts. */
export function partRegions(index: MessageIndex): PartRegion[] {
  if (index.truncated.includes('header')) return [];
  const regions = regionsOf(index.root, true, false);
  return index.truncated.some((limit) => limit !== 'addresses') ? regions.slice(0, 1) : regions;
}

function regionsOf(part: IndexedPart, isMessage: boolean, isSigned: boolean): PartRegion[] {
  const { headerStart, bodyStart, bodyEnd, parts } = part;
  const about = { part, isMessage, isSigned };
  const header: PartRegion = { kind: 'header', start: headerStart, end: bodyStart, ...about };
  if (parts.length === 0) return [header, { kind: 'body', start: bodyStart, end: bodyEnd, ...about }];
  const signs = isSigned || (part.type === 'multipart' && part.subtype === 'signed');
  return [header, ...parts.flatMap((child) => regionsOf(child, part.type === 'message', signs))];
}

export type EncodedAs = 'quoted-printable' | 'base64';

/** The edit of a part; what is absent stays unchanged. */
export interface PartEdit {
  readonly part: IndexedPart;
  readonly isMessage: boolean;
  readonly isFolded?: boolean;
  /** True when the header must have no octet above 127. */
  readonly isAscii?: boolean;
  /** `7bit` changes only the label: the body stays. */
  readonly to?: EncodedAs | '7bit' | undefined;
}

const ENCODINGS = new Set(['7bit', '8bit', 'binary', 'quoted-printable', 'base64']);
/** Returns the encoding that a body without parts may get; undefined when it must stay. */
export function encodingFor({ type, subtype, encoding }: IndexedPart): EncodedAs | undefined {
  // RFC 2045 §6.4: messages are not encoded, except those in UTF-8 (RFC 6532 §3.7, RFC 6533 §5).
  const isText = type === 'text' || (type === 'message' && /^global(?:-|$)/.test(subtype));
  if (type === 'multipart' || (type === 'message' && !isText) || !ENCODINGS.has(encoding)) return undefined;
  return encoding === 'base64' || !isText ? 'base64' : 'quoted-printable';
}

const EMPTY_LINE = '\r\n';

/** Returns the header of a part after the edit; undefined when the edit is impossible. */
export function editedHeader(header: Buffer, { part, isMessage, isFolded, isAscii, to }: PartEdit): Buffer | undefined {
  const hasBody = part.bodyStart < part.bodyEnd;
  let edited: Buffer | undefined = to === undefined ? header : relabelled(header, to, isMessage, hasBody);
  if (isAscii && edited !== undefined) edited = asciiHeader(edited, part.params['charset']);
  return (isFolded || isAscii) && edited !== undefined ? foldedHeader(edited) : edited;
}

/** Returns undefined when the header of a body does not end in an empty line. */
function relabelled(header: Buffer, to: string, isMessage: boolean, hasBody: boolean): Buffer | undefined {
  const text = header.toString('latin1');
  const isEnded = text === EMPTY_LINE || text.endsWith(`\r\n${EMPTY_LINE}`);
  if (!isEnded && (hasBody || !text.endsWith('\r\n'))) return undefined;
  const lines = headerLines(header);
  const kept = lines.filter(({ name }) => name !== 'content-transfer-encoding');
  const version = isMessage && !lines.some(({ name }) => name === 'mime-version') ? 'MIME-Version: 1.0\r\n' : '';
  const fields = kept.map(({ start, end }) => text.slice(start, end)).join('');
  return Buffer.from(`${fields}${version}Content-Transfer-Encoding: ${to}\r\n${isEnded ? EMPTY_LINE : ''}`, 'latin1');
}
