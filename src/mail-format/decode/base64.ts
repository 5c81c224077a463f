// Base64 (RFC 2045 §6.8) in pieces and in constant memory. Padding ends the data: what follows, such as the footer of a mailing list, is
// not data. The decoder ignores octets outside the alphabet and missing padding. The counter computes how many octets the decoder would
// write. Buffer decodes: libbase64 holds pieces as strings, and has no counter.

const LF = 0x0a;
const PAD = 0x3d;
/** The URL alphabet is accepted too, as in Buffer. */
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_';
const OTHERS = /[^A-Za-z0-9+/_-]+/g;
/** 1 for each octet of the alphabet. */
const IS_DATA = new Uint8Array(256);
for (const octet of Buffer.from(ALPHABET)) IS_DATA[octet] = 1;

/** Returns the length of the data including its padding, or the length of all octets when there is no padding. */
export function endOfBase64(octets: Uint8Array): number {
  const padding = octets.indexOf(PAD);
  if (padding < 0) return octets.length;
  return octets[padding + 1] === PAD ? padding + 2 : padding + 1;
}

export class Base64Decoder {
  /** Fewer than four characters, which cannot be decoded yet. */
  #rest = '';
  #hasEnded = false;

  push(piece: Uint8Array): Uint8Array {
    if (this.#hasEnded) return Buffer.alloc(0);
    const padding = piece.indexOf(PAD);
    const data = Buffer.from(piece.buffer, piece.byteOffset, padding < 0 ? piece.length : padding);
    const text = this.#rest + data.toString('latin1').replace(OTHERS, '');
    this.#hasEnded = padding >= 0;
    const whole = this.#hasEnded ? text.length : text.length - (text.length % 4);
    this.#rest = text.slice(whole);
    return Buffer.from(text.slice(0, whole), 'base64');
  }

  finish(): Uint8Array {
    return Buffer.from(this.#rest, 'base64');
  }
}

export class Base64Counter {
  #characters = 0;
  #hasEnded = false;

  /** Counts the octets [from, to) of `data`; returns how many line feeds are among them. */
  push(data: Uint8Array, from: number, to: number): number {
    let lines = 0;
    let characters = 0;
    let at = from;
    const end = this.#hasEnded ? from : to;
    for (; at < end; at++) {
      const octet = data[at]!;
      if (octet === PAD) break;
      characters += IS_DATA[octet]!;
      if (octet === LF) lines++;
    }
    if (at < to) this.#hasEnded = true;
    for (; at < to; at++) if (data[at] === LF) lines++;
    this.#characters += characters;
    return lines;
  }

  get size(): number {
    return Math.floor((this.#characters * 3) / 4);
  }
}
