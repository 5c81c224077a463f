// The queue of a suspended account is parked: its rows have another shard, -1 minus that of the account, which no node reads. So however much
// a suspended account has queued, a look at the queue does not read it, and the released indexes by shard serve both. The commit of the
// mailbox parks what the server writes meanwhile.
import type { SendingSuspension } from '../../limits/sending.js';
import { guarded, type Sql, type SqlTransaction } from '../driver/client.js';

/** Emails of one transaction: commits of the mailbox, and those that share a statement with them, wait for it. */
const BATCH = 200;
const FIRST_ID = '00000000-0000-0000-0000-000000000000';

/**
 * Parks what a suspended account has queued, in batches. What is not parked, because this was interrupted or a draft was queued afterwards,
 * is left out of reads of the queue by its account. @throws StoreFault
 */
export function parkQueue(sql: Sql, accountId: string): Promise<void> {
  return inBatches(sql, accountId, async (tx, after) => {
    if (!(await holdSuspended(tx, accountId))) return [];
    return tx<{ id: string }[]>`
      select id from outbound
      where account_id = ${accountId} and id > ${after} and shard >= 0 and (status in ('Queued', 'Sending') or held_until is not null)
      order by id limit ${BATCH}`;
  });
}

/**
 * Gives emails of a suspended account their shard again, in batches, before it is resumed. `by`: nothing happens when another has suspended
 * the account. @throws StoreFault
 */
export function unparkQueue(sql: Sql, accountId: string, by?: SendingSuspension['by']): Promise<void> {
  return inBatches(sql, accountId, async (tx, after) => {
    if (!(await holdSuspended(tx, accountId, by))) return [];
    return tx<{ id: string }[]>`
      select id from outbound where account_id = ${accountId} and id > ${after} and shard < 0 order by id limit ${BATCH}`;
  });
}

/** Unparks what was parked since `unparkQueue`. The transaction must hold the row of the account. */
export async function unparkRest(tx: SqlTransaction, accountId: string): Promise<void> {
  await tx`update outbound set shard = -1 - shard where account_id = ${accountId} and shard < 0`;
}

/** The shards under which rows of these shards are found, whether they are parked or not. */
export const withParked = (shards: readonly number[]): number[] => shards.flatMap((shard) => [shard, -1 - shard]);

/** `next`: returns the next rows to move, by their ids. */
async function inBatches(
  sql: Sql,
  accountId: string,
  next: (tx: SqlTransaction, after: string) => Promise<readonly { readonly id: string }[]>,
): Promise<void> {
  for (let after: string | undefined = FIRST_ID; after !== undefined; ) {
    const from: string = after;
    after = await guarded(() =>
      sql.begin(async (tx) => {
        const ids = (await next(tx, from)).map(({ id }) => id);
        if (ids.length > 0)
          await tx`update outbound set shard = -1 - shard where account_id = ${accountId} and id = any(${ids}::uuid[])`;
        return ids.length < BATCH ? undefined : ids.at(-1);
      }),
    );
  }
}

/** Holds the row of the account, for which commits of its mailbox wait. Returns false when the account is not suspended. */
async function holdSuspended(tx: SqlTransaction, accountId: string, by?: SendingSuspension['by']): Promise<boolean> {
  const held = await tx`
    select from accounts
    where id = ${accountId} and suspended_at is not null and suspended_by = coalesce(${by ?? null}, suspended_by) for no key update`;
  return held.length > 0;
}
