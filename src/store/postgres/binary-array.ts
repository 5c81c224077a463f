// An array of values as a parameter in the binary form of the protocol (`array_recv`): written value by value into octets that
// grow.
import { Octets } from './octet-parameters.js';

const FIRST_CAPACITY = 8 * 1024;
/** Dimensions, whether there are nulls, type of the elements, count, and the subscript of the first. */
const HEADER_OCTETS = 20;
const NULL = -1;
const MOST_OCTETS_A_CHARACTER = 3;
/** A text of ASCII up to this length is copied faster here than by a call into the runtime. */
const SHORT_TEXT = 24;

export class BinaryArray {
  readonly #elementType: number;
  #octets = Buffer.allocUnsafe(FIRST_CAPACITY);
  #length = HEADER_OCTETS;
  #count = 0;
  #hasNulls = false;
  /** Of the element that was begun last. */
  #start = 0;

  /** `elementType`: its OID. */
  constructor(elementType: number) {
    this.#elementType = elementType;
  }

  begin(): void {
    this.#count++;
    this.int32(0);
    this.#start = this.#length;
  }

  end(): void {
    this.#octets.writeInt32BE(this.#length - this.#start, this.#start - 4);
  }

  addNull(): void {
    this.#count++;
    this.#hasNulls = true;
    this.int32(NULL);
  }

  addOctets(octets: Uint8Array): void {
    this.begin();
    this.#reserve(octets.length);
    this.#octets.set(octets, this.#length);
    this.#length += octets.length;
    this.end();
  }

  octet(value: number): void {
    this.#reserve(1);
    this.#octets[this.#length++] = value;
  }

  int16(value: number): void {
    this.#reserve(2);
    this.#octets[this.#length++] = value >>> 8;
    this.#octets[this.#length++] = value & 0xff;
  }

  int32(value: number): void {
    this.#reserve(4);
    this.#length = this.#octets.writeInt32BE(value, this.#length);
  }

  /** In UTF-8. */
  text(text: string): void {
    this.#reserve(text.length * MOST_OCTETS_A_CHARACTER);
    const octets = this.#octets;
    if (text.length <= SHORT_TEXT) {
      let at = this.#length;
      let i = 0;
      for (; i < text.length; i++) {
        const code = text.charCodeAt(i);
        if (code > 0x7f) break;
        octets[at++] = code;
      }
      if (i === text.length) {
        this.#length = at;
        return;
      }
    }
    this.#length += octets.write(text, this.#length, 'utf8');
  }

  /** The parameter; nothing is added afterwards. */
  octets(): Octets {
    const header = [1, Number(this.#hasNulls), this.#elementType, this.#count, 1];
    for (const [i, field] of header.entries()) this.#octets.writeInt32BE(field, i * 4);
    return new Octets([this.#octets.subarray(0, this.#length)]);
  }

  #reserve(more: number): void {
    if (this.#length + more <= this.#octets.length) return;
    const octets = Buffer.allocUnsafe((this.#length + more) * 2);
    this.#octets.copy(octets, 0, 0, this.#length);
    this.#octets = octets;
  }
}
