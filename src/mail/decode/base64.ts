// Base64 (RFC 2045 §6.8) in pieces and in constant memory. Padding ends the data: what follows, such as the footer of a mailing list, is
// not data. The decoder ignores octets outside the alphabet and missing padding. The counter computes how many octets the decoder would
// write. Mansio has its own code because libbase64 holds pieces as strings, and because attachments are counted and streamed without being
// held.

const PAD = 64;
const OTHER = 65;
const LF = 66;
const PAD_OCTET = 0x3d;

/** The sextet of an octet, or PAD, LF, OTHER. The URL alphabet is accepted too, as in Node's own decoder. */
const SEXTET = new Uint8Array(256).fill(OTHER);
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
for (let i = 0; i < 64; i++) SEXTET[ALPHABET.charCodeAt(i)] = i;
SEXTET[0x2d] = 62;
SEXTET[0x5f] = 63;
SEXTET[PAD_OCTET] = PAD;
SEXTET[0x0a] = LF;

const NONE = new Uint8Array(0);

/** Returns the length of the data including its padding, or the length of all octets when there is no padding. */
export function endOfBase64(octets: Uint8Array): number {
  const padding = octets.indexOf(PAD_OCTET);
  if (padding < 0) return octets.length;
  return octets[padding + 1] === PAD_OCTET ? padding + 2 : padding + 1;
}

export class Base64Decoder {
  #bits = 0;
  #pending = 0;
  #hasEnded = false;

  push(piece: Uint8Array): Uint8Array {
    if (this.#hasEnded) return NONE;
    const out = Buffer.allocUnsafe(((piece.length + this.#pending) >> 2) * 3 + 3);
    let bits = this.#bits;
    let pending = this.#pending;
    let at = 0;
    for (let i = 0; i < piece.length; i++) {
      const sextet = SEXTET[piece[i]!]!;
      if (sextet < PAD) {
        bits = (bits << 6) | sextet;
        if (++pending === 4) {
          out[at] = bits >> 16;
          out[at + 1] = bits >> 8;
          out[at + 2] = bits;
          at += 3;
          pending = 0;
          bits = 0;
        }
      } else if (sextet === PAD) {
        at += writeRest(out, at, bits, pending);
        pending = 0;
        bits = 0;
        this.#hasEnded = true;
        break;
      }
    }
    this.#bits = bits;
    this.#pending = pending;
    return out.subarray(0, at);
  }

  finish(): Uint8Array {
    const out = Buffer.allocUnsafe(2);
    const length = writeRest(out, 0, this.#bits, this.#pending);
    this.#pending = 0;
    this.#bits = 0;
    return out.subarray(0, length);
  }
}

/** Writes a quantum that padding or the end cuts short: two sextets are one octet, three are two, one is none. */
function writeRest(out: Uint8Array, at: number, bits: number, pending: number): number {
  if (pending < 2) return 0;
  out[at] = pending === 2 ? bits >> 4 : bits >> 10;
  if (pending === 3) out[at + 1] = bits >> 2;
  return pending - 1;
}

/** The octets that are summed without a branch; each field of COUNTS can hold the sum of a block. */
const BLOCK = 512;
/** The contribution of an octet to the sums: bits 0–9 count octets outside the alphabet, 10–19 line feeds, 20–29 padding. */
const COUNTS = new Int32Array(256);
for (let octet = 0; octet < 256; octet++) {
  const kind = SEXTET[octet]!;
  COUNTS[octet] = (kind < PAD ? 0 : 1) | (kind === LF ? 1 << 10 : 0) | (kind === PAD ? 1 << 20 : 0);
}
const FIELD = 0x3ff;

export class Base64Counter {
  #sextets = 0;
  #hasEnded = false;

  /** Counts the octets [from, to) of `data`; returns how many line feeds are among them. */
  push(data: Uint8Array, from: number, to: number): number {
    let lines = 0;
    for (let at = from; at < to; at += BLOCK) {
      const end = Math.min(to, at + BLOCK);
      let counts = 0;
      for (let i = at; i < end; i++) counts += COUNTS[data[i]!]!;
      lines += (counts >> 10) & FIELD;
      if (this.#hasEnded) continue;
      if (counts >> 20 === 0) this.#sextets += end - at - (counts & FIELD);
      else this.#padded(data, at, end);
    }
    return lines;
  }

  get size(): number {
    return Math.floor((this.#sextets * 3) / 4);
  }

  #padded(data: Uint8Array, from: number, to: number): void {
    for (let i = from; i < to; i++) {
      const kind = SEXTET[data[i]!]!;
      if (kind < PAD) this.#sextets++;
      else if (kind === PAD) {
        this.#hasEnded = true;
        return;
      }
    }
  }
}
