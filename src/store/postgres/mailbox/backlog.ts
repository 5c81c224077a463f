// The backlog in PostgreSQL. It reads the whole table, which is nearly empty except when there is a problem to see.
import type { Backlog, BacklogStore } from '../../backlog.js';
import { type Sql, storeFault } from '../driver/client.js';

export function postgresBacklog(sql: Sql): BacklogStore {
  return {
    async inbound() {
      try {
        const [row] = await sql<[{ at: number; waiting: number; oldest: number | null }]>`
          select floor(extract(epoch from now()) * 1000)::float8 as at, count(*)::int as waiting,
            floor(extract(epoch from now() - min(i.at)) * 1000)::float8 as oldest
          from inbound i where i.import_number is null`;
        return { at: row.at, waiting: row.waiting, oldestMs: row.oldest } satisfies Backlog;
      } catch (error) {
        throw storeFault(error);
      }
    },
  };
}
