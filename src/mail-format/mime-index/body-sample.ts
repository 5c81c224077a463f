// A copy of the first octets of a body, for the preview.

export class BodySample {
  readonly #octets: Buffer;
  #length = 0;

  constructor(limit: number) {
    this.#octets = Buffer.allocUnsafe(limit);
  }

  push(data: Buffer, from: number, to: number): void {
    if (this.#length === this.#octets.length) return;
    this.#length += data.copy(this.#octets, this.#length, from, to);
  }

  /** True when the body may be longer than the sample: the last character may be cut. */
  get full(): boolean {
    return this.#length === this.#octets.length;
  }

  get octets(): Buffer {
    return this.#octets.subarray(0, this.#length);
  }
}
