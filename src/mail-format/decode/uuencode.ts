// uuencode (POSIX `uuencode`, the transfer encoding x-uuencode of older mail programs) in pieces and in constant memory. The data stands
// between the lines `begin MODE NAME` and `end`; content that does not begin this way is returned unchanged. A line yields at most the
// octets that its characters encode, whatever its length field says.

/** A line of 63 octets, the most that a length field can state; characters beyond it are not data. */
const LONGEST_LINE = 1 + 84;
const LONGEST_BEGIN = 512;
const BEGIN = /^\s*begin [0-7]{3,4} ([^\r\n]*)$/;
const LF = 0x0a;
const CR = 0x0d;
const NONE = Buffer.alloc(0);

export const isUuencode = (encoding: string): boolean => /^(?:x-)?uue(?:ncode)?$/.test(encoding);

export class UuDecoder {
  #state: 'start' | 'data' | 'identity' | 'end' = 'start';
  #line = Buffer.allocUnsafe(LONGEST_BEGIN);
  #length = 0;
  #fileName = '';

  /** The file name of the line `begin`; '' when there is none. */
  get fileName(): string {
    return this.#fileName;
  }

  push(piece: Uint8Array): Uint8Array {
    let at = 0;
    let began: Uint8Array = NONE;
    if (this.#state === 'start') {
      at = this.#readStart(piece);
      if (this.#isIdentity()) began = this.#taken();
    }
    if (this.#isIdentity()) return joined(began, piece.subarray(at));
    if (this.#state !== 'data') return NONE;
    const out = Buffer.allocUnsafe(piece.length - at + LONGEST_LINE);
    let written = 0;
    for (; at < piece.length && this.#state === 'data'; at++) {
      const octet = piece[at]!;
      if (octet === LF) written += this.#endLine(out, written);
      else if (this.#length < LONGEST_LINE) this.#line[this.#length++] = octet;
    }
    return out.subarray(0, written);
  }

  finish(): Uint8Array {
    if (this.#state === 'start') return this.#taken();
    const out = Buffer.allocUnsafe(LONGEST_LINE);
    return out.subarray(0, this.#state === 'data' ? this.#endLine(out, 0) : 0);
  }

  #isIdentity(): boolean {
    return this.#state === 'identity';
  }

  /** Reads up to the end of the line `begin`, which blank lines may precede; returns how much of the piece it has read. */
  #readStart(piece: Uint8Array): number {
    for (let at = 0; at < piece.length; at++) {
      const octet = piece[at]!;
      this.#line[this.#length++] = octet;
      const isFull = this.#length === LONGEST_BEGIN;
      if (octet !== LF && !isFull) continue;
      const text = this.#line.toString('latin1', 0, this.#length).trimEnd();
      if (text === '' && !isFull) continue;
      const name = BEGIN.exec(text)?.[1];
      this.#state = name === undefined || isFull ? 'identity' : 'data';
      if (this.#state === 'data') {
        this.#fileName = Buffer.from(name!, 'latin1').toString();
        this.#length = 0;
      }
      return at + 1;
    }
    return piece.length;
  }

  #taken(): Uint8Array {
    const octets = Buffer.from(this.#line.subarray(0, this.#length));
    this.#length = 0;
    return octets;
  }

  /** Writes the octets of the line; returns their number. */
  #endLine(out: Buffer, at: number): number {
    const line = this.#line;
    const end = this.#length > 0 && line[this.#length - 1] === CR ? this.#length - 1 : this.#length;
    this.#length = 0;
    if (end === 0) return 0;
    const first = line[0]!;
    if (first > 0x60 || first < 0x20) {
      if (line.toString('latin1', 0, end).trimEnd() === 'end') this.#state = 'end';
      return 0;
    }
    const said = bitsOf(first);
    if (said === 0) {
      this.#state = 'end';
      return 0;
    }
    const count = Math.min(said, Math.ceil(((end - 1) * 3) / 4));
    for (let i = 0; i < count; i++) out[at + i] = octetAt(line, end, i);
    return count;
  }
}

/** A missing character counts as a space: some programs cut the spaces at the end of lines. */
function octetAt(line: Buffer, end: number, i: number): number {
  const from = 1 + Math.floor(i / 3) * 4 + (i % 3);
  const high = from < end ? bitsOf(line[from]!) : 0;
  const low = from + 1 < end ? bitsOf(line[from + 1]!) : 0;
  if (i % 3 === 0) return (high << 2) | (low >> 4);
  return i % 3 === 1 ? ((high << 4) & 0xff) | (low >> 2) : ((high << 6) & 0xff) | low;
}

const bitsOf = (character: number): number => (character - 0x20) & 0x3f;

function joined(before: Uint8Array, next: Uint8Array): Uint8Array {
  return before.length === 0 ? next : Buffer.concat([before, next]);
}
