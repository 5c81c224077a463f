// Keywords of the emails of one mailbox: every name once, with a bit for each email that has it. Names compare without regard to case and
// keep the spelling that was used first; a name that no email has is dropped. The commands' plans limit the number of names per account.
import { LazyMap } from '../../../store/changes/lazy-map.js';
import { SparseBits } from './sparse-column.js';

interface Keyword {
  /** The spelling that was used first. */
  readonly name: string;
  readonly slots: SparseBits;
}

const KEYWORD_OCTETS = 300;

/** Keywords are atoms, so they are US-ASCII. */
const folded = (name: string): string => name.toLowerCase();

export class KeywordColumns {
  readonly #keywords = new LazyMap<string, Keyword>();

  get octets(): number {
    let octets = 0;
    for (const { slots } of this.#keywords.values()) octets += KEYWORD_OCTETS + slots.octets;
    return octets;
  }

  /** Every name that an email has, ordered by lower-case form. */
  get names(): string[] {
    return inOrder(this.#keywords.entries());
  }

  /** The name in the spelling that was used first; undefined when no email has it. */
  spelling(name: string): string | undefined {
    return this.#keywords.get(folded(name))?.name;
  }

  has(slot: number, name: string): boolean {
    return this.#keywords.get(folded(name))?.slots.has(slot) ?? false;
  }

  /** Names of the email's keywords, ordered by lower-case form. */
  of(slot: number): string[] {
    if (this.#keywords.size === 0) return [];
    return inOrder(this.#keywords.entries().filter(([, { slots }]) => slots.has(slot)));
  }

  /** Returns the sets of keywords that these emails have; `at`: positions in the list, ascending. Emails without keywords are in no set. */
  setsOf(slots: Uint32Array): { readonly names: readonly string[]; readonly at: readonly number[] }[] {
    const sets: { readonly names: readonly string[]; readonly at: number[] }[] = [{ names: [], at: [] }];
    // The number of the set of each email; a keyword moves an email from one set to another.
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

  /** Returns the keywords when all these emails have the same; undefined otherwise. */
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

  /** Gives the email exactly these keywords. */
  set(slot: number, names: readonly string[]): void {
    this.setAll([slot], names);
  }

  /** Gives the emails exactly these keywords. */
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
