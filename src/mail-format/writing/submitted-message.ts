// A message that its author's program submits (RFC 6409 §8), prepared for sending while it streams through: Bcc and Return-Path are
// removed, a missing Date or Message-Id is added before the other fields, and every other octet stays unchanged. Only the header is held in
// memory, up to a limit. The submission gateway checks the author.

import { rfc5322Date } from '../header/trace.js';
import { HeaderFields } from '../mime-index/header-fields.js';

/** In octets. */
const LONGEST_HEADER = 256 * 1024;
/** `Bcc` names hidden recipients; the delivering server writes `Return-Path` (RFC 5321 §4.4). */
const TAKEN_OUT = new Set(['bcc', 'resent-bcc', 'return-path']);
/** RFC 5322 §2.2; white space before the colon is obsolete syntax, which readers must accept (§4.5). */
const FIELD_NAME = /^([!-9;-~]+)[ \t]*(?=:)/;
const MESSAGE_ID = /<[^<>@\s\p{Cc}]+@[^<>@\s\p{Cc}]+>/u;
const CR = 0x0d;
const LF = 0x0a;
const SPACE = 0x20;
const TAB = 0x09;
const EMPTY = Buffer.alloc(0);

/** Thrown when the header is too large, or has a line that belongs to no field. */
export class UnusableHeader extends Error {
  override readonly name = 'UnusableHeader';
  readonly fault: 'tooLarge' | 'malformed';

  constructor(fault: 'tooLarge' | 'malformed') {
    super(`unusable header: ${fault}`);
    this.fault = fault;
  }
}

export interface Supplements {
  readonly date: Date;
  /** The id has angle brackets. */
  readonly messageId: string;
}

/** Prepares one message, in pieces of any size whose lines end in CRLF. */
export class SubmittedMessage {
  readonly #supplements: Supplements;
  #pending: Buffer = EMPTY;
  #length = 0;
  #header: HeaderFields | undefined;

  constructor(supplements: Supplements) {
    this.#supplements = supplements;
  }

  /** The number of octets in memory now. */
  get pending(): number {
    return this.#header === undefined ? this.#length : 0;
  }

  /** The header as submitted, before fields are removed and added; available when the header has ended. */
  get header(): HeaderFields {
    if (this.#header === undefined) throw new Error('the header has not come to its end');
    return this.#header;
  }

  /** Returns the octets to send; undefined while the header is incomplete. @throws UnusableHeader */
  push(piece: Uint8Array): Uint8Array | undefined {
    if (this.#header !== undefined) return piece;
    const from = Math.max(0, this.#length - 3);
    this.#append(piece);
    const start = this.#pending.subarray(0, this.#length);
    const end = headerEnd(start, from);
    if (end > LONGEST_HEADER || (end < 0 && start.length > LONGEST_HEADER + 2)) throw new UnusableHeader('tooLarge');
    return end < 0 ? undefined : this.#finish(start, end);
  }

  /** Returns the rest of a message without a body (RFC 5322 §3.5). @throws UnusableHeader */
  end(): Uint8Array | undefined {
    if (this.#header !== undefined) return undefined;
    if (this.#length > LONGEST_HEADER) throw new UnusableHeader('tooLarge');
    return this.#finish(this.#pending.subarray(0, this.#length), this.#length);
  }

  #finish(octets: Buffer, end: number): Uint8Array {
    const header = octets.subarray(0, end);
    const pieces = rewritten(header, this.#supplements);
    this.#header = new HeaderFields(header);
    this.#pending = EMPTY;
    return Buffer.concat([...pieces, octets.subarray(end)]);
  }

  /** Doubles the buffer, so that small pieces do not copy all octets each time. */
  #append(piece: Uint8Array): void {
    const length = this.#length + piece.length;
    if (this.#length === 0) this.#pending = Buffer.from(piece.buffer, piece.byteOffset, piece.length);
    else if (length <= this.#pending.length) this.#pending.set(piece, this.#length);
    else {
      const grown = Buffer.allocUnsafe(Math.max(4096, 2 * length));
      this.#pending.copy(grown, 0, 0, this.#length);
      grown.set(piece, this.#length);
      this.#pending = grown;
    }
    this.#length = length;
  }
}

/** Returns the offset of the empty line before the body; -1 when it has not arrived. */
function headerEnd(octets: Buffer, from: number): number {
  if (octets[0] === CR && octets[1] === LF) return 0;
  const at = octets.indexOf('\r\n\r\n', from, 'latin1');
  return at < 0 ? -1 : at + 2;
}

function rewritten(header: Buffer, { date, messageId }: Supplements): Buffer[] {
  const kept: Buffer[] = [];
  let hasDate = false;
  let hasMessageId = false;
  let start = 0;
  for (const { name, from, colon, to } of fieldsOf(header)) {
    const value = () => header.toString('latin1', colon + 1, to);
    let goes = TAKEN_OUT.has(name);
    if (name === 'date') {
      goes = value().trim() === '';
      hasDate ||= !goes;
    } else if (name === 'message-id') {
      goes = !MESSAGE_ID.test(value());
      hasMessageId ||= !goes;
    }
    if (!goes) continue;
    kept.push(header.subarray(start, from));
    start = to;
  }
  kept.push(header.subarray(start));
  const added = `${hasDate ? '' : `Date: ${rfc5322Date(date)}\r\n`}${hasMessageId ? '' : `Message-Id: ${messageId}\r\n`}`;
  return [Buffer.from(added, 'latin1'), ...kept];
}

interface Field {
  /** In lower case. */
  readonly name: string;
  /** Offsets in octets; `to` follows the line break of the last line. */
  readonly from: number;
  readonly colon: number;
  readonly to: number;
}

function fieldsOf(header: Buffer): readonly Field[] {
  const fields: { name: string; from: number; colon: number; to: number }[] = [];
  for (let at = 0; at < header.length; ) {
    const lineFeed = header.indexOf(LF, at);
    const end = lineFeed < 0 ? header.length : lineFeed + 1;
    const last = fields.at(-1);
    if (header[at] === SPACE || header[at] === TAB) {
      if (last === undefined) throw new UnusableHeader('malformed');
      last.to = end;
    } else {
      const [before, name] = FIELD_NAME.exec(header.toString('latin1', at, end)) ?? [];
      if (before === undefined || name === undefined) throw new UnusableHeader('malformed');
      fields.push({ name: name.toLowerCase(), from: at, colon: at + before.length, to: end });
    }
    at = end;
  }
  return fields;
}
