// The common base of a domain: what several of its accounts have taught about the same words (decision 0111). Each account has the same share,
// however much it teaches. A word counts when several accounts know it; it looks like junk only as far as several accounts have taught it as
// junk, and the account that has taught it most does not count.
import { JunkWords, MOST_WORDS } from './junk-words.js';
import { StoredEntries } from './stored-words.js';

/** The fewest accounts that must know a word. */
export const FEWEST_TEACHERS = 3;
/** They are also this share of the accounts. */
const TEACHERS_SHARE = 0.1;
/** Messages of a kind with which an account has its whole share; with fewer it has a part. */
const WHOLE_SHARE = 40;
/** The base counts as much as this many messages of each kind, and has its counts in hundredths of a message. */
const BASE_MESSAGES = 200;
export const BASE_UNIT = 0.01;
/** Tokens that are merged before others get a turn. */
const STEPS = 1_000;

/**
 * Merges the stored words of accounts. Resolves with undefined when too few accounts have taught enough. Stored words that cannot be read are
 * left out. `yielded` is awaited after each few ms of work.
 */
export async function domainWords(
  stored: readonly Uint8Array[],
  yielded: () => Promise<void>,
): Promise<JunkWords | undefined> {
  const accounts = stored.flatMap(openedAt);
  const junkShares = accounts.reduce((sum, { entries }) => sum + Math.min(1, entries.junk / WHOLE_SHARE), 0) - 1;
  const hamShares = accounts.reduce((sum, { entries }) => sum + Math.min(1, entries.ham / WHOLE_SHARE), 0);
  if (junkShares < FEWEST_TEACHERS - 1 || hamShares < FEWEST_TEACHERS) return undefined;
  const fewest = Math.max(FEWEST_TEACHERS, Math.ceil(TEACHERS_SHARE * accounts.length));
  const found = new FoundWords();
  for (let steps = 1; ; steps++) {
    const word = nextWord(accounts);
    if (word === undefined) break;
    if (word.teachers >= fewest) {
      const junk = word.junkTeachers >= fewest ? word.junk - word.mostJunk : 0;
      found.add(word.token, word.teachers, unitsOf(junk / junkShares), unitsOf(word.ham / hamShares));
    }
    if (steps % STEPS === 0) await yielded();
  }
  return found.words();
}

/** An account whose words are read; `isDone` after the last one. */
interface Teacher {
  readonly entries: StoredEntries;
  isDone: boolean;
}

interface Word {
  readonly token: number;
  /** Accounts that know the word, and those that know it from junk. */
  teachers: number;
  junkTeachers: number;
  /** The sums of the shares of their messages, and the largest share of junk. */
  junk: number;
  mostJunk: number;
  ham: number;
}

function openedAt(stored: Uint8Array): Teacher[] {
  if (stored.length === 0) return [];
  try {
    const teacher = { entries: new StoredEntries(stored), isDone: false };
    advance(teacher);
    return [teacher];
  } catch (error) {
    if (error instanceof RangeError) return [];
    throw error;
  }
}

/** Words that are cut end where they are cut. */
function advance(teacher: Teacher): void {
  try {
    teacher.isDone = !teacher.entries.next();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    teacher.isDone = true;
  }
}

/** The smallest token that has not been read, with what all accounts say of it; undefined after the last one. */
function nextWord(accounts: readonly Teacher[]): Word | undefined {
  let token = Number.POSITIVE_INFINITY;
  for (const { isDone, entries } of accounts) if (!isDone && entries.token < token) token = entries.token;
  if (token === Number.POSITIVE_INFINITY) return undefined;
  const word: Word = { token, teachers: 0, junkTeachers: 0, junk: 0, mostJunk: 0, ham: 0 };
  for (const teacher of accounts) {
    const { entries } = teacher;
    if (teacher.isDone || entries.token !== token) continue;
    const junk = shareOf(entries.inJunk, entries.junk);
    word.teachers++;
    if (junk > 0) word.junkTeachers++;
    word.junk += junk;
    word.mostJunk = Math.max(word.mostJunk, junk);
    word.ham += shareOf(entries.inHam, entries.ham);
    advance(teacher);
  }
  return word;
}

const shareOf = (messages: number, all: number): number => Math.min(1, messages / Math.max(all, WHOLE_SHARE));

const unitsOf = (share: number): number => Math.round((Math.min(1, share) * BASE_MESSAGES) / BASE_UNIT);

/** The words of the base. Where there are more than are kept, those that most accounts know stay. */
class FoundWords {
  /** Token, accounts, counts of junk and ham. */
  #found: [number, number, number, number][] = [];

  add(token: number, teachers: number, junk: number, ham: number): void {
    if (junk + ham === 0) return;
    this.#found.push([token, teachers, junk, ham]);
    if (this.#found.length >= 2 * MOST_WORDS) this.#cut();
  }

  words(): JunkWords {
    this.#cut();
    const words = new JunkWords();
    words.junk = BASE_MESSAGES / BASE_UNIT;
    words.ham = BASE_MESSAGES / BASE_UNIT;
    for (const [token, , junk, ham] of this.#found) words.put(token, junk, ham);
    return words;
  }

  #cut(): void {
    if (this.#found.length > MOST_WORDS) this.#found = this.#found.sort(([, a], [, b]) => b - a).slice(0, MOST_WORDS);
  }
}
