// The words of emails in PostgreSQL: segments of an index an account (decision 0058). Rows of versions before are read and
// put into segments, and no longer written.
import type { SearchStore, UnindexedEmail } from '../search.js';
import { guarded, type Sql } from './client.js';
import { isLeftBehind } from './earlier-search.js';
import { type SearchLimits, segmentMatches } from './search-matches.js';
import { mergeSegments } from './search-merge.js';
import { clearMerges, putSegments } from './search-segments.js';

/** `sql`: a pool made `byKey`: rows are found through indexes, never by reading a table. */
export function postgresSearch(sql: Sql, limits?: Partial<SearchLimits>): SearchStore {
  const columns = sql`
    account_id as "accountId", id, encode(blob, 'hex') as blob, size::float8 as size, from_address as "fromAddress",
    from_name as "fromName", subject`;

  async function unindexed(accountIds: readonly string[], limit: number): Promise<readonly UnindexedEmail[]> {
    return guarded(
      () => sql<UnindexedEmail[]>`
        select x.* from unnest(${accountIds as string[]}::uuid[]) a (id) cross join lateral (
          select ${columns} from emails where account_id = a.id and id > coalesce(
            (select coalesce(segments_upto, upto) from search_state where account_id = a.id),
            '00000000-0000-0000-0000-000000000000')
          order by id limit ${limit}) x
        order by x."accountId", x.id`,
    );
  }

  // An email that is removed while it is indexed leaves a row behind: it is deleted here.
  async function outdated(accountId: string, limit: number): Promise<readonly UnindexedEmail[]> {
    return guarded(
      () => sql<UnindexedEmail[]>`
        with old as materialized (
          select email_id from email_search where account_id = ${accountId} and ${isLeftBehind(sql)}
          order by email_id limit ${limit}
        ), orphan as (
          delete from email_search where account_id = ${accountId} and email_id = any(array(
            select email_id from old o
            where (select true from emails e where e.account_id = ${accountId} and e.id = o.email_id) is null))
        )
        select ${columns} from old o join emails e on e.account_id = ${accountId} and e.id = o.email_id order by id`,
    );
  }

  async function outdatedAccounts(after: string, limit: number): Promise<readonly string[]> {
    // One scan of the index an account, however many rows each has.
    const rows = await guarded(
      () => sql<{ id: string }[]>`
        with recursive found as (
          (select account_id as id, 1 as n from email_search where account_id > ${after} and ${isLeftBehind(sql)}
            order by account_id limit 1)
          union all
          select next.id, found.n + 1 from found cross join lateral (
            select account_id as id from email_search where account_id > found.id order by account_id limit 1) next
          where found.n < ${limit}
        )
        select id from found`,
    );
    return rows.map(({ id }) => id);
  }

  return {
    unindexed,
    outdated,
    outdatedAccounts,
    put: (emails) => putSegments(sql, emails),
    matches: segmentMatches(sql, limits),
    merge: (accountId, options) => mergeSegments(sql, accountId, options),
    clear: (seen, signal) => clearMerges(sql, seen, signal),
  };
}
