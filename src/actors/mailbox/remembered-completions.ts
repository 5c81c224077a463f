// Which words of a mailbox begin with the words that its searches ask for again and again. The index finds whole words two to three
// times as fast as all words with a beginning, and most words are the beginning of few others. They are looked for in the
// background, by statements that take turns with those of searches: no search needs them.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { SearchTerm } from '../../mail/search-text.js';
import type { SearchStore, WordCompletions } from '../../store/search.js';
import type { EmailColumns } from './email-columns.js';

/** Beginnings that were asked last, and those whose words are known. */
const ASKED = 256;
const KNOWN = 256;
/** Longer beginnings are left to the index. */
const LONGEST = 40;
/** Words of a beginning; with more of them the index is no faster. */
const MOST_WORDS = 8;
/** Emails that came since the words were looked for: from so many on they are looked for again, and up to so many they are used. */
const OUTDATED = 100;
const MOST_NEW = 300;
/** Rough memory of a beginning, and of it with its words. */
const ASKED_OCTETS = 100;
const KNOWN_OCTETS = 500;

interface Known {
  /** How many emails the mailbox had. */
  readonly size: number;
  /** Undefined when there are too many. */
  readonly words: readonly string[] | undefined;
}

interface Asking {
  readonly store: Pick<SearchStore, 'completions'>;
  readonly accountId: string;
  /** The first so many emails are searchable. */
  readonly size: number;
  /** Pages of emails that were indexed again: what was known under another count is outdated. */
  readonly pages: number;
}

export class RememberedCompletions {
  readonly #emails: EmailColumns;
  /** The one that was asked longest ago first. */
  readonly #asked = new Set<string>();
  /** The one that was used longest ago first. */
  readonly #known = new Map<string, Known>();
  #pages = 0;
  #isLooking = false;

  constructor(emails: EmailColumns) {
    this.#emails = emails;
  }

  get octets(): number {
    return this.#asked.size * ASKED_OCTETS + this.#known.size * KNOWN_OCTETS;
  }

  /** What is known for a question of several terms; a single one takes what it takes to read the emails it finds. */
  of(asking: Asking, terms: readonly SearchTerm[]): WordCompletions | undefined {
    if (asking.pages !== this.#pages) {
      this.#pages = asking.pages;
      this.#known.clear();
    }
    if (terms.length < 2) return undefined;
    const words = new Map<string, readonly string[]>();
    let { size } = asking;
    for (const { words: beginnings, prefix } of terms) {
      const [beginning = ''] = beginnings;
      if (!prefix || beginnings.length > 1 || beginning.length > LONGEST) continue;
      const known = this.#wordsOf(asking, beginning);
      if (known?.words === undefined) continue;
      words.set(beginning, known.words);
      size = Math.min(size, known.size);
    }
    return words.size === 0 ? undefined : { words, upto: this.#emails.id(size - 1) };
  }

  #wordsOf(asking: Asking, beginning: string): Known | undefined {
    const known = this.#known.get(beginning);
    if (known === undefined) {
      if (this.#isAskedAgain(beginning)) this.#look(asking, beginning, []);
      return undefined;
    }
    this.#known.delete(beginning);
    this.#known.set(beginning, known);
    const added = asking.size - known.size;
    if (known.words !== undefined && added >= OUTDATED) this.#look(asking, beginning, known.words);
    return added <= MOST_NEW ? known : undefined;
  }

  #isAskedAgain(beginning: string): boolean {
    const isAgain = this.#asked.delete(beginning);
    this.#asked.add(beginning);
    if (this.#asked.size > ASKED) this.#asked.delete(this.#asked.values().next().value!);
    return isAgain;
  }

  /** One beginning at a time: the others are looked for when they are asked once more. */
  #look(asking: Asking, beginning: string, known: readonly string[]): void {
    if (this.#isLooking || asking.size === 0) return;
    this.#isLooking = true;
    this.#completed(asking, beginning, known)
      .then((words) => {
        if (asking.pages === this.#pages) this.#keep(beginning, { size: asking.size, words });
      })
      // Searches do without, until it is asked again and again.
      .catch(() => {
        this.#asked.delete(beginning);
        this.#known.delete(beginning);
      })
      .finally(() => {
        this.#isLooking = false;
      });
  }

  async #completed(
    { store, accountId }: Asking,
    beginning: string,
    known: readonly string[],
  ): Promise<readonly string[] | undefined> {
    const words = known.length === 0 ? [beginning] : [...known];
    // The account's statements take their turns in order: that of the search comes first.
    await nextTurn();
    while (words.length <= MOST_WORDS) {
      const others = await store.completions(accountId, beginning, words);
      if (others.length === 0) return words;
      words.push(...others);
    }
    return undefined;
  }

  #keep(beginning: string, known: Known): void {
    this.#known.delete(beginning);
    this.#known.set(beginning, known);
    if (this.#known.size > KNOWN) this.#known.delete(this.#known.keys().next().value!);
  }
}
