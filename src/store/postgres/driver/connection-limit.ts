// How many connections PostgreSQL accepts from ordinary users, of all programs together.
import type { Sql } from './client.js';

export async function connectionLimit(sql: Sql): Promise<number> {
  const [row] = await sql<[{ most: number }]>`
    select current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int as most`;
  return row.most;
}
