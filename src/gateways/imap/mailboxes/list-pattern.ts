// Patterns of LIST and LSUB (RFC 9051 §6.3.9): `*` matches any characters, `%` any except the hierarchy separator. The matcher
// follows all reachable positions of the pattern at the same time, so the cost of a match is at most the length of the name
// times the length of the pattern. INBOX and names below it match in any case, other names match exactly.
import { LONGEST_PATH } from '../../../mail-format/folder-name.js';
import { SEPARATOR } from './mailbox-tree.js';

const ANY = '*';
const LEVEL = '%';
const INBOX = 'INBOX';

export class ListPattern {
  /** Whether the pattern also asks for levels above mailboxes that are not mailboxes themselves. */
  readonly namesLevels: boolean;
  /** The characters of the pattern, including wildcards. */
  readonly #pattern: readonly string[];
  readonly #canMatch: boolean;

  constructor(text: string) {
    // Consecutive wildcards become one: `*` when they include one.
    this.#pattern = Array.from(text.replace(/[*%]{2,}/g, (run) => (run.includes(ANY) ? ANY : LEVEL)));
    this.namesLevels = text.endsWith(LEVEL) || !/[*%]/.test(text);
    this.#canMatch = this.#pattern.length <= 2 * LONGEST_PATH + 1;
  }

  matches(name: string): boolean {
    if (!this.#canMatch) return false;
    const pattern = this.#pattern;
    const foldedLength = name === INBOX || name.startsWith(`${INBOX}${SEPARATOR}`) ? INBOX.length : 0;
    let places = this.#behindWildcards([0]);
    let at = 0;
    for (const character of name) {
      const next: number[] = [];
      for (const place of places) {
        const wanted = pattern[place];
        if (wanted === undefined) continue;
        const isWildcard = wanted === ANY || wanted === LEVEL;
        if (wanted === ANY || (wanted === LEVEL && character !== SEPARATOR)) next.push(place);
        else if (!isWildcard && (at < foldedLength ? wanted.toUpperCase() : wanted) === character) next.push(place + 1);
      }
      if (next.length === 0) return false;
      places = this.#behindWildcards(next);
      at++;
    }
    return places.at(-1) === pattern.length;
  }

  /** Adds the positions that are reached when wildcards match nothing; both lists ascend without duplicates. */
  #behindWildcards(places: readonly number[]): number[] {
    const reached: number[] = [];
    for (const first of places) {
      for (let place = first; reached.length === 0 || place > reached.at(-1)!; place++) {
        reached.push(place);
        const wanted = this.#pattern[place];
        if (wanted !== ANY && wanted !== LEVEL) break;
      }
    }
    return reached;
  }
}
