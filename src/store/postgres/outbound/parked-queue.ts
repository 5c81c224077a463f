// The queue of a suspended account is parked: its rows have another shard, -1 minus that of the account, which no node reads. So however much
// a suspended account has queued, a look at the queue does not read it, and the released indexes by shard serve both. The commit of the
// mailbox parks what the server writes meanwhile.
import type { SqlTransaction } from '../driver/client.js';

/**
 * Parks what the account has queued. The transaction must hold the row of the account, for which commits of the mailbox wait. Drafts that are
 * queued afterwards are not parked: reads of the queue leave them out by the account.
 */
export async function parkQueue(tx: SqlTransaction, accountId: string): Promise<void> {
  await tx`
    update outbound set shard = -1 - shard
    where account_id = ${accountId} and shard >= 0 and (status in ('Queued', 'Sending') or held_until is not null)`;
}

/** Gives all emails of the account their shard again. The transaction must hold the row of the account. */
export async function unparkQueue(tx: SqlTransaction, accountId: string): Promise<void> {
  await tx`update outbound set shard = -1 - shard where account_id = ${accountId} and shard < 0`;
}

/** The shards under which rows of these shards are found, whether they are parked or not. */
export const withParked = (shards: readonly number[]): number[] => shards.flatMap((shard) => [shard, -1 - shard]);
