// Preferences in PostgreSQL: one row an account, made by its first choice. Choices made at once are merged, not lost.
import type { Choices, PreferenceStore } from '../preferences.js';
import { type Sql, storeFault } from './client.js';

export function postgresPreferences(sql: Sql): PreferenceStore {
  return {
    choices: (accountId) => findChoices(sql, accountId).catch(rethrow),
    choose: (accountId, chosen) => mergeChoices(sql, accountId, chosen).catch(rethrow),
  };
}

function rethrow(error: unknown): never {
  throw storeFault(error);
}

async function findChoices(sql: Sql, accountId: string): Promise<Choices | undefined> {
  const [row] = await sql<Choices[]>`
    select coalesce(p.chosen, '{}') as chosen, coalesce(p.updated_at, a.created_at) as "updatedAt"
    from accounts a left join preferences p on p.account_id = a.id where a.id = ${accountId}`;
  return row;
}

/** The account's row is shared, so that it is not deleted meanwhile and this row left behind. */
async function mergeChoices(sql: Sql, accountId: string, chosen: Choices['chosen']): Promise<boolean> {
  const { count } = await sql`
    with account as (select id from accounts where id = ${accountId} for key share)
    insert into preferences (account_id, chosen) select id, ${JSON.stringify(chosen)}::text::jsonb from account
    on conflict (account_id) do update set chosen = preferences.chosen || excluded.chosen, updated_at = now()`;
  return count > 0;
}
