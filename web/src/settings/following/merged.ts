// What a form shows of a setting that other windows change too. What is written here is never replaced under the hands of the reader:
// members that were changed here, and the one that has the focus, stay; the rest follows the server.
import { signal } from '@preact/signals';

export interface MergedOptions<T> {
  /** Whether two values of a member mean the same; by default, whether they are equal. */
  readonly isSame?: (one: T[keyof T], other: T[keyof T]) => boolean;
}

export class Merged<T extends object> {
  /** Undefined until it has been read. */
  readonly shown = signal<T | undefined>(undefined);
  /** Another window has changed what is being written here. */
  readonly isContested = signal(false);
  readonly #isSame: (one: T[keyof T], other: T[keyof T]) => boolean;
  /** As the server has it, as far as this form knows. */
  #stored: T | undefined;
  /** The member that has the focus, with its value at that time. */
  #held: { readonly name: keyof T; readonly value: T[keyof T] } | undefined;
  /** The next value of the server has what this form has saved, in the server's form. */
  #isAnswered = false;

  constructor({ isSame = (one, other) => one === other }: MergedOptions<T> = {}) {
    this.#isSame = isSame;
  }

  /** The server has this. */
  take(stored: T): void {
    const [before, shown] = [this.#stored, this.shown.peek()];
    this.#stored = stored;
    if (before === undefined || shown === undefined) {
      this.shown.value = stored;
      return;
    }
    const names = Object.keys(stored) as (keyof T)[];
    const kept = names.filter((name) => this.#held?.name === name || !this.#isSame(shown[name], before[name]));
    const others = kept.filter((name) => !this.#isSame(stored[name], shown[name]));
    if (others.length === 0) this.isContested.value = false;
    else if (!this.#isAnswered && others.some((name) => !this.#isSame(stored[name], before[name])))
      this.isContested.value = true;
    this.#isAnswered = false;
    const own = Object.fromEntries(kept.map((name) => [name, shown[name]]));
    this.shown.value = { ...stored, ...own };
  }

  /** The reader changes something. */
  write(changed: Partial<T>): T {
    const written = { ...this.shown.peek()!, ...changed };
    this.shown.value = written;
    return written;
  }

  /** The server has stored what was written. */
  saved(stored: T): void {
    this.#stored = stored;
    this.#isAnswered = true;
    this.isContested.value = false;
  }

  /** A member gets the focus. */
  hold(name: keyof T): void {
    const shown = this.shown.peek();
    if (shown !== undefined) this.#held = { name, value: shown[name] };
  }

  /** It has lost the focus: when nothing was written in it, it follows the server again. */
  release(): void {
    const [held, shown, stored] = [this.#held, this.shown.peek(), this.#stored];
    this.#held = undefined;
    if (held === undefined || shown === undefined || stored === undefined) return;
    if (shown[held.name] !== held.value || this.#isSame(shown[held.name], stored[held.name])) return;
    this.write({ [held.name]: stored[held.name] } as unknown as Partial<T>);
    this.isContested.value = false;
  }

  /** The reader takes what the server has. */
  yield(): void {
    this.isContested.value = false;
    if (this.#stored !== undefined) this.shown.value = this.#stored;
  }
}
