// Where the words of a phrase end in the emails that have them one after the other.
import { type PostingList, PostingReader } from './posting-list.js';

export class PhraseEnds {
  readonly #ordinals: number[] = [];
  /** Positions of the last word so far, of each email. */
  readonly #ends: (readonly number[])[] = [];

  /** Those of its first word, of the emails that are marked. `first`: positions before it do not count. */
  static ofFirstWord(lists: readonly PostingList[], marks: Uint8Array, first: number): PhraseEnds {
    const found = new PhraseEnds();
    for (const list of lists) {
      const reader = new PostingReader(list);
      while (reader.next()) if (marks[reader.ordinal] === 1) found.#add(reader.ordinal, reader.positions(first));
    }
    return found;
  }

  /** With the next word, or the words of a beginning one by one. */
  *followedBy(lists: readonly PostingList[]): Generator<[ordinal: number, ends: readonly number[]]> {
    for (const list of lists) {
      const reader = new PostingReader(list);
      let i = 0;
      while (i < this.#ordinals.length && reader.next()) {
        while (i < this.#ordinals.length && this.#ordinals[i]! < reader.ordinal) i++;
        if (this.#ordinals[i] !== reader.ordinal) continue;
        const ends = following(this.#ends[i]!, reader.positions(0));
        if (ends.length > 0) yield [reader.ordinal, ends];
      }
    }
  }

  withNext(lists: readonly PostingList[]): PhraseEnds {
    const found = new PhraseEnds();
    for (const [ordinal, ends] of this.followedBy(lists)) found.#add(ordinal, ends);
    return found;
  }

  /** Of its emails. */
  get ordinals(): readonly number[] {
    return this.#ordinals;
  }

  #add(ordinal: number, ends: readonly number[]): void {
    if (ends.length === 0) return;
    this.#ordinals.push(ordinal);
    this.#ends.push(ends);
  }
}

/** Those of `positions` that come directly behind one of `ends`. Both ascend. */
function following(ends: readonly number[], positions: readonly number[]): number[] {
  const found: number[] = [];
  let i = 0;
  for (const position of positions) {
    while (i < ends.length && ends[i]! < position - 1) i++;
    if (ends[i] === position - 1) found.push(position);
  }
  return found;
}
