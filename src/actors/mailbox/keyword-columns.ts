// Keywords of the emails of one mailbox: every name once, with a bit for each email that has it. Names compare without
// case and keep the spelling that was seen first; a name that no email has is forgotten. How many names an account may
// have is decided where commands are planned.
import { SparseBits } from './sparse-column.js';

interface Keyword {
  /** As it was seen first. */
  readonly name: string;
  readonly slots: SparseBits;
}

const KEYWORD_OCTETS = 300;

/** Keywords are atoms, so US-ASCII. */
const folded = (name: string): string => name.toLowerCase();

export class KeywordColumns {
  readonly #keywords = new Map<string, Keyword>();

  get octets(): number {
    let octets = 0;
    for (const { slots } of this.#keywords.values()) octets += KEYWORD_OCTETS + slots.octets;
    return octets;
  }

  /** Every name that an email has, in the order of their lower-case forms. */
  get names(): string[] {
    return inOrder(this.#keywords.entries());
  }

  /** The name as it was seen first; undefined when no email has it. */
  spelling(name: string): string | undefined {
    return this.#keywords.get(folded(name))?.name;
  }

  has(slot: number, name: string): boolean {
    return this.#keywords.get(folded(name))?.slots.has(slot) ?? false;
  }

  /** Names of the email's keywords, in the order of their lower-case forms. */
  of(slot: number): string[] {
    if (this.#keywords.size === 0) return [];
    return inOrder([...this.#keywords.entries()].filter(([, { slots }]) => slots.has(slot)));
  }

  /** Gives the email these keywords and no others. */
  set(slot: number, names: readonly string[]): void {
    if (names.length === 0 && this.#keywords.size === 0) return;
    const kept = new Set(names.map(folded));
    for (const name of names) {
      const key = folded(name);
      let keyword = this.#keywords.get(key);
      if (keyword === undefined) {
        keyword = { name, slots: new SparseBits() };
        this.#keywords.set(key, keyword);
      }
      keyword.slots.set(slot, true);
    }
    for (const [key, { slots }] of this.#keywords) {
      if (kept.has(key)) continue;
      slots.set(slot, false);
      if (slots.count === 0) this.#keywords.delete(key);
    }
  }
}

function inOrder(entries: Iterable<readonly [key: string, keyword: Keyword]>): string[] {
  return [...entries].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, { name }]) => name);
}
