// Words as versions before segments have kept them: one tsvector an email under a GIN index. Its rows are read here until
// their emails are in segments; nothing writes them any more.
import type { SearchTerm } from '../../mail/search-text.js';
import type { SearchPart } from '../search.js';
import type { Fragment, Sql } from './client.js';

/** Of the words of the body and of names of attachments. */
const BODY_WEIGHT = 'C';
const KEY_LENGTH = 7;
/** Of no word, in the order of words: where a field ends. */
const FIELD_END = 0;

/** What every lexeme of the account begins with. Two accounts may share one: rows say whose they are. */
const keyOf = (accountId: string): string => accountId.slice(-KEY_LENGTH);

/**
 * Whether no node of such a version runs: it remembers how far the accounts that it had are in these rows, and reads nothing else, so
 * they stay until then. Through the key, as all statements here: what costs a planner much is compiled.
 */
export const isLeftBehind = (sql: Sql): Fragment => sql`
  not exists (select from nodes where id > '' and expires_at > now() and reads_segments is distinct from incarnation)`;

/** A value of a select list: packed ids of emails in which the terms match; null when the account has no such rows. */
export function earlierMatches(
  sql: Sql,
  accountId: string,
  terms: readonly SearchTerm[],
  part: SearchPart,
  after: string | undefined,
): Fragment {
  // Each condition in a form that the index which must not be taken does not have.
  const condition =
    after === undefined
      ? sql`${throughIndex(sql, accountId, terms, part)} and account_id is not distinct from ${accountId}::uuid`
      : sql`account_id = ${accountId} and email_id > ${after}
          and ts_match_vq(words, ${tsqueryOf(accountId, terms, part)}::tsquery)`;
  return sql`
    case when exists (select from email_search where account_id = ${accountId})
      then (select string_agg(uuid_send(email_id), ''::bytea) from email_search where ${condition}) end`;
}

function throughIndex(sql: Sql, accountId: string, terms: readonly SearchTerm[], part: SearchPart): Fragment {
  const query = tsqueryOf(accountId, terms, part);
  // Words that are the start of a word have no place in the order.
  const phrases = terms
    .map(({ words, prefix }) => (prefix ? words.slice(0, -1) : words))
    .filter(({ length }) => length > 1);
  if (phrases.length === 0) return sql`words @@ ${query}::tsquery`;
  // The index tells which emails have the words, their order which of them may have the phrases.
  const inOrder = phrases.map((words) => sql`and position(${phraseOrder(words)}::bytea in word_order) > 0`);
  return sql`words @@ ${tsqueryOf(accountId, singleWords(terms), 'text')}::tsquery
    and case when word_order is null or true ${inOrder} then ts_match_vq(words, ${query}::tsquery) else false end`;
}

/** The words of the terms, wherever they stand. */
function singleWords(terms: readonly SearchTerm[]): SearchTerm[] {
  return terms.flatMap(({ words, prefix }) =>
    words.map((word, i) => ({ words: [word], prefix: prefix && i === words.length - 1 })),
  );
}

/** At least one term. */
function tsqueryOf(accountId: string, terms: readonly SearchTerm[], part: SearchPart): string {
  const key = keyOf(accountId);
  const weight = part === 'body' ? BODY_WEIGHT : '';
  return terms
    .map(({ words, prefix }) => {
      const lexeme = (word: string, i: number) => {
        const limits = `${prefix && i === words.length - 1 ? '*' : ''}${weight}`;
        return `'${key}${word}'${limits && `:${limits}`}`;
      };
      return `(${words.map(lexeme).join(' <-> ')})`;
    })
    .join(' & ');
}

/** What the order of an email holds when these words follow one another in a field: an octet a word. Several words share one. */
export function phraseOrder(words: readonly string[]): Uint8Array {
  return Uint8Array.from(words, octetOf);
}

function octetOf(word: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < word.length; i++) hash = Math.imul(hash ^ word.charCodeAt(i), 0x01000193);
  hash ^= hash >>> 16;
  return Math.max(FIELD_END + 1, hash & 0xff);
}
