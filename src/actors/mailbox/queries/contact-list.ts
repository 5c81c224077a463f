// The people to whom an account has written, ranked by how recently and how often. Pure: `contacts.ts` reads the emails.
import { fold, wordsOf } from '../../../mail-format/words/search-text.js';

export interface Contact {
  readonly address: string;
  readonly displayName: string;
}

/** The time after which an email counts half as much as a new one. */
const HALF_LIFE_MS = 60 * 86_400_000;
/** The weight of an email at this time is 1: weights of all times that clocks show are then in the range of a number. */
const EPOCH = Date.UTC(2020);
/** The people of one account; of more, those who rank lowest are forgotten. */
const MOST_PEOPLE = 5_000;
/** Approximate memory of one, apart from the characters of address and name. */
const PERSON_OCTETS = 400;
/** Name, address and their words, of two bytes each. */
const OCTETS_A_CHARACTER = 8;
const LONGEST_NAME = 200;
const LONGEST_ADDRESS = 320;
const MOST_WORDS = 20;

interface Person extends Contact {
  weight: number;
  /** The time of the newest email, in ms since the epoch. */
  readonly at: number;
  /** The folded address, and folded words of address and name. */
  readonly folded: string;
  readonly words: readonly string[];
}

export class ContactList {
  /** Keyed by the address in lower case. */
  #people = new Map<string, Person>();
  #characters = 0;

  get octets(): number {
    return this.#people.size * PERSON_OCTETS + this.#characters * OCTETS_A_CHARACTER;
  }

  /** The account has written to them at a time, in ms since the epoch. */
  add(at: number, contacts: Iterable<Contact>): void {
    const weight = 2 ** ((at - EPOCH) / HALF_LIFE_MS);
    for (const { address, displayName } of contacts) {
      if (address === '' || address.length > LONGEST_ADDRESS) continue;
      const key = address.toLowerCase();
      const known = this.#people.get(key);
      if (known === undefined || at >= known.at) this.#set(key, { address, displayName }, at, known);
      this.#people.get(key)!.weight += weight;
    }
    if (this.#people.size > 2 * MOST_PEOPLE) this.#forget();
  }

  /**
   * Those with a name or address of which each word of the text begins a word, or whose address begins with the text; of an empty text,
   * all. Case and accents do not count. Best first, at most `limit`.
   */
  find(text: string, limit: number): Contact[] {
    const wanted = fold(text.trim());
    const terms = wordsOf(text, MOST_WORDS);
    const isMatch = ({ folded, words }: Person) =>
      folded.startsWith(wanted) ||
      (terms.length > 0 && terms.every((term) => words.some((word) => word.startsWith(term))));
    return this.#ranked(isMatch)
      .slice(0, limit)
      .map(({ address, displayName }) => ({ address, displayName }));
  }

  /** The newest email that has a name for them names them. */
  #set(key: string, { address, displayName }: Contact, at: number, known: Person | undefined): void {
    const name =
      displayName
        .trim()
        .slice(0, LONGEST_NAME)
        .replace(/\p{Cs}$/u, '') ||
      (known?.displayName ?? '');
    const words = wordsOf(`${name} ${address}`, 2 * MOST_WORDS);
    if (known !== undefined) this.#characters -= charactersOf(known);
    const person = { address, displayName: name, at, weight: known?.weight ?? 0, folded: fold(address), words };
    this.#characters += charactersOf(person);
    this.#people.set(key, person);
  }

  #ranked(isWanted: (person: Person) => boolean): Person[] {
    return [...this.#people.values()].filter(isWanted).sort((a, b) => b.weight - a.weight || b.at - a.at);
  }

  #forget(): void {
    const kept = this.#ranked(() => true).slice(0, MOST_PEOPLE);
    this.#people = new Map(kept.map((person) => [person.address.toLowerCase(), person]));
    this.#characters = kept.reduce((sum, person) => sum + charactersOf(person), 0);
  }
}

const charactersOf = ({ address, displayName }: Contact): number => address.length + displayName.length;
