// The greylist in PostgreSQL, by the clock of the database (decision 0037). Addresses are stored as hashes only.
import { createHash } from 'node:crypto';
import {
  GREYLIST_DELAY_MS,
  GREYLIST_KNOWN_MS,
  GREYLIST_WINDOW_MS,
  type GreylistAnswer,
  type GreylistedMail,
  type GreylistStore,
  MOST_KNOWN,
  MOST_KNOWN_OF_NETWORK,
  MOST_WAITING,
  MOST_WAITING_OF_NETWORK,
} from '../../traces/greylist.js';
import { guarded, type Sql, type SqlTransaction } from '../driver/client.js';

/** A known source that is seen again within this time is not written again. */
const REFRESH_MS = 24 * 3_600_000;

export function postgresGreylist(sql: Sql): GreylistStore {
  return {
    ask: (mail) => guarded(() => sql.begin((tx) => ask(tx, mail))),
    prune: () => guarded(() => prune(sql)),
  };
}

async function ask(tx: SqlTransaction, mail: GreylistedMail): Promise<GreylistAnswer> {
  const { network, domains } = mail;
  const sources = [network, ...domains];
  const [known] = await tx<{ ages: boolean }[]>`
    select bool_or(expires_at < now() + ${GREYLIST_KNOWN_MS - REFRESH_MS} * interval '1 millisecond') as ages
    from greylist_known where source = any(${sources}) and expires_at > now() having count(*) > 0`;
  if (known !== undefined) {
    if (known.ages) await refresh(tx, sources);
    return 'known';
  }
  const keys = keysOf(mail);
  await note(tx, network, keys);
  const [found] = await tx<{ noted: number; due: number }[]>`
    select count(*)::integer as noted,
      (count(*) filter (where first_at <= now() - ${GREYLIST_DELAY_MS} * interval '1 millisecond'))::integer as due
    from greylist_waiting where key = any(${keys})`;
  const { noted, due } = found!;
  if (due < keys.length) return noted < keys.length ? 'full' : 'waiting';
  await know(tx, mail);
  await tx`delete from greylist_waiting where key = any(${keys})`;
  return 'retried';
}

async function note(tx: SqlTransaction, network: string, keys: readonly string[]): Promise<void> {
  await tx`
    insert into greylist_waiting (key, network)
    select given.key, ${network} from unnest(${keys as string[]}::text[]) as given (key)
    where exists (select from greylist_waiting w where w.key = given.key) or ${MOST_WAITING_OF_NETWORK} >= ${keys.length} + (
      select count(*) from (
        select from greylist_waiting where network = ${network} limit ${MOST_WAITING_OF_NETWORK}) as waiting)
    on conflict (key) do update set first_at = now()
    where greylist_waiting.first_at < now() - ${GREYLIST_WINDOW_MS} * interval '1 millisecond'`;
}

/** A network that has sent for many domains is known as a network alone. */
async function know(tx: SqlTransaction, { network, domains }: GreylistedMail): Promise<void> {
  const [row] = await tx<{ used: number }[]>`
    select count(*)::integer as used from greylist_known where network = ${network}`;
  const free = Math.max(0, MOST_KNOWN_OF_NETWORK - row!.used);
  const sources = [network, ...domains.slice(0, free)];
  await tx`
    insert into greylist_known (source, network, expires_at)
    select source, ${network}, now() + ${GREYLIST_KNOWN_MS} * interval '1 millisecond'
    from (select distinct unnest(${sources}::text[]) as source order by source) as sources
    on conflict (source) do update set expires_at = excluded.expires_at`;
}

async function refresh(tx: SqlTransaction, sources: readonly string[]): Promise<void> {
  await tx`
    update greylist_known set expires_at = now() + ${GREYLIST_KNOWN_MS} * interval '1 millisecond'
    where source in (
      select source from greylist_known where source = any(${sources as string[]}) and expires_at > now()
      order by source for update)`;
}

async function prune(sql: Sql): Promise<number> {
  const waiting = await sql`
    delete from greylist_waiting where first_at < now() - ${GREYLIST_WINDOW_MS} * interval '1 millisecond'
      or first_at <= (select first_at from greylist_waiting order by first_at desc offset ${MOST_WAITING} limit 1)`;
  const known = await sql`
    delete from greylist_known where expires_at < now()
      or expires_at <= (select expires_at from greylist_known order by expires_at desc offset ${MOST_KNOWN} limit 1)`;
  return waiting.count + known.count;
}

/** A domain stands for all of its servers: the next try may come from another one. */
function keysOf({ network, domains, sender, recipients }: GreylistedMail): string[] {
  const source = domains.toSorted()[0] ?? network;
  const addresses = new Set(recipients.map((each) => each.toLowerCase()));
  // In one order, so that two messages for the same recipients do not wait for each other.
  return [...addresses].toSorted().map((recipient) =>
    createHash('sha256')
      .update(JSON.stringify([source, sender.toLowerCase(), recipient]))
      .digest('base64'),
  );
}
