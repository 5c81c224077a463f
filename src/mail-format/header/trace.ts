// Trace fields before a received message (RFC 5321 §4.4). Text that a peer chose is reduced to characters that cannot end the line, open a
// comment or look like another clause. Lines end in CRLF.

export interface Received {
  /** The sending host; absent for a submitted message, whose author keeps that private. */
  readonly from?: {
    /** The name in HELO or EHLO. */
    readonly helo: string;
    readonly remoteAddress: string;
  };
  /** The name of this server. */
  readonly hostName: string;
  /** RFC 3848, RFC 6531: `ESMTP`, `ESMTPS`, `ESMTPSA`, `UTF8SMTPS` … */
  readonly protocol: string;
  readonly id: string;
  /** Set only for a message with a single recipient: recipients must not see each other. */
  readonly recipient?: string | undefined;
  /** The time of receipt. */
  readonly date: Date;
}

const WIDTH = 78;
const LONGEST_WORD = 255;

/** Returns `Return-Path: <reverse-path>`; an empty one is the null reverse-path of bounces. */
export function returnPathLine(reversePath: string): string {
  return `Return-Path: <${path(reversePath)}>\r\n`;
}

/** Returns one `Received:` field, folded. */
export function receivedLine(received: Received): string {
  const { from } = received;
  const clauses = [
    ...(from === undefined ? [] : [`from ${name(from.helo)}`, `(${addressLiteral(from.remoteAddress)})`]),
    `by ${name(received.hostName)}`,
    `with ${name(received.protocol)}`,
    `id ${name(received.id)}`,
  ];
  if (received.recipient !== undefined) clauses.push(`for <${path(received.recipient)}>`);
  return `${fold('Received:', [...clauses, ';', rfc5322Date(received.date)])}\r\n`;
}

/** RFC 5322 §3.3 in UTC. */
export function rfc5322Date(date: Date): string {
  return date.toUTCString().replace('GMT', '+0000');
}

/** Joins the pieces by spaces, with a new line before one that would not fit; `;` follows the previous piece directly. */
function fold(fieldName: string, pieces: readonly string[]): string {
  let text = fieldName;
  let column = fieldName.length;
  for (const piece of pieces) {
    if (piece === ';') {
      text += piece;
      column++;
      continue;
    }
    const fits = column + 1 + piece.length < WIDTH;
    text += fits ? ` ${piece}` : `\r\n\t${piece}`;
    // A tab counts as eight columns, its usual width.
    column = fits ? column + 1 + piece.length : 8 + piece.length;
  }
  return text;
}

/** Cleans a host name, literal, protocol or id: the result is one word. */
function name(text: string): string {
  const safe = text.slice(0, LONGEST_WORD).replace(/[^\p{L}\p{N}\p{M}._:[\]/+-]/gu, '?');
  return safe === '' ? 'unknown' : safe;
}

/** Returns text that stands in angle brackets. */
function path(text: string): string {
  return text.slice(0, 2 * LONGEST_WORD).replace(/[\p{Cc}\p{Cs}\u2028\u2029<>]/gu, '');
}

/** RFC 5321 §4.1.3. */
function addressLiteral(remote: string): string {
  const address = remote.replace(/^::ffff:(?=\d+\.)/i, '').replace(/[^0-9a-f:.]/gi, '');
  return address.includes(':') ? `[IPv6:${address}]` : `[${address}]`;
}
