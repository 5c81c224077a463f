// Creates, reads and deletes the rows of segments. Accounts that are being deleted get none: the deletion first locks the row of
// the account, then deletes segments and finally pages.
import type { IndexedEmail } from '../../search.js';
import { levelOf, type Segment } from '../../word-index/index-page.js';
import { pagesOf, segmentWith } from '../../word-index/segment.js';
import { binaryArray } from '../driver/binary-array.js';
import { type Fragment, guarded, type Sql } from '../driver/client.js';
import { octetsOf, pageRows } from './page-rows.js';

/** An id before all others. */
export const NO_ID = '00000000-0000-0000-0000-000000000000';
/** At most this many unready segments are checked per call. */
const LEFT_AT_ONCE = 1_000;
/** One statement deletes this many pages. */
const PAGES_AT_ONCE = 500;

interface PageKey {
  readonly firstWord: Buffer;
  readonly part: number;
}

const FIRST_PAGE: PageKey = { firstWord: Buffer.alloc(0), part: -1 };

export interface NewSegment extends Segment {
  readonly accountId: string;
}

/** Makes one segment per account, accounts ascending. Accounts with the same texts share their pages. */
async function newSegments(emails: readonly IndexedEmail[]): Promise<readonly NewSegment[]> {
  const byAccount = new Map<string, IndexedEmail[]>();
  for (const email of emails) {
    const others = byAccount.get(email.accountId);
    if (others === undefined) byAccount.set(email.accountId, [email]);
    else others.push(email);
  }
  const segments: NewSegment[] = [];
  for (const accountId of [...byAccount.keys()].sort()) {
    const own = byAccount.get(accountId)!;
    const like = segments.find((other) => haveSameTexts(byAccount.get(other.accountId)!, own));
    const pages = like?.pages ?? (await pagesOf(own.map(({ texts }) => texts)));
    segments.push({ accountId, ...segmentWith(own, pages) });
  }
  return segments;
}

const haveSameTexts = (some: readonly IndexedEmail[], others: readonly IndexedEmail[]): boolean =>
  some.length === others.length && some.every(({ texts }, i) => texts === others[i]!.texts);

/** The rows of segments as a source of `insert into search_segments (…) select`. */
export const segmentColumns = (sql: Sql): Fragment => sql`
  account_id, level, emails, last_id, ids, octets, words, positions`;

export function segmentRows(sql: Sql, segments: readonly NewSegment[]): Fragment {
  const only = segments.map(({ pages }) => (pages.length === 1 ? pages[0] : undefined));
  return sql`
    unnest(${segments.map(({ accountId }) => accountId)}::uuid[], ${segments.map(({ emails }) => levelOf(emails))}::smallint[],
      ${segments.map(({ emails }) => emails)}::int[], ${segments.map(({ lastId }) => lastId)}::uuid[],
      ${binaryArray(segments.map(({ ids }) => ids))}::bytea[], ${segments.map(({ pages }) => octetsOf(pages))}::bigint[],
      ${binaryArray(only.map((page) => page?.words))}::bytea[], ${binaryArray(only.map((page) => page?.positions))}::bytea[]
    ) as x (account_id, level, emails, last_id, ids, octets, words, positions)`;
}

/**
 * Stores segments of the emails. It skips accounts whose deletion is running, because that may take long and the other accounts
 * must not wait. Returns the skipped accounts.
 */
export async function putSegments(sql: Sql, emails: readonly IndexedEmail[]): Promise<readonly string[]> {
  if (emails.length === 0) return [];
  const segments = await newSegments(emails);
  const accountIds = segments.map(({ accountId }) => accountId);
  const paged = segments.filter(({ pages }) => pages.length > 1);
  const pages = paged.flatMap((segment) => segment.pages);
  const owners = paged.flatMap(({ accountId, pages }) => pages.map(() => accountId));
  const addedPages = sql`
    , added_pages as (
      insert into search_pages (account_id, segment, first_word, part, words, positions)
      select a.account_id, a.id, page.first_word, page.part, page.words, page.positions
      from ${pageRows(sql, pages)} join added a on a.account_id = (${owners}::uuid[])[page.n]
    )`;
  const locked = await guarded(
    () => sql<{ id: string }[]>`
      with account as materialized (
        select id from accounts where id = any(${accountIds}::uuid[]) order by id for key share skip locked
      ), present as materialized (
        select array_agg(id) as ids from account
      ), moved as (
        -- Not by a statement that comes second with the same emails.
        insert into search_state as s (account_id, upto)
        select account, upto
        from unnest(${accountIds}::uuid[], ${segments.map(({ lastId }) => lastId)}::uuid[]) as x (account, upto)
        where account = any((select ids from present)::uuid[])
        on conflict (account_id) do update set upto = excluded.upto where s.upto < excluded.upto
        returning account_id
      ), added as (
        insert into search_segments (${segmentColumns(sql)})
        select * from ${segmentRows(sql, segments)} where account_id in (select account_id from moved)
        returning account_id, id
      ) ${pages.length > 0 ? addedPages : sql``}
      select id from account`,
  );
  if (locked.length === accountIds.length) return [];
  const present = new Set(locked.map(({ id }) => id));
  return accountIds.filter((id) => !present.has(id));
}

/** Deletes those of the segments that are not ready, with their pages; a merge that is writing to one stops. */
async function discardSegments(sql: Sql, accountId: string, ids: readonly number[]): Promise<void> {
  // This waits for pages that are being written, and prevents later ones. A segment may have become ready meanwhile.
  const unready = await guarded(
    () => sql<{ id: number }[]>`
      update search_segments set emails = -1
      where account_id = ${accountId} and id = any(${ids as number[]}::bigint[]) and not is_ready returning id::float8`,
  );
  for (const { id } of unready) {
    // Deletes by `ctid`: a join, planned while the table was small, reads all pages for each. Each statement starts after the
    // last deleted page, so it does not pass over dead rows.
    for (let last: PageKey | undefined = FIRST_PAGE; last !== undefined; ) {
      const { firstWord, part }: PageKey = last;
      [last] = await guarded(
        () => sql<PageKey[]>`
          with gone as (
            delete from search_pages where ctid = any(array(
              select ctid from search_pages where account_id = ${accountId} and segment = ${id}
                and (first_word, part) > (${firstWord}, ${part})
              order by first_word, part limit ${PAGES_AT_ONCE}))
            returning first_word as "firstWord", part
          )
          select * from gone order by 1 desc, 2 desc limit 1`,
      );
    }
    // Another call may be deleting pages at the same time: the segment stays until none is left.
    await guarded(
      () => sql`
        delete from search_segments where account_id = ${accountId} and id = ${id} and not is_ready
          and not exists (select from search_pages where account_id = ${accountId} and segment = ${id})`,
    );
  }
}

/** Deletes segments that are not needed; the next merge deletes what fails now. */
export async function discardLeft(sql: Sql, accountId: string, ids: readonly number[]): Promise<void> {
  if (ids.length > 0) await discardSegments(sql, accountId, ids).catch(() => {});
}

/** Implements `SearchStore.clear`. When there are many segments, a later call handles the rest. */
export async function clearMerges(sql: Sql, seen: ReadonlySet<number>, signal: AbortSignal): Promise<Set<number>> {
  const rows = await guarded(
    () => sql<{ accountId: string; id: number }[]>`
      select account_id as "accountId", id::float8 from search_segments where not is_ready
      order by account_id, id limit ${LEFT_AT_ONCE}`,
  );
  for (const { accountId, id } of rows) {
    signal.throwIfAborted();
    if (seen.has(id)) await discardSegments(sql, accountId, [id]);
  }
  return new Set(rows.map(({ id }) => id));
}
