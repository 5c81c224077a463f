// When accounts exported, in their rows: one statement decides, so that of two at once one gets it.
import type { ExportStore } from '../exports.js';
import { type Sql, storeFault } from './client.js';

export function postgresExports(sql: Sql): ExportStore {
  async function claim(accountId: string, intervalSeconds: number): Promise<number> {
    if (intervalSeconds === 0) return 0;
    try {
      const claimed = await sql`
        update accounts set mbox_exported_at = now()
        where id = ${accountId}
          and (mbox_exported_at is null or mbox_exported_at <= now() - ${intervalSeconds} * interval '1 second')`;
      if (claimed.count > 0) return 0;
      const [row] = await sql<{ seconds: number | null }[]>`
        select ceil(extract(epoch from mbox_exported_at - now()) + ${intervalSeconds})::float8 as seconds
        from accounts where id = ${accountId}`;
      return Math.min(intervalSeconds, Math.max(1, row?.seconds ?? 1));
    } catch (error) {
      throw storeFault(error);
    }
  }

  return { claim };
}
