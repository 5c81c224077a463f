// Finds the accounts with mail that is due because mail arrived (decision 0097): their mailboxes may not be loaded.
import type { AutomaticMailStore } from '../../inbound.js';
import { guarded, type Sql } from '../driver/client.js';

export function postgresAutomaticMail(sql: Sql): AutomaticMailStore {
  return {
    async accountsDue(shards, limit) {
      const rows = await guarded(
        () => sql<{ id: string }[]>`
          select a.id from accounts a
          where a.shard = any(${shards as number[]}::int[]) and a.id in (
            select account_id from due_automatic_mail where detail ->> 'isQueued' = 'false')
          limit ${limit}`,
      );
      return rows.map(({ id }) => id);
    },
  };
}
