// The memory of a node for what holders keep only because it may be wanted again: each holder bounds what it keeps itself, and when
// all of them have more than the room, the holder that was used least recently gives up all of its own.

/** Keeps something in memory, for an account or the like. */
export interface MemoryHolder {
  /** A holder that is made anew takes the place of the one before it. */
  readonly name: string;
  readonly octets: number;
  clear(): void;
}

export class MemoryRoom<Holder extends MemoryHolder = MemoryHolder> {
  readonly #mostOctets: number;
  /** By name, the least recently used first; `octets`: when the holder was used last. */
  readonly #holders = new Map<string, { readonly holder: Holder; readonly octets: number }>();
  #octets = 0;

  constructor(mostOctets: number) {
    this.#mostOctets = mostOctets;
  }

  /** Of all holders. */
  get octets(): number {
    return this.#octets;
  }

  /** How many holders keep something. */
  get size(): number {
    return this.#holders.size;
  }

  /** The one that keeps something under this name. */
  holder(name: string): Holder | undefined {
    return this.#holders.get(name)?.holder;
  }

  /** To be called when the holder is used and when it has more than before. */
  used(holder: Holder): void {
    this.#forget(holder.name);
    // Whoever keeps nothing is not remembered either: there is no end of empty ones.
    if (holder.octets === 0) return;
    this.#holders.set(holder.name, { holder, octets: holder.octets });
    this.#octets += holder.octets;
    for (const [name, { holder: oldest }] of this.#holders) {
      if (this.#octets <= this.#mostOctets || oldest === holder) break;
      this.#forget(name);
      oldest.clear();
    }
  }

  #forget(name: string): void {
    this.#octets -= this.#holders.get(name)?.octets ?? 0;
    this.#holders.delete(name);
  }
}
