// Checks for the health check that the database answers.
import { type Sql, storeFault } from './client.js';

/** @throws StoreFault when the database does not answer. */
export async function ping(sql: Sql): Promise<void> {
  try {
    await sql`select 1`;
  } catch (error) {
    throw storeFault(error);
  }
}
