// Smart hosts of hosted domains in PostgreSQL: a column of the domain, so that they go with it.
import type { RelayStore } from '../../relays.js';
import { type Sql, storeFault } from '../driver/client.js';

export function postgresRelays(sql: Sql): RelayStore {
  return {
    relayOf: (domain) => findRelay(sql, domain).catch(rethrow),
    all: () => allRelays(sql).catch(rethrow),
    set: (domain, relay) => setRelay(sql, domain, relay ?? null).catch(rethrow),
  };
}

function rethrow(error: unknown): never {
  throw storeFault(error);
}

async function findRelay(sql: Sql, domain: string): Promise<string | undefined> {
  const [row] = await sql<{ relay: string | null }[]>`select relay from domains where name = ${domain}`;
  return row?.relay ?? undefined;
}

async function allRelays(sql: Sql): Promise<ReadonlyMap<string, string>> {
  const rows = await sql<{ name: string; relay: string }[]>`
    select name, relay from domains where relay is not null order by name`;
  return new Map(rows.map(({ name, relay }) => [name, relay]));
}

async function setRelay(sql: Sql, domain: string, relay: string | null): Promise<boolean> {
  const { count } = await sql`update domains set relay = ${relay} where name = ${domain}`;
  return count > 0;
}
