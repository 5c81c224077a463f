// Unclaimed mailboxes: accounts without a login that keep mail for unknown addresses until the address gets an owner: either a
// new account, which takes over the mailbox, or an existing account with a further address, which receives the mail.

import type { Account, UnclaimedResult } from '../../directory.js';
import { newId } from '../../ids/new-id.js';
import { shardOf } from '../../shard.js';
import { codeOf, guarded, type Sql, type SqlTransaction } from '../driver/client.js';
import { GroupCommit } from '../driver/group-commit.js';
import { messageColumns } from '../mailbox/mailbox-columns.js';
import { accountColumns, deleteAccountRows, SYSTEM_FOLDERS } from './account-rows.js';
import { domainOf } from './address-rows.js';

/** One statement creates mailboxes for at most this many addresses. */
const MOST_ADDRESSES = 32;
const MOST_WAITING = 100_000;
/** How long a shared statement waits for the lock of a domain: the addresses of all other domains wait for it too. */
const SHARED_LOCK_MS = 100;
const UNBOUNDED = 0;
const LOCK_NOT_AVAILABLE = '55P03';

interface Wanted {
  readonly address: string;
  /** Unclaimed addresses that its domain may have, including this one. */
  readonly limit: number;
}

/**
 * Concurrent calls share a statement. When another transaction keeps the lock of a domain for long, each address gets its own
 * statement.
 */
export function unclaimedOpener(
  sql: Sql,
  shards: number,
): (address: string, limit: number) => Promise<UnclaimedResult> {
  const holdShared = (wanted: readonly Wanted[]) =>
    openAll(sql, shards, wanted, SHARED_LOCK_MS).catch((error: unknown) => {
      if (codeOf(error) === LOCK_NOT_AVAILABLE) return wanted.map(() => undefined);
      throw error;
    });
  const group = new GroupCommit<Wanted, UnclaimedResult | undefined>(holdShared, {
    maxItems: MOST_ADDRESSES,
    maxWeight: MOST_ADDRESSES,
    maxWaiting: MOST_WAITING,
    weigh: () => 1,
  });
  return async (address, limit) => {
    const wanted = { address, limit };
    const opened = await group.submit(wanted);
    if (opened !== undefined) return opened;
    const [alone] = await guarded(() => openAll(sql, shards, [wanted], UNBOUNDED));
    return alone!;
  };
}

/**
 * Does not wait for the disk: the commit of the first message brings the account to the disk with it. `lockMs`: how long it waits
 * for a lock. The call of the function refers to the settings, so that they are made before it.
 */
async function openAll(
  sql: Sql,
  shards: number,
  wanted: readonly Wanted[],
  lockMs: number,
): Promise<readonly UnclaimedResult[]> {
  const accountIds = wanted.map(() => newId());
  const rows = await sql.unsafe<{ address: string; accountId: string }[]>(
    `select held_address as address, held_account as "accountId"
    from (select set_config('synchronous_commit', 'off', true), set_config('lock_timeout', $10, true) as lock) setting,
      hold_addresses($1, $2, $3, $4, $5, $6, $7, $8, case when setting.lock is not null then $9::text[] end)`,
    [
      wanted.map(({ address }) => address),
      wanted.map(({ address }) => domainOf(address)),
      wanted.map(({ limit }) => limit),
      accountIds,
      accountIds.map((id) => shardOf(id, shards)),
      wanted.map(() => newId()),
      wanted.flatMap(() => SYSTEM_FOLDERS.map(() => newId())),
      SYSTEM_FOLDERS.map(({ role }) => role),
      SYSTEM_FOLDERS.map(({ name }) => name),
      `${lockMs}ms`,
    ],
    { prepare: true },
  );
  const accounts = new Map(rows.map(({ address, accountId }) => [address, accountId]));
  return wanted.map(({ address }, i): UnclaimedResult => {
    const accountId = accounts.get(address);
    return accountId === undefined
      ? { kind: 'full' }
      : { kind: 'opened', accountId, isNew: accountId === accountIds[i] };
  });
}

/**
 * Returns undefined when the unclaimed mailbox was deleted meanwhile. The modseq rises, so that an actor that loaded the mailbox
 * before is fenced at its next write and loads it again.
 */
export async function claimUnclaimed(
  tx: SqlTransaction,
  id: string,
  displayName: string,
): Promise<Account | undefined> {
  const [account] = await tx<Account[]>`
    update accounts set unclaimed = false, display_name = ${displayName}, modseq = modseq + 1
    where id = ${id} and unclaimed returning ${accountColumns(tx)}`;
  if (account !== undefined) await tx`update addresses set unclaimed = false where account_id = ${id}`;
  return account;
}

/** Accepts its mail again, now for the other accounts, and deletes the unclaimed mailbox. */
export async function moveUnclaimed(
  tx: SqlTransaction,
  unclaimedId: string,
  accountIds: readonly string[],
): Promise<void> {
  const [unclaimed] = await tx<
    { id: string }[]
  >`select id from accounts where id = ${unclaimedId} and unclaimed for update`;
  if (unclaimed === undefined) return;
  await spoolUnclaimedMail(tx, unclaimedId, accountIds);
  // Deliveries that the mailbox has remembered are among its emails.
  await tx`
    delete from inbound i using recent_commands c
    where i.account_id = ${unclaimedId} and c.account_id = i.account_id and c.id = i.id`;
  await tx`
    insert into inbound (account_id, id, blob, envelope, at, delivery)
    select taker, i.id, i.blob, i.envelope, i.at,
      -- What the mail owes to addresses elsewhere is sent once.
      case when n = 1 then i.delivery else (i.delivery::jsonb - 'onward')::json end
    from inbound i, unnest(${tx.array([...accountIds])}::uuid[]) with ordinality t (taker, n)
    where i.account_id = ${unclaimedId} and (n = 1 or coalesce(i.delivery -> 'onward' ->> 'isPlaced', 'true') = 'true')`;
  await deleteAccountRows(tx, unclaimedId);
}

/** Writes rows like InboundStore.spool; the email's id becomes the delivery's. */
async function spoolUnclaimedMail(
  tx: SqlTransaction,
  unclaimedId: string,
  accountIds: readonly string[],
): Promise<void> {
  await tx`
    insert into inbound (account_id, id, blob, envelope)
    select taker, e.id, e.blob, jsonb_build_object(
      'receivedAt', floor(extract(epoch from e.received_at) * 1000)::bigint,
      'isJunk', exists (
        select from placements p join folders f on f.account_id = p.account_id and f.id = p.folder_id
        where p.account_id = e.account_id and p.email_id = e.id and f.role = 'junk'),
      'summary', jsonb_build_object(${tx.unsafe(messageColumns.pairs)}))
    from emails e, unnest(${tx.array([...accountIds])}::uuid[]) taker where e.account_id = ${unclaimedId}`;
}

export async function listExpiredUnclaimed(sql: Sql, before: number, limit: number): Promise<readonly string[]> {
  const rows = await sql<{ id: string }[]>`
    select id from accounts a
    where unclaimed and (
      exists (select from emails e where e.account_id = a.id and e.received_at < ${new Date(before)})
      or created_at < ${new Date(before)} and not exists (select from emails e where e.account_id = a.id))
    order by created_at, id limit ${limit}`;
  return rows.map((row) => row.id);
}

/** Locks the row: no login can claim the account, and no mail is spooled for it, because spooling shares the lock. */
export function deleteUnclaimed(sql: Sql, id: string, before: number): Promise<boolean> {
  return sql.begin(async (tx) => {
    const [unclaimed] = await tx`
      select id from accounts where id = ${id} and unclaimed and created_at < ${new Date(before)} for update`;
    if (unclaimed === undefined) return false;
    // This is a separate statement, so that its snapshot is taken with the lock unclaimed.
    const [mail] = await tx`
      select 1 from emails where account_id = ${id} union all select 1 from inbound where account_id = ${id}
      union all select 1 from due_automatic_mail where account_id = ${id}
      union all select 1 from outbound where account_id = ${id} and status in ('Queued', 'Sending') limit 1`;
    return mail === undefined && (await deleteAccountRows(tx, id));
  });
}
