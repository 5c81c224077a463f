// Base64 (RFC 4648 §4) out of a JSON string (RFC 8259 §7), in pieces: what stands between the quotes goes in, octets come
// out. Line ends are passed over and padding may be missing; anything else outside the alphabet makes the whole invalid,
// since octets that are guessed are no file of the sender's.

/** An escape that a piece's end has cut. */
const CUT_ESCAPE = /\\(?:u[0-9a-fA-F]{0,3})?$/;
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

export class StrictBase64 {
  /** What could not be decoded yet: an escape that is not whole, or before it fewer than four characters. */
  #escape = '';
  #text = '';
  #isPadded = false;

  /** Undefined when it is no base64; nothing may follow then. */
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

/** Those that encoders write first: a replacement by a function takes ten times as long. */
function unescaped(raw: string): string {
  if (!raw.includes('\\')) return raw;
  // No base64. Without it every backslash begins an escape.
  if (raw.includes('\\\\')) return '\\';
  return raw
    .replaceAll('\\/', '/')
    .replace(/\\u002[bB]/g, '+')
    .replace(/\\(?:[nr]|u000[aAdD])/g, '')
    .replace(/\\u([0-9a-fA-F]{4})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}
