// Limits of recipients and suspended accounts in PostgreSQL. The mailbox commit writes what is counted (`commit/sending-commit.ts`).
import {
  type AccountSending,
  type DomainSending,
  type LimitPeriod,
  MOST_KNOWN_RECIPIENTS,
  type PlacedNotice,
  type RecipientLimitSetting,
  type SendingMinute,
  type SendingStore,
  type SendingSuspension,
  type SentRecipients,
} from '../../limits/sending.js';
import { guarded, type Sql, type SqlTransaction } from '../driver/client.js';
import { parkQueue, unparkQueue, unparkRest } from '../outbound/parked-queue.js';
import { announce } from './directory-changes.js';

interface AccountRow {
  readonly accountId: string;
  readonly email: string;
  readonly hour: number | null;
  readonly day: number | null;
  readonly suspendedAt: Date | null;
  readonly suspendedBy: SendingSuspension['by'] | null;
  readonly suspendedReason: string | null;
  readonly resumedAt: Date | null;
}

function accountOf({ accountId, email, hour, day, resumedAt, ...row }: AccountRow): AccountSending {
  const { suspendedAt, suspendedBy, suspendedReason } = row;
  const suspension =
    suspendedAt === null || suspendedBy === null
      ? null
      : { since: suspendedAt.getTime(), by: suspendedBy, reason: suspendedReason ?? '' };
  return { accountId, email, setting: { hour, day }, suspension, resumedAt: resumedAt?.getTime() ?? null };
}

export function postgresSending(sql: Sql): SendingStore {
  return {
    accounts: (ids) =>
      guarded(async () => {
        const rows = await sql<AccountRow[]>`
          select id as "accountId", email, limit_hour as hour, limit_day as day, suspended_at as "suspendedAt",
            suspended_by as "suspendedBy", suspended_reason as "suspendedReason", resumed_at as "resumedAt"
          from accounts where id = any(${ids as string[]}::uuid[]) and not unclaimed`;
        return rows.map(accountOf);
      }),
    domains: (names) =>
      guarded(async () => {
        const rows = await sql<{ name: string; hour: number | null; day: number | null }[]>`
          select name, limit_hour as hour, limit_day as day from domains where name = any(${names as string[]})`;
        return rows.map(({ name, hour, day }): DomainSending => ({ name, setting: { hour, day } }));
      }),
    sentByDomain: (name, since) =>
      guarded(async () => {
        const [row] = await sql<[SentRecipients]>`
          select coalesce(sum(s.recipients) filter (where s.minute >= ${since.hour}), 0)::float8 as hour,
            coalesce(sum(s.recipients), 0)::float8 as day
          from accounts a join sent_counts s on s.account_id = a.id
          where split_part(a.email, '@', 2) = ${name} and not a.unclaimed and s.minute >= ${since.day}`;
        return row;
      }),
    minutesOfDomain: (name, since) =>
      guarded(
        () => sql<{ minute: number; recipients: number }[]>`
          select s.minute, sum(s.recipients)::float8 as recipients
          from sent_counts s join accounts a on a.id = s.account_id
          where s.minute >= ${since} and split_part(a.email, '@', 2) = ${name} and not a.unclaimed group by s.minute`,
      ),
    minutes: (accountId, since) => sentMinutes(sql, accountId, since),
    setAccount: (accountId, setting) =>
      changed(
        sql,
        (tx) => tx`
        update accounts set ${tx(columnsOf(setting))} where id = ${accountId} and not unclaimed`,
      ),
    setDomain: (name, setting) =>
      changed(sql, (tx) => tx`update domains set ${tx(columnsOf(setting))} where name = ${name}`),
    async suspend(accountId, { by, reason }, notice) {
      const isSuspended = await changed(
        sql,
        (tx) => tx`
          update accounts set suspended_at = coalesce(suspended_at, now()), suspended_by = ${by},
            suspended_reason = coalesce(${reason}::text, suspended_reason, '')
          where id = ${accountId} and not unclaimed and (${by} = 'operator' or suspended_at is null)`,
        { accountId, notice },
      );
      if (isSuspended) await parkQueue(sql, accountId);
      return isSuspended;
    },
    async resume(accountId, by) {
      await unparkQueue(sql, accountId, by);
      return changed(sql, (tx) => resumed(tx, accountId, by), { accountId });
    },
    notice: (owner, period, notice) =>
      guarded(() =>
        sql.begin(async (tx) => {
          const at = NOTICED[period];
          const set = tx`set ${tx(at)} = now() where (${tx(at)} is null or ${tx(at)} < now() - interval '1 day')`;
          const { count } =
            'accountId' in owner
              ? await tx`update accounts ${set} and id = ${owner.accountId}`
              : await tx`update domains ${set} and name = ${owner.domain}`;
          if (count > 0) await place(tx, notice);
          return count > 0;
        }),
      ),
    forget: (before, limit) =>
      guarded(async () => {
        const { count } = await sql`
          delete from sent_counts where (account_id, minute) in (
            select account_id, minute from sent_counts where minute < ${before} limit ${limit})`;
        return count;
      }),
    forgetKnown: (maxAgeDays, most, limit) =>
      guarded(async () => {
        const { count } = await sql`
          with busy as (
            select account_id from known_recipients group by account_id having count(*) > ${most}
          ), gone as (
            (select account_id, address from known_recipients where since < current_date - ${maxAgeDays}::int limit ${limit})
            union
            (select b.account_id, k.address from busy b cross join lateral (
              select address from known_recipients k where k.account_id = b.account_id order by since desc, address offset ${most}
            ) k limit ${limit})
          )
          delete from known_recipients k using gone g where k.account_id = g.account_id and k.address = g.address`;
        return count;
      }),
  };
}

async function resumed(tx: SqlTransaction, accountId: string, by: SendingSuspension['by'] | undefined) {
  const updated = await tx`
    update accounts set suspended_at = null, suspended_by = null, suspended_reason = null, resumed_at = now()
    where id = ${accountId} and suspended_at is not null and suspended_by = coalesce(${by ?? null}, suspended_by)`;
  if (updated.count > 0) await unparkRest(tx, accountId);
  return updated;
}

/** @throws StoreFault */
export function sentMinutes(sql: Sql, accountId: string, since: number): Promise<readonly SendingMinute[]> {
  return guarded(async () => [
    ...(await sql<SendingMinute[]>`
      select minute, recipients, strangers, refused, forwarded from sent_counts
      where account_id = ${accountId} and minute >= ${since} order by minute`),
  ]);
}

/** After so many days, an address to which the account writes again is as new. */
const RENEWED_DAYS = 180;

/**
 * Those of the addresses to which the account has never written; none when it knows as many addresses as are kept.
 * @throws StoreFault
 */
export function strangersOf(sql: Sql, accountId: string, addresses: readonly string[]): Promise<readonly string[]> {
  return guarded(async () => {
    // An address that the account still writes to does not grow old.
    const rows = await sql<{ address: string }[]>`
      with renewed as (
        update known_recipients set since = current_date
        where account_id = ${accountId} and address = any(${addresses as string[]}) and since < current_date - ${RENEWED_DAYS}::int
      )
      select address from unnest(${addresses as string[]}::text[]) as asked (address)
      where not exists (select from known_recipients k where k.account_id = ${accountId} and k.address = asked.address)
        -- Whoever has an address here is none, because the mail harms nobody's reputation.
        and not exists (select from domains d where d.name = split_part(asked.address, '@', 2))
        and not exists (select from domain_aliases d where d.name = split_part(asked.address, '@', 2))`;
    if (rows.length === 0) return [];
    // An account that knows as many as are kept has forgotten older ones: a new one tells nothing.
    const [last] = await sql`
      select from known_recipients where account_id = ${accountId} offset ${MOST_KNOWN_RECIPIENTS - 1} limit 1`;
    return last === undefined ? rows.map(({ address }) => address) : [];
  });
}

/** Whether the account has written to the address, in canonical form. @throws StoreFault */
export function hasWrittenTo(sql: Sql, accountId: string, address: string): Promise<boolean> {
  return guarded(async () => {
    const rows = await sql`select from known_recipients where account_id = ${accountId} and address = ${address}`;
    return rows.length > 0;
  });
}

const NOTICED: Readonly<Record<LimitPeriod, string>> = {
  hour: 'limit_hour_noticed_at',
  day: 'limit_day_noticed_at',
};

/** Returns whether a row was changed; then it is announced, with the account that was suspended or resumed, and the notice is placed. */
function changed(
  sql: Sql,
  update: (tx: SqlTransaction) => PromiseLike<{ readonly count: number }>,
  { notice, accountId }: { readonly notice?: PlacedNotice | undefined; readonly accountId?: string } = {},
): Promise<boolean> {
  return guarded(() =>
    sql.begin(async (tx) => {
      const { count } = await update(tx);
      if (count === 0) return false;
      if (notice !== undefined) await place(tx, notice);
      await announce(tx, { kind: 'sending', ...(accountId !== undefined && { accountId }) });
      return true;
    }),
  );
}

/** Accounts that were deleted meanwhile get nothing. */
async function place(tx: SqlTransaction, { blob, envelope, inboxes }: PlacedNotice): Promise<void> {
  const accountIds = inboxes.map(({ accountId }) => accountId);
  const ids = inboxes.map(({ inboundId }) => inboundId);
  await tx`
    insert into inbound (account_id, id, blob, envelope)
    select a.id, i.id, ${Buffer.from(blob, 'hex')}, ${JSON.stringify(envelope)}::json
    from unnest(${accountIds}::uuid[], ${ids}::uuid[]) as i (account_id, id) join accounts a on a.id = i.account_id`;
}

function columnsOf({ hour, day }: RecipientLimitSetting): Record<string, number | null> {
  return { ...(hour !== undefined && { limit_hour: hour }), ...(day !== undefined && { limit_day: day }) };
}
