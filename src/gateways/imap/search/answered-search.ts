// SEARCH and SORT from the arguments to the untagged response: the search, its order, its response, and what outlives the command:
// the result that `$` names and a search that is kept up to date.
import { Refused } from '../completion.js';
import type { SearchArguments, SearchReturn, SortKey } from '../grammar/search.js';
import { refuseUnknownCharset } from '../grammar/search-program.js';
import type { Session } from '../session.js';
import { esearch, plainResult, savedPositions } from './results.js';
import { beginSearch, formOf, selectedOf } from './session-search.js';
import { sortedPositions } from './sort-order.js';
import { keepUpdated, momentOf, refuseTagReuse } from './updating-searches.js';

export interface AskedSearch extends Pick<SearchArguments, 'charset' | 'key' | 'returns'> {
  readonly name: 'SEARCH' | 'SORT';
  readonly isUid: boolean;
  readonly order?: readonly SortKey[];
}

/** Writes the response. A search with SAVE that fails leaves `$` empty, unless it was malformed (RFC 5182 §2.1). */
export async function answerSearch(session: Session, asked: AskedSearch): Promise<void> {
  const savedBefore = session.savedSearch;
  try {
    await answer(session, asked, savedBefore);
  } catch (error) {
    const isMalformed = error instanceof Refused && error.completion.status === 'BAD';
    if (asked.returns?.includes('SAVE') === true && !isMalformed) session.savedSearch = [];
    throw error;
  }
}

async function answer(session: Session, asked: AskedSearch, saved: readonly number[]): Promise<void> {
  const { name, isUid, charset, key, returns, order } = asked;
  refuseUnknownCharset(charset);
  const has = (option: SearchReturn) => returns?.includes(option) === true;
  if (has('UPDATE')) refuseTagReuse(session);
  const moment = momentOf(selectedOf(session).view);
  const search = beginSearch(session, key);
  const matches = await search.matches();
  const found = order === undefined ? matches.positions() : await sortedPositions(search, matches, order);
  // RFC 9051 §6.4.4: a client of IMAP4rev2 knows no SEARCH response.
  const options = returns ?? (name === 'SEARCH' && session.enabled.has('IMAP4REV2') ? (['ALL'] as const) : undefined);
  const form = formOf(session, search, isUid, options ?? []);
  const line = options === undefined ? plainResult(name, found, form) : esearch(found, form);
  if (line !== undefined) session.output.line(line);
  const { uids } = search.columns;
  if (has('SAVE')) session.savedSearch = savedPositions(found, options ?? []).map((position) => uids[position]!);
  if (has('UPDATE')) keepUpdated(session, search, found, { ...moment, key, isUid, order, saved });
}
