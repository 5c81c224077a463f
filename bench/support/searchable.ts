// Waits until messages are searchable: their words are indexed in the background after their acceptance, and this work would count for the
// messages that are measured next. The index is merged afterwards.
import type { Sql } from '../../src/store/postgres/driver/client.js';

const POLL_MS = 250;
/** When no account became searchable for this time (ms), the indexing is stuck. */
const STUCK_MS = 60_000;
/** The consecutive looks that find no new segment of the index: longer than the pause after most merges. */
const QUIET_LOOKS = 4;

/** Resolves when every message in the store is searchable, and the merges are done that became due. */
export async function untilSearchable(sql: Sql): Promise<void> {
  let [least, fewerAt] = [Number.POSITIVE_INFINITY, performance.now()];
  let [segment, looks] = ['', 0];
  for (;;) {
    const { behind, last } = await accountsBehind(sql);
    if (behind < least) [least, fewerAt] = [behind, performance.now()];
    if (behind > 0 && performance.now() - fewerAt > STUCK_MS)
      throw new Error(`${behind} accounts do not become searchable`);
    looks = behind === 0 && last === segment ? looks + 1 : 0;
    if (looks === QUIET_LOOKS) return;
    segment = last;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

async function accountsBehind(sql: Sql): Promise<{ readonly behind: number; readonly last: string }> {
  const [row] = await sql<[{ behind: number; last: string }]>`
    select (select last_value::text from search_segment_ids) as last, (
      select count(*)::int from accounts a
      cross join lateral (select id from emails e where e.account_id = a.id order by id desc limit 1) newest
      left join search_state s on s.account_id = a.id
      where s.upto is null or s.upto < newest.id) as behind`;
  return row;
}
