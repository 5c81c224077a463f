// The arguments of SEARCH, SORT and THREAD (RFC 9051 §6.4.4, RFC 5256, and the extensions that add to them).
import type { CommandReader } from '../wire/command-reader.js';
import { type ResultPage, resultPage } from './result-page.js';
import type { SearchKey } from './search-key.js';
import { charsetNamed, searchProgram, UTF_8 } from './search-program.js';

export type { CalendarDay } from './dates.js';
export type { SearchKey } from './search-key.js';

const PLAIN_RETURNS = ['MIN', 'MAX', 'ALL', 'COUNT', 'SAVE', 'UPDATE', 'CONTEXT'] as const;
export type SearchReturn = (typeof PLAIN_RETURNS)[number] | { readonly partial: ResultPage };

export interface SearchArguments {
  /** Undefined means that the reply is an untagged SEARCH, unless IMAP4rev2 is enabled. `RETURN ()` is ALL. */
  readonly returns: readonly SearchReturn[] | undefined;
  /** The charset in upper case; UTF-8 when the client names none. Texts of the key are decoded, unless the charset is unknown. */
  readonly charset: string;
  readonly key: SearchKey;
}

const SORT_FIELDS = ['ARRIVAL', 'CC', 'DATE', 'FROM', 'SIZE', 'SUBJECT', 'TO', 'DISPLAYFROM', 'DISPLAYTO'] as const;

export interface SortKey {
  readonly by: (typeof SORT_FIELDS)[number];
  readonly isReverse: boolean;
}

export interface SortArguments extends SearchArguments {
  readonly order: readonly SortKey[];
}

const ALGORITHMS = ['ORDEREDSUBJECT', 'REFERENCES'] as const;

export interface ThreadArguments {
  readonly algorithm: (typeof ALGORITHMS)[number];
  readonly charset: string;
  readonly key: SearchKey;
}

type SearchLimits = Pick<CommandReader['limits'], 'searchKeys'>;

/** `takesCharset` is false once UTF8=ACCEPT is enabled: all texts are UTF-8, and another label contradicts them (RFC 6855 §3). */
export function searchArguments(
  reader: CommandReader,
  limits: SearchLimits = reader.limits,
  takesCharset = true,
): SearchArguments {
  const returns = returnOptions(reader);
  if (returns !== undefined) reader.space();
  let charset = UTF_8;
  if (reader.accept('CHARSET ')) {
    charset = charsetNamed(reader);
    if (!takesCharset && charset !== UTF_8) throw reader.fault('expected no charset beside UTF8=ACCEPT');
    reader.space();
  }
  return { returns, charset, key: searchProgram(reader, charset, limits.searchKeys) };
}

export function sortArguments(reader: CommandReader, limits: SearchLimits = reader.limits): SortArguments {
  const returns = returnOptions(reader);
  if (returns !== undefined) reader.space();
  const order = sortOrder(reader);
  reader.space();
  const charset = charsetNamed(reader);
  reader.space();
  return { returns, order, charset, key: searchProgram(reader, charset, limits.searchKeys) };
}

export function threadArguments(reader: CommandReader, limits: SearchLimits = reader.limits): ThreadArguments {
  const word = reader.word();
  const algorithm = ALGORITHMS.find((known) => known === word);
  if (algorithm === undefined) throw reader.fault(`expected ${ALGORITHMS.join(' or ')}`);
  reader.space();
  const charset = charsetNamed(reader);
  reader.space();
  return { algorithm, charset, key: searchProgram(reader, charset, limits.searchKeys) };
}

function returnOptions(reader: CommandReader): SearchReturn[] | undefined {
  if (!reader.accept('RETURN ')) return undefined;
  const plain = new Set<(typeof PLAIN_RETURNS)[number]>();
  let partial: ResultPage | undefined;
  reader.list(() => {
    const word = reader.word();
    if (word === 'PARTIAL') {
      if (partial !== undefined) throw reader.fault('expected one PARTIAL');
      reader.space();
      partial = resultPage(reader);
      return;
    }
    const option = PLAIN_RETURNS.find((known) => known === word);
    if (option === undefined) throw reader.fault(`expected ${PLAIN_RETURNS.join(', ')} or PARTIAL`);
    plain.add(option);
  });
  if (partial === undefined) return plain.size === 0 ? ['ALL'] : [...plain];
  // RFC 5267 §4.4.
  if (plain.has('ALL')) throw reader.fault('expected PARTIAL or ALL, not both');
  return [...plain, { partial }];
}

/** Keeps each criterion once: messages that are equal by it stay equal when it is repeated. */
function sortOrder(reader: CommandReader): SortKey[] {
  const order = new Map<SortKey['by'], SortKey>();
  reader.list(() => {
    const isReverse = reader.accept('REVERSE ');
    const word = reader.word();
    const by = SORT_FIELDS.find((known) => known === word);
    if (by === undefined) throw reader.fault(`expected ${SORT_FIELDS.join(', ')} or REVERSE`);
    if (!order.has(by)) order.set(by, { by, isReverse });
  }, 1);
  return [...order.values()];
}
