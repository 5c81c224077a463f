// One statement reads segments with few octets and emails: their pages, their ids, and which of their emails are gone.
import type { IndexPage } from '../../word-index/index-page.js';
import { guarded, type Sql } from '../driver/client.js';
import { ID_OCTETS } from '../driver/id-set.js';
import { type LiveDocuments, LiveDocumentsBuilder } from './live-documents.js';
import { type PageRow, pageOf } from './page-rows.js';

/** A row of a segment, whose words are null when its pages are separate rows, or a row of a page. */
interface Row extends PageRow {
  readonly segment: number;
  readonly ids: Uint8Array | null;
  /** Numbers of the emails that are gone. */
  readonly gone: readonly number[] | null;
}

export interface SmallSegments {
  readonly live: LiveDocuments;
  /** The pages of each segment. */
  readonly pages: readonly (readonly IndexPage[])[];
}

/** Returns undefined when a segment is gone. */
export async function readSmallSegments(
  sql: Sql,
  accountId: string,
  ids: readonly number[],
): Promise<SmallSegments | undefined> {
  const rows = await guarded(
    () => sql<Row[]>`
      select s.id::float8 as segment, null::bytea as "firstWord", 0 as part, words, positions, s.ids,
        -- One look-up an email, whatever the size of the table was when the statement was planned.
        (select array_agg(n) from generate_series(0, s.emails - 1) n
          where (select true from emails e where e.account_id = ${accountId}
            and e.id = encode(substring(s.ids from n * ${ID_OCTETS} + 1 for ${ID_OCTETS}), 'hex')::uuid) is null) as gone
      from (
        select id, emails, words, positions, ids || ''::bytea as ids from search_segments
        where account_id = ${accountId} and id = any(${ids as number[]}::bigint[]) and is_ready offset 0
      ) s
      union all
      select segment::float8, first_word, part, words, positions, null, null from search_pages
      where account_id = ${accountId} and segment = any(${ids as number[]}::bigint[])
      order by segment, "firstWord" nulls first, part`,
  );
  const live = new LiveDocumentsBuilder();
  const pages = new Map<number, IndexPage[]>();
  for (const row of rows) {
    const { segment, ids: emails, gone } = row;
    if (emails !== null) {
      live.begin(emails.length / ID_OCTETS);
      live.add(0, emails, gone ?? []);
      live.end();
      pages.set(segment, []);
    }
    // During another merge, pages may exist without their segment.
    if (row.words !== null) pages.get(segment)?.push(pageOf(row));
  }
  return pages.size < ids.length ? undefined : { live: live.result(), pages: [...pages.values()] };
}
