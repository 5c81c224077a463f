// The words of emails in PostgreSQL: segments of an index per account (decision 0058).
import type { SearchStore, UnindexedEmail } from '../../search.js';
import { guarded, type Sql } from '../driver/client.js';
import { fieldTexts } from './field-texts.js';
import { type SearchLimits, SegmentMatches } from './search-matches.js';
import { mergeSegments } from './search-merge.js';
import { clearMerges, putSegments } from './search-segments.js';

/** `sql`: a `byKey` pool, because rows are found through indexes, never by reading a table. */
export function postgresSearch(sql: Sql, limits?: Partial<SearchLimits>): SearchStore {
  const segments = new SegmentMatches(sql, limits);
  async function unindexed(accountIds: readonly string[], limit: number): Promise<readonly UnindexedEmail[]> {
    return guarded(
      () => sql<UnindexedEmail[]>`
        select x.* from unnest(${accountIds as string[]}::uuid[]) a (id) cross join lateral (
          select account_id as "accountId", id, encode(blob, 'hex') as blob, size::float8 as size,
            from_address as "fromAddress", from_name as "fromName", subject
          from emails where account_id = a.id and id > coalesce(
            (select upto from search_state where account_id = a.id), '00000000-0000-0000-0000-000000000000')
          order by id limit ${limit}) x
        order by x."accountId", x.id`,
    );
  }

  return {
    unindexed,
    put: (emails) => putSegments(sql, emails),
    matches: (...search) => segments.find(...search),
    fieldTexts: (...of) => guarded(() => fieldTexts(sql, ...of)),
    merge: (accountId, options) => mergeSegments(sql, accountId, options),
    clear: (seen, signal) => clearMerges(sql, seen, signal),
  };
}
