// Unclaimed mail in PostgreSQL: the operator lists, moves or deletes the mail of unclaimed mailboxes (unclaimed-mailboxes.ts creates and
// claims them).
import type { UnclaimedMail, UnclaimedMessage, UnclaimedStore } from '../../addresses/unclaimed.js';
import { type Sql, type SqlTransaction, storeFault } from '../driver/client.js';
import { deleteAccountRows } from './account-rows.js';
import { domainOf, lockDomain } from './address-rows.js';
import { announce } from './directory-changes.js';
import { moveUnclaimed } from './unclaimed-mailboxes.js';

export function postgresUnclaimed(sql: Sql): UnclaimedStore {
  return {
    list: (domain) => select(sql, domain === undefined ? sql`true` : sql`a.domain = ${domain}`).catch(rethrow),
    find: (address) => find(sql, address).catch(rethrow),
    messages: (address) => messages(sql, address).catch(rethrow),
    deliver: (address, accountId) =>
      take(sql, address, async (tx, unclaimedId) => {
        const [account] = await tx`select id from accounts where id = ${accountId} and not unclaimed for key share`;
        if (account === undefined) return false;
        await moveUnclaimed(tx, unclaimedId, [accountId]);
        return true;
      }),
    delete: (address) => take(sql, address, deleteAccountRows),
  };
}

/** Placed emails, and messages that wait to be placed, whose envelopes contain their summary. */
function messagesOf(sql: Sql | SqlTransaction) {
  return sql`
    select e.received_at, e.size, e.from_address, e.subject from emails e where e.account_id = a.account_id
    union all
    select to_timestamp((i.envelope->>'receivedAt')::float8 / 1000), b.size,
      i.envelope->'summary'->>'fromAddress', i.envelope->'summary'->>'subject'
    from inbound i join blobs b on b.hash = i.blob where i.account_id = a.account_id`;
}

async function select(
  sql: Sql | SqlTransaction,
  which: ReturnType<typeof messagesOf>,
): Promise<readonly UnclaimedMail[]> {
  return sql<UnclaimedMail[]>`
    select a.address, count(m.size)::integer as messages, coalesce(sum(m.size), 0)::float8 as bytes,
      max(m.received_at) as newest
    from addresses a left join lateral (${messagesOf(sql)}) m on true
    where a.unclaimed and ${which}
    group by a.address order by newest desc nulls last, a.address`;
}

async function find(sql: Sql | SqlTransaction, address: string): Promise<UnclaimedMail | undefined> {
  return (await select(sql, sql`a.address = ${address}`))[0];
}

async function messages(sql: Sql, address: string): Promise<readonly UnclaimedMessage[]> {
  return sql<UnclaimedMessage[]>`
    select m.received_at as "receivedAt", coalesce(m.from_address, '') as "from", coalesce(m.subject, '') as subject,
      m.size::float8 as bytes
    from addresses a join lateral (${messagesOf(sql)}) m on true
    where a.unclaimed and a.address = ${address} order by m.received_at desc`;
}

/** `work` removes the whole mailbox. The lock on its row keeps new mail out until then. */
async function take(
  sql: Sql,
  address: string,
  work: (tx: SqlTransaction, accountId: string) => Promise<boolean>,
): Promise<UnclaimedMail | undefined> {
  return sql
    .begin(async (tx) => {
      await lockDomain(tx, domainOf(address));
      const [owner] = await tx<{ id: string }[]>`
        select accounts.id from accounts join addresses a on a.account_id = accounts.id
        where a.address = ${address} and a.unclaimed and accounts.unclaimed for update of accounts`;
      const found = owner && (await find(tx, address));
      if (owner === undefined || found === undefined || !(await work(tx, owner.id))) return undefined;
      await announce(tx, { kind: 'address', address });
      return found;
    })
    .catch(rethrow);
}

function rethrow(error: unknown): never {
  throw storeFault(error);
}
