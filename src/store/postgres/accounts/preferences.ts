// Preferences in PostgreSQL: one row per account, created by its first choice. The commit of the mailbox writes it.
import type { Choices, PreferenceStore } from '../../preferences.js';
import { guarded, type Sql } from '../driver/client.js';

export function postgresPreferences(sql: Sql): PreferenceStore {
  return { choices: (accountId) => guarded(() => findChoices(sql, accountId)) };
}

async function findChoices(sql: Sql, accountId: string): Promise<Choices | undefined> {
  const [row] = await sql<Choices[]>`
    select coalesce(p.chosen, '{}') as chosen, coalesce(p.updated_at, a.created_at) as "updatedAt"
    from accounts a left join preferences p on p.account_id = a.id where a.id = ${accountId}`;
  return row;
}
