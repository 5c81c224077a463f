// Words of messages are indexed in the background, after their acceptance: what is left of earlier mail would count for the messages
// that are measured next.
import type { Sql } from '../../src/store/postgres/client.js';

const POLL_MS = 250;
/** No account was caught up with for so long: something is stuck. */
const STUCK_MS = 60_000;

/** Resolves when every message in the store is searchable. */
export async function untilSearchable(sql: Sql): Promise<void> {
  let [least, fewerAt] = [Number.POSITIVE_INFINITY, performance.now()];
  for (;;) {
    const behind = await accountsBehind(sql);
    if (behind === 0) return;
    if (behind < least) [least, fewerAt] = [behind, performance.now()];
    if (performance.now() - fewerAt > STUCK_MS) throw new Error(`${behind} accounts do not become searchable`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

async function accountsBehind(sql: Sql): Promise<number> {
  const [row] = await sql<[{ behind: number }]>`
    select count(*)::int as behind from accounts a
    cross join lateral (select id from emails e where e.account_id = a.id order by id desc limit 1) newest
    left join search_state s on s.account_id = a.id
    where s.upto is null or s.upto < newest.id`;
  return row.behind;
}
