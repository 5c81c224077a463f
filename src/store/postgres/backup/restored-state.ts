// What differs between a saved store and the restored one. The first store may have gone on after the backup: clients have seen UIDs,
// changes and epochs that the restored one does not know, and mail of its queue has left. So every number continues far beyond those
// that the first store can have given, and outbound email waits for an operator.

import { postgresDeferredFlags } from '../commit/deferred-flags.js';
import type { Sql, SqlTransaction } from '../driver/client.js';

/** More changes of an account, and more owners of a shard, than there are between a backup and its restore. */
const LEAP = 1_000_000;
const EMAILS_A_STEP = 10_000;

export async function makeRestored(tx: SqlTransaction, releasesQueue: boolean): Promise<void> {
  await flushFlags(tx);
  await tx`truncate events`;
  // They are forgotten some minutes after this time, by when the mail that they are about has been placed.
  await tx`update recent_commands set at = now()`;
  await tx`update shard_leases set epoch = epoch + ${LEAP}`;
  await tx`update accounts set epoch = epoch + ${LEAP}, modseq = modseq + ${LEAP}`;
  // A new folder gets the UIDVALIDITY of the inbox plus the number of the change: the first store has given none beyond this sum.
  await tx`
    update folders f set uidvalidity = greatest(extract(epoch from now())::bigint, inbox.uidvalidity + a.modseq)
    from accounts a join folders inbox on inbox.account_id = a.id and inbox.role = 'inbox'
    where f.account_id = a.id`;
  await tx`update outbound set awaits_release = ${!releasesQueue} where status in ('Queued', 'Sending')`;
}

/** Deferred writes of flags refer to the log, which a restored store does not have. */
async function flushFlags(tx: SqlTransaction): Promise<void> {
  const deferred = postgresDeferredFlags(tx as unknown as Sql);
  const accounts = await tx<{ id: string }[]>`select distinct account_id as id from deferred_flag_writes`;
  for (const { id } of accounts) while (await deferred.write(id, EMAILS_A_STEP));
}
