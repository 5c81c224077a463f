// The tokens of a message: 32-bit hashes (FNV-1a) of what stands in it, each once and never 0.
// A hash of 32 bits is enough: two tokens of an account have the same one rarely, and the verdict has many tokens.

/** The offset basis of FNV-1a. */
const BASIS = 0x811c9dc5;
const PRIME = 0x01000193;
const SLOTS = 2_048;
/** Further tokens of a message do not count. */
export const MOST_TOKENS = 1_000;

/** All sets use the same memory: a set is filled and read in one turn, before the next one begins. */
const slots = new Uint32Array(SLOTS);
const collected = new Uint32Array(MOST_TOKENS);

export class TokenSet {
  #size = 0;

  constructor() {
    slots.fill(0);
  }

  add(hash: number): void {
    const token = spread(hash) || 1;
    let at = token & (SLOTS - 1);
    for (let found = slots[at]!; found !== 0; found = slots[at]!) {
      if (found === token) return;
      at = (at + 1) & (SLOTS - 1);
    }
    if (this.#size === MOST_TOKENS) return;
    slots[at] = token;
    collected[this.#size++] = token;
  }

  tokens(): Uint32Array {
    return collected.slice(0, this.#size);
  }
}

export const hashOf = (text: string, basis = BASIS): number => {
  let hash = basis;
  for (let i = 0; i < text.length; i++) hash = hashed(hash, text.charCodeAt(i));
  return hash;
};

/** The hash of a text that is one octet longer. */
export const hashed = (hash: number, octet: number): number => Math.imul(hash ^ octet, PRIME);

/** The hash of two things in this order. */
export const hashOfBoth = (first: number, second: number): number =>
  Math.imul(Math.imul(first, 0x9e3779b1) ^ (first >>> 15) ^ second, 0x85ebca6b);

/** Distributes the bits evenly (the finalizer of MurmurHash3). */
function spread(hash: number): number {
  let h = hash;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}
