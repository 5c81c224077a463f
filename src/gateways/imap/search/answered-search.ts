// Answers SEARCH and SORT: runs the search, sorts the result, writes the untagged response, and keeps what outlives the command:
// the result for `$` and a search that is kept up to date.
import { Refused } from '../completion.js';
import type { SearchArguments, SearchReturn, SortKey } from '../grammar/search.js';
import { refuseUnknownCharset } from '../grammar/search-program.js';
import type { Session } from '../session.js';
import type { PositionSet } from '../view/position-set.js';
import { esearch, type FoundPositions, plainResult, savedPositions } from './results.js';
import type { Search } from './search.js';
import { beginSearch, formOf, selectedOf } from './session-search.js';
import { sortedPositions } from './sort-order.js';
import { keepUpdated, momentOf, refuseTagReuse } from './updating-searches.js';

export interface AskedSearch extends Pick<SearchArguments, 'charset' | 'key' | 'returns'> {
  readonly name: 'SEARCH' | 'SORT';
  readonly isUid: boolean;
  readonly order?: readonly SortKey[];
}

/** Writes the response. A failed search with SAVE leaves `$` empty, unless the command was malformed (RFC 5182 §2.1). */
export function answerSearch(session: Session, asked: AskedSearch): Promise<void> | undefined {
  const failed = (error: unknown): never => {
    const isMalformed = error instanceof Refused && error.completion.status === 'BAD';
    if (asked.returns?.includes('SAVE') === true && !isMalformed) session.savedSearch = [];
    throw error;
  };
  try {
    return answer(session, asked)?.catch(failed);
  } catch (error) {
    return failed(error);
  }
}

function answer(session: Session, asked: AskedSearch): Promise<void> | undefined {
  const { charset, key, returns, order } = asked;
  const saved = session.savedSearch;
  refuseUnknownCharset(charset);
  if (returns?.includes('UPDATE') === true) refuseTagReuse(session);
  const moment = momentOf(selectedOf(session).view);
  const search = beginSearch(session, key);
  const write = (found: FoundPositions) => writeAnswer(session, asked, { search, moment, saved }, found);
  const matches = search.matches();
  if (order === undefined && !(matches instanceof Promise)) {
    write(matches.positions());
    return undefined;
  }
  return found(search, matches, order).then(write);
}

async function found(
  search: Search,
  matches: PositionSet | Promise<PositionSet>,
  order: readonly SortKey[] | undefined,
): Promise<FoundPositions> {
  const set = await matches;
  return order === undefined ? set.positions() : sortedPositions(search, set, order);
}

/** The state of the session when the search began. */
interface Begun {
  readonly search: Search;
  readonly moment: ReturnType<typeof momentOf>;
  readonly saved: readonly number[];
}

function writeAnswer(
  session: Session,
  asked: AskedSearch,
  { search, moment, saved }: Begun,
  found: FoundPositions,
): void {
  const { name, isUid, key, returns, order } = asked;
  const has = (option: SearchReturn) => returns?.includes(option) === true;
  // RFC 9051 §6.4.4: IMAP4rev2 has no SEARCH response.
  const options = returns ?? (name === 'SEARCH' && session.enabled.has('IMAP4REV2') ? (['ALL'] as const) : undefined);
  const form = formOf(session, search, isUid, options ?? []);
  const line = options === undefined ? plainResult(name, found, form) : esearch(found, form);
  if (line !== undefined) session.output.line(line);
  if (has('SAVE')) {
    const { uids } = search.columns;
    session.savedSearch = savedPositions(found, options ?? []).map((position) => uids[position]!);
  }
  if (has('UPDATE')) keepUpdated(session, search, found, { ...moment, key, isUid, order, saved });
}
