// The header of a message as a list of fields that keeps every octet, for code that signs, verifies and removes fields. The
// reader of the MIME index keeps values instead of octets.

export interface HeaderLine {
  /** In lower case; '' for a line that is not a field. */
  readonly name: string;
  /** The field as written, folded, without its last line end; one character per octet. */
  readonly raw: string;
  /** The octets [start, end) of the header, including the line end. */
  readonly start: number;
  readonly end: number;
}

const LINE_FEED = 0x0a;
const SPACE = 0x20;
const TAB = 0x09;

/** Returns the fields in order, without the empty line at the end. */
export function headerLines(header: Buffer): readonly HeaderLine[] {
  const text = header.toString('latin1');
  const lines: HeaderLine[] = [];
  let start = 0;
  while (start < header.length) {
    let end = lineEnd(header, start);
    while (isFolding(header[end])) end = lineEnd(header, end);
    const raw = text.slice(start, end).replace(/\r?\n$/, '');
    if (raw !== '') lines.push({ name: nameOf(raw), raw, start, end });
    start = end;
  }
  return lines;
}

/** Returns the header at the start of a message, including its empty line; all octets when there is no empty line. */
export function headerIn(message: Buffer): Buffer {
  for (let at = 0; at < message.length; ) {
    const end = lineEnd(message, at);
    if (end - at <= 2 && /^\r?\n$/.test(message.toString('latin1', at, end))) return message.subarray(0, end);
    at = end;
  }
  return message;
}

/** Returns the text after the colon, unfolded. */
export function fieldValue({ raw }: HeaderLine): string {
  return raw.slice(raw.indexOf(':') + 1).replace(/\r?\n(?=[ \t])/g, '');
}

function lineEnd(header: Buffer, from: number): number {
  const at = header.indexOf(LINE_FEED, from);
  return at < 0 ? header.length : at + 1;
}

function isFolding(octet: number | undefined): boolean {
  return octet === SPACE || octet === TAB;
}

/** RFC 5322 §4.5: obsolete syntax has white space before the colon. */
function nameOf(raw: string): string {
  const name = raw.slice(0, Math.max(0, raw.indexOf(':'))).trimEnd();
  return /^[!-9;-~]+$/.test(name) ? name.toLowerCase() : '';
}
