// Whether the database answers, for the health check.
import { type Sql, storeFault } from './client.js';

/** @throws StoreFault when it does not. */
export async function ping(sql: Sql): Promise<void> {
  try {
    await sql`select 1`;
  } catch (error) {
    throw storeFault(error);
  }
}
