// Decodes base64 (RFC 4648 §4) of a JSON string (RFC 8259 §7) in pieces: the text between the quotes goes in, octets come out. Line ends
// are skipped and padding may be missing; any other character outside the alphabet makes the whole invalid, because guessed octets are not
// the sender's file.

/** An escape that the end of a piece cuts. */
const CUT_ESCAPE = /\\(?:u[0-9a-fA-F]{0,3})?$/;
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

export class StrictBase64 {
  /** The part that cannot be decoded yet: an incomplete escape, and before it fewer than four characters. */
  #escape = '';
  #text = '';
  #isPadded = false;

  /** Undefined when the text is not base64; nothing may follow then. */
  push(octets: Uint8Array): Uint8Array | undefined {
    const raw = this.#escape + Buffer.from(octets.buffer, octets.byteOffset, octets.length).toString('latin1');
    this.#escape = raw.includes('\\') ? (CUT_ESCAPE.exec(raw)?.[0] ?? '') : '';
    const text = this.#text + unescaped(raw.slice(0, raw.length - this.#escape.length));
    if (!BASE64.test(text) || (this.#isPadded && text !== '')) return undefined;
    const whole = text.length - (text.length % 4);
    this.#text = text.slice(whole);
    const decoded = text.slice(0, whole);
    if (decoded.endsWith('=')) this.#isPadded = true;
    return Buffer.from(decoded, 'base64');
  }

  finish(): Uint8Array | undefined {
    const rest = this.#text;
    if (this.#escape !== '' || rest.length === 1 || rest.endsWith('=')) return undefined;
    return Buffer.from(rest, 'base64');
  }
}

/** Replaces the common escapes first: a replacement by a function takes ten times as long. */
function unescaped(raw: string): string {
  if (!raw.includes('\\')) return raw;
  // Two backslashes are not base64. After this check every backslash begins an escape.
  if (raw.includes('\\\\')) return '\\';
  return raw
    .replaceAll('\\/', '/')
    .replace(/\\u002[bB]/g, '+')
    .replace(/\\(?:[nr]|u000[aAdD])/g, '')
    .replace(/\\u([0-9a-fA-F]{4})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}
