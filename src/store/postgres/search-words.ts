// Words as PostgreSQL's tsvector and tsquery, written out here rather than by its parser: both sides then agree on what a
// word is whatever the server's locale is, no input is a syntax error, and the limits of a tsvector are kept.
import type { SearchTerm } from '../../mail/search-text.js';
import type { EmailWords, SearchPart } from '../search.js';

/** Of a tsvector: positions end there (a later word keeps the last), and a lexeme has at most so many. */
const LAST_POSITION = 16_383;
const POSITIONS = 255;
/** A tsvector holds 1 MiB; the words of a longer text after these octets are not found. */
const OCTETS = 800_000;
/** Of the words of the body and of names of attachments. */
const BODY_WEIGHT = 'C';
/** No phrase reaches from one field into the next. */
const GAP = 10;

/** What every lexeme of the account begins with. Two accounts may share one: rows say whose they are. */
const keyOf = (accountId: string): string => accountId.slice(-7);

export function tsvectorOf(accountId: string, { subject, sender, recipients, attachments, body }: EmailWords): string {
  const key = keyOf(accountId);
  const lexemes = new Map<string, string[]>();
  let octets = 0;
  let position = 0;
  const add = (words: readonly string[], weight: string): void => {
    for (const word of words) {
      position = Math.min(position + 1, LAST_POSITION);
      let positions = lexemes.get(word);
      if (positions === undefined) {
        // Its text with alignment, its entry and the count of its positions.
        octets += key.length + Buffer.byteLength(word) + 8;
        if (octets > OCTETS) return;
        positions = [];
        lexemes.set(word, positions);
      }
      if (positions.length >= POSITIONS) continue;
      octets += 2;
      positions.push(position + weight);
    }
    position = Math.min(position + GAP, LAST_POSITION);
  };
  add(subject, 'A');
  add(sender, 'B');
  add(recipients, 'B');
  add(attachments, BODY_WEIGHT);
  add(body, BODY_WEIGHT);
  let text = '';
  for (const [word, positions] of lexemes) text += `'${key}${word}':${positions.join(',')} `;
  return text;
}

/** At least one term. */
export function tsqueryOf(accountId: string, terms: readonly SearchTerm[], part: SearchPart): string {
  const key = keyOf(accountId);
  const weight = part === 'body' ? BODY_WEIGHT : '';
  return terms
    .map(({ words, prefix }) => {
      const last = words.length - 1;
      const lexeme = (word: string, i: number) => {
        const limits = `${prefix && i === last ? '*' : ''}${weight}`;
        return `'${key}${word}'${limits && `:${limits}`}`;
      };
      return `(${words.map(lexeme).join(' <-> ')})`;
    })
    .join(' & ');
}
