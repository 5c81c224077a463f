// Keywords of the emails of one mailbox: every name once, with a bit for each email that has it. Names compare without
// case and keep the spelling that was seen first; a name that no email has is forgotten. How many names an account may
// have is decided where commands are planned.
import { LazyMap } from '../../store/lazy-map.js';
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
  readonly #keywords = new LazyMap<string, Keyword>();

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
    return inOrder(this.#keywords.entries().filter(([, { slots }]) => slots.has(slot)));
  }

  /** The sets of keywords that these emails have; `at`: positions in the list, ascending. Emails without any are in no set. */
  setsOf(slots: Uint32Array): { readonly names: readonly string[]; readonly at: readonly number[] }[] {
    const sets: { readonly names: readonly string[]; readonly at: number[] }[] = [{ names: [], at: [] }];
    // The set of each email by its number; a keyword leads from one set to another.
    const setAt = new Uint32Array(slots.length);
    for (const [, { name, slots: having }] of this.#keywords.entries().sort(byKey)) {
      const next = new Map<number, number>();
      for (let i = 0; i < slots.length; i++) {
        if (!having.has(slots[i]!)) continue;
        const before = setAt[i]!;
        let after = next.get(before);
        if (after === undefined) {
          after = sets.push({ names: [...sets[before]!.names, name], at: [] }) - 1;
          next.set(before, after);
        }
        setAt[i] = after;
      }
    }
    if (sets.length > 1) for (let i = 0; i < setAt.length; i++) sets[setAt[i]!]!.at.push(i);
    return sets.filter(({ names, at }) => names.length > 0 && at.length > 0);
  }

  /** The keywords that each of the emails has; undefined where they have different ones. */
  shared(slots: readonly number[]): string[] | undefined {
    const shared: Entry[] = [];
    for (const entry of this.#keywords.entries()) {
      const [, { slots: having }] = entry;
      const isOfFirst = having.has(slots[0]!);
      for (const slot of slots) if (having.has(slot) !== isOfFirst) return undefined;
      if (isOfFirst) shared.push(entry);
    }
    return inOrder(shared);
  }

  /** Gives the email these keywords and no others. */
  set(slot: number, names: readonly string[]): void {
    this.setAll([slot], names);
  }

  /** Gives the emails these keywords and no others. */
  setAll(slots: readonly number[], names: readonly string[]): void {
    if (names.length === 0 && this.#keywords.size === 0) return;
    const kept = new Set(names.map(folded));
    for (const name of names) {
      const key = folded(name);
      let keyword = this.#keywords.get(key);
      if (keyword === undefined) {
        keyword = { name, slots: new SparseBits() };
        this.#keywords.set(key, keyword);
      }
      for (const slot of slots) keyword.slots.set(slot, true);
    }
    for (const [key, { slots: having }] of this.#keywords.entries()) {
      if (kept.has(key)) continue;
      for (const slot of slots) having.set(slot, false);
      if (having.count === 0) this.#keywords.delete(key);
    }
  }
}

type Entry = readonly [key: string, keyword: Keyword];

const byKey = ([a]: Entry, [b]: Entry): number => (a < b ? -1 : 1);

const inOrder = (entries: Iterable<Entry>): string[] => [...entries].sort(byKey).map(([, { name }]) => name);
