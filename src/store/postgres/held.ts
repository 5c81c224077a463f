// Held mailboxes: accounts without a login that keep mail of unknown addresses until the address gets an owner: a
// new account, which then is the held one with its mail, or an account with a further address, which receives the mail.
import type { Account, HoldResult } from '../directory.js';
import { accountColumns, deleteAccountRows, insertAccount } from './account-rows.js';
import { domainOf, findOwner, insertAddress, lockDomain } from './address-rows.js';
import type { Sql, SqlTransaction } from './client.js';
import { messageColumns } from './mailbox-columns.js';

export async function holdAddress(sql: Sql, shards: number, address: string, limit: number): Promise<HoldResult> {
  const domain = domainOf(address);
  // Asked before the lock too: a full domain under a flood of guesses must not make everyone queue for it.
  const owner = await findOwner(sql, address);
  if (owner !== undefined) return { kind: 'held', accountId: owner.accountId };
  if ((await countHeld(sql, domain)) >= limit) return { kind: 'full' };
  return sql.begin(async (tx): Promise<HoldResult> => {
    await lockDomain(tx, domain);
    const other = await findOwner(tx, address);
    if (other !== undefined) return { kind: 'held', accountId: other.accountId };
    if ((await countHeld(tx, domain)) >= limit) return { kind: 'full' };
    const { id } = await insertAccount(tx, { email: address, displayName: '', held: true }, shards);
    await insertAddress(tx, { accountId: id, address, verified: true, held: true });
    return { kind: 'held', accountId: id };
  });
}

async function countHeld(sql: Sql | SqlTransaction, domain: string): Promise<number> {
  const [row] = await sql<[{ count: number }]>`
    select count(*)::integer as count from addresses where domain = ${domain} and held`;
  return row.count;
}

/**
 * Undefined when the held mailbox was deleted meanwhile. The modseq rises so that a mailbox actor that loaded the
 * account while it was held is fenced at its next write and loads it anew.
 */
export async function claimHeld(tx: SqlTransaction, id: string, displayName: string): Promise<Account | undefined> {
  const [account] = await tx<Account[]>`
    update accounts set held = false, display_name = ${displayName}, modseq = modseq + 1
    where id = ${id} and held returning ${accountColumns(tx)}`;
  if (account !== undefined) await tx`update addresses set held = false where account_id = ${id}`;
  return account;
}

/** Its mail is accepted once more, now for the other account, and the held mailbox is gone. */
export async function moveHeld(tx: SqlTransaction, heldId: string, accountId: string): Promise<void> {
  const [held] = await tx<{ id: string }[]>`select id from accounts where id = ${heldId} and held for update`;
  if (held === undefined) return;
  await spoolHeldMail(tx, heldId, accountId);
  await tx`update inbound set account_id = ${accountId} where account_id = ${heldId}`;
  await deleteAccountRows(tx, heldId);
}

/** Rows as InboundStore.spool writes them; the email's id serves as the delivery's. */
async function spoolHeldMail(tx: SqlTransaction, heldId: string, accountId: string): Promise<void> {
  await tx`
    insert into inbound (account_id, id, blob, envelope)
    select ${accountId}, e.id, e.blob, jsonb_build_object(
      'receivedAt', floor(extract(epoch from e.received_at) * 1000)::bigint,
      'isJunk', exists (
        select from placements p join folders f on f.account_id = p.account_id and f.id = p.folder_id
        where p.account_id = e.account_id and p.email_id = e.id and f.role = 'junk'),
      'summary', jsonb_build_object(${tx.unsafe(messageColumns.pairs)}))
    from emails e where e.account_id = ${heldId}`;
}

export async function listHeld(sql: Sql, before: number, limit: number): Promise<readonly string[]> {
  const rows = await sql<{ id: string }[]>`
    select id from accounts a
    where held and (
      exists (select from emails e where e.account_id = a.id and e.received_at < ${new Date(before)})
      or created_at < ${new Date(before)} and not exists (select from emails e where e.account_id = a.id))
    order by created_at, id limit ${limit}`;
  return rows.map((row) => row.id);
}

/** With the row locked no login claims the account, and no mail is spooled for it (which shares the lock). */
export function dropHeld(sql: Sql, id: string, before: number): Promise<boolean> {
  return sql.begin(async (tx) => {
    const [held] = await tx`
      select id from accounts where id = ${id} and held and created_at < ${new Date(before)} for update`;
    if (held === undefined) return false;
    // A statement of its own: its snapshot is taken with the lock held.
    const [mail] = await tx`
      select 1 from emails where account_id = ${id} union all select 1 from inbound where account_id = ${id} limit 1`;
    return mail === undefined && (await deleteAccountRows(tx, id));
  });
}
