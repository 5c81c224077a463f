// A value in the forms in which tests compare it. A run keeps those of the long value that was compared last, because a script may look at
// the same body in each of its tests.
import { type Comparator, fold } from './comparators.js';

export class ComparedText {
  readonly value: string;
  readonly comparator: Comparator;
  #folded: string | undefined;
  #characters: readonly string[] | undefined;
  #foldedCharacters: readonly string[] | undefined;

  constructor(value: string, comparator: Comparator) {
    this.value = value;
    this.comparator = comparator;
  }

  get folded(): string {
    this.#folded ??= fold(this.comparator, this.value);
    return this.#folded;
  }

  get characters(): readonly string[] {
    this.#characters ??= Array.from(this.value);
    return this.#characters;
  }

  get foldedCharacters(): readonly string[] {
    this.#foldedCharacters ??= this.folded === this.value ? this.characters : Array.from(this.folded);
    return this.#foldedCharacters;
  }
}
