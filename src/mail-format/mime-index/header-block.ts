// The octets of the current header block, up to the limit for all header octets of a message. A block that lies within one piece of input
// is not copied.

const EMPTY = Buffer.alloc(0);

export class HeaderBlock {
  #left: number;
  #kept: Buffer = EMPTY;
  #length = 0;
  #data: Buffer = EMPTY;
  #from = 0;
  #to = 0;
  /** True when the block had octets that are not kept. */
  cut = false;

  constructor(limit: number) {
    this.#left = limit;
  }

  /** True when no further octet can be kept. */
  get full(): boolean {
    return this.#left === 0;
  }

  keep(data: Buffer, from: number, to: number): void {
    const end = Math.min(to, from + this.#left);
    if (end < to) this.cut = true;
    if (end === from) return;
    this.#left -= end - from;
    if (this.#data !== data || this.#to !== from) {
      this.detach();
      this.#data = data;
      this.#from = from;
    }
    this.#to = end;
  }

  /** Copies the octets that still refer to the input, because the caller may reuse it. */
  detach(): void {
    const length = this.#to - this.#from;
    if (length > 0) {
      if (this.#length + length > this.#kept.length) {
        const grown = Buffer.allocUnsafe(Math.max(2048, 2 * (this.#length + length)));
        this.#kept.copy(grown, 0, 0, this.#length);
        this.#kept = grown;
      }
      this.#length += this.#data.copy(this.#kept, this.#length, this.#from, this.#to);
    }
    this.#data = EMPTY;
    this.#from = 0;
    this.#to = 0;
  }

  /** Returns the block, which is valid until the next call, and begins an empty one. */
  take(): Buffer {
    let block: Buffer;
    if (this.#length === 0) block = this.#data.subarray(this.#from, this.#to);
    else {
      this.detach();
      block = this.#kept.subarray(0, this.#length);
    }
    this.#data = EMPTY;
    this.#from = 0;
    this.#to = 0;
    this.#length = 0;
    this.#kept = EMPTY;
    this.cut = false;
    return block;
  }
}
