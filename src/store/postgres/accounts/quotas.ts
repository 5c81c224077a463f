// Quotas in PostgreSQL. The use of an account is in its row, with the modseq of the commit that wrote it. Where the account has another
// modseq, which a node of 0.2.0, a restore or a claim has made, the use is counted from the emails and written back.
import type { AccountQuota, DomainQuota, LimitSetting, Limits, QuotaStore } from '../../limits/quotas.js';
import { guarded, type Sql, type SqlTransaction } from '../driver/client.js';
import { announce } from './directory-changes.js';

/** Accounts that one statement counts again. */
const MOST_COUNTED = 200;

interface QuotaRow {
  readonly usedBytes: string;
  readonly usedMessages: string;
  readonly quotaBytes: string | null;
  readonly quotaMessages: string | null;
  readonly fullSince: Date | null;
}

interface AccountRow extends QuotaRow {
  readonly accountId: string;
  readonly email: string;
  readonly isNoticed: boolean;
}

interface DomainRow extends QuotaRow {
  readonly name: string;
  readonly isNoticed: boolean;
}

const numberOf = (text: string | null): number | null => (text === null ? null : Number(text));

const quotaOf = ({ usedBytes, usedMessages, quotaBytes, quotaMessages, fullSince }: QuotaRow) => ({
  used: { bytes: Number(usedBytes), messages: Number(usedMessages) },
  setting: { bytes: numberOf(quotaBytes), messages: numberOf(quotaMessages) } satisfies Limits,
  fullSince: fullSince?.getTime() ?? null,
});

const accountOf = ({ accountId, email, isNoticed, ...row }: AccountRow): AccountQuota => ({
  accountId,
  email,
  isNoticed,
  ...quotaOf(row),
});

const domainOf = ({ name, isNoticed, ...row }: DomainRow): DomainQuota => ({ name, isNoticed, ...quotaOf(row) });

export function postgresQuotas(sql: Sql): QuotaStore {
  const accountFields = sql`
    id as "accountId", email, quota_noticed as "isNoticed", coalesce(used_bytes, 0) as "usedBytes",
    coalesce(used_messages, 0) as "usedMessages", quota_bytes as "quotaBytes", quota_messages as "quotaMessages",
    full_since as "fullSince"`;
  const domainRows = (where: ReturnType<Sql>) => sql<DomainRow[]>`
    select d.name, d.quota_noticed as "isNoticed", d.quota_bytes as "quotaBytes", d.quota_messages as "quotaMessages", d.full_since as "fullSince",
      coalesce(u.bytes, 0) as "usedBytes", coalesce(u.messages, 0) as "usedMessages"
    from domains d left join lateral (
      select sum(used_bytes) as bytes, sum(used_messages) as messages from accounts a
      where split_part(a.email, '@', 2) = d.name and not a.unclaimed
    ) u on true
    where ${where} order by d.name`;

  return {
    isAnySet: () =>
      guarded(async () => {
        const [row] = await sql<[{ isSet: boolean }]>`
          select exists (select from accounts where quota_bytes is not null or quota_messages is not null)
            or exists (select from domains where quota_bytes is not null or quota_messages is not null) as "isSet"`;
        return row.isSet;
      }),
    accounts: (ids) =>
      guarded(async () => {
        const read = () => sql<(AccountRow & { isCounted: boolean })[]>`
          select ${accountFields}, used_modseq is not distinct from modseq as "isCounted"
          from accounts where id = any(${ids as string[]}::uuid[]) and not unclaimed`;
        let rows = await read();
        const others = rows.filter(({ isCounted }) => !isCounted).map(({ accountId }) => accountId);
        if (others.length > 0) {
          await count(sql, sql`id = any(${others}::uuid[])`);
          rows = await read();
        }
        return rows.map(accountOf);
      }),
    domains: (names) =>
      guarded(async () => {
        const isLimited: ReturnType<Sql> = sql`
          d.name = any(${names as string[]}) and (d.quota_bytes is not null or d.quota_messages is not null)`;
        await count(sql, sql`split_part(email, '@', 2) in (select d.name from domains d where ${isLimited})`);
        const rows = await domainRows(isLimited);
        return rows.map(domainOf);
      }),
    all: () =>
      guarded(async () => {
        await count(sql, sql`true`);
        const accounts = await sql<AccountRow[]>`
          select ${accountFields} from accounts where not unclaimed order by email`;
        return { accounts: accounts.map(accountOf), domains: (await domainRows(sql`true`)).map(domainOf) };
      }),
    setAccount: (accountId, setting) =>
      told(
        sql,
        accountId,
        (tx) => tx`update accounts set ${tx(columnsOf(setting))} where id = ${accountId} and not unclaimed`,
      ),
    setDomain: (name, setting) =>
      told(sql, undefined, async (tx) => {
        const changed = await tx`update domains set ${tx(columnsOf(setting))} where name = ${name}`;
        // A domain without a limit is not looked at, so nothing else ends its notice.
        await tx`
          update domains set quota_noticed = false
          where name = ${name} and coalesce(quota_bytes, 0) = 0 and coalesce(quota_messages, 0) = 0`;
        return changed;
      }),
    async setFull(owner, isFull) {
      const since = isFull ? sql`coalesce(full_since, now())` : sql`null`;
      if ('domain' in owner)
        await guarded(() => sql`update domains set full_since = ${since} where name = ${owner.domain}`);
      else
        await told(
          sql,
          owner.accountId,
          (tx) => tx`
            update accounts set full_since = ${since}
            where id = ${owner.accountId} and (full_since is not null) <> ${isFull}`,
        );
    },
    ...noticesOf(sql),
  };
}

function noticesOf(sql: Sql): Pick<QuotaStore, 'notice' | 'endNotice' | 'noticeDomain' | 'endDomainNotice'> {
  return {
    notice: (accountId, inboundId, { hash }, envelope) =>
      told(
        sql,
        accountId,
        (tx) => tx`
          with told as (
            update accounts set quota_noticed = true where id = ${accountId} and not quota_noticed returning id
          )
          insert into inbound (account_id, id, blob, envelope)
          select id, ${inboundId}, ${Buffer.from(hash, 'hex')}, ${JSON.stringify(envelope)}::json from told`,
      ),
    async endNotice(accountId) {
      await told(
        sql,
        accountId,
        (tx) => tx`update accounts set quota_noticed = false where id = ${accountId} and quota_noticed`,
      );
    },
    noticeDomain: (name, added) =>
      guarded(() =>
        sql.begin(async (tx) => {
          const { count: noted } = await tx`
            update domains set quota_noticed = true where name = ${name} and not quota_noticed`;
          if (noted > 0 && added !== undefined) {
            const { accountId, inboundId, content, envelope } = added;
            await tx`
              insert into inbound (account_id, id, blob, envelope)
              select id, ${inboundId}, ${Buffer.from(content.hash, 'hex')}, ${JSON.stringify(envelope)}::json
              from accounts where id = ${accountId}`;
          }
          return noted > 0;
        }),
      ),
    async endDomainNotice(name) {
      await guarded(() => sql`update domains set quota_noticed = false where name = ${name}`);
    },
  };
}

/** Returns whether the update has changed a row; then it is announced, as of the account or of all. @throws StoreFault */
function told(
  sql: Sql,
  accountId: string | undefined,
  update: (tx: SqlTransaction) => PromiseLike<{ readonly count: number }>,
): Promise<boolean> {
  return guarded(() =>
    sql.begin(async (tx) => {
      const { count: changed } = await update(tx);
      if (changed > 0) await announce(tx, { kind: 'quotas', ...(accountId !== undefined && { accountId }) });
      return changed > 0;
    }),
  );
}

function columnsOf({ bytes, messages }: LimitSetting): Record<string, number | null> {
  return {
    ...(bytes !== undefined && { quota_bytes: bytes }),
    ...(messages !== undefined && { quota_messages: messages }),
  };
}

/**
 * Counts the use of accounts whose row does not have it. An account that commits meanwhile writes its use itself: its row is passed over, so
 * that this statement and a commit of several accounts never wait for each other.
 */
async function count(sql: Sql, where: ReturnType<Sql>): Promise<void> {
  for (;;) {
    const counted = await sql`
      with other as materialized (
        select id, modseq from accounts
        where ${where} and not unclaimed and used_modseq is distinct from modseq
        order by id limit ${MOST_COUNTED} for no key update skip locked
      ), used as materialized (
        select o.id, o.modseq, coalesce(sum(e.size), 0) as bytes, count(e.id) as messages
        from other o left join emails e on e.account_id = o.id group by o.id, o.modseq
      )
      update accounts a set used_bytes = u.bytes, used_messages = u.messages, used_modseq = u.modseq
      from used u where a.id = u.id and a.modseq = u.modseq`;
    if (counted.count < MOST_COUNTED) return;
  }
}
