// Patterns of LIST and LSUB (RFC 9051 §6.3.9): `*` stands for any characters, `%` for any but the hierarchy separator. All
// places of the pattern that may have been reached are followed at the same time, so the cost of a match is at most the
// length of the name times the length of the pattern. INBOX and what is below it match in any case, other names as they are.
import { LONGEST_PATH } from '../../../mail/folder-name.js';
import { SEPARATOR } from './mailbox-tree.js';

const ANY = '*';
const LEVEL = '%';
const INBOX = 'INBOX';

export class ListPattern {
  /** Levels above mailboxes that are no mailboxes themselves are asked for too. */
  readonly namesLevels: boolean;
  /** Characters, the wildcards among them. */
  readonly #pattern: readonly string[];
  readonly #canMatch: boolean;

  constructor(text: string) {
    // Wildcards in a row are one: `*` when there is one among them.
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

  /** With the places that are reached when wildcards stand for nothing; ascending, each once, as `places` are. */
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
