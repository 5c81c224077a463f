// The time of the last export, in the row of the account. One statement decides, so only one of two concurrent claims succeeds.
import type { ExportClaim, ExportStore } from '../../exports.js';
import { type Sql, storeFault } from '../driver/client.js';

export function postgresExports(sql: Sql): ExportStore {
  async function claim(accountId: string, intervalSeconds: number): Promise<ExportClaim> {
    if (intervalSeconds === 0) return { waitSeconds: 0, permit: null };
    try {
      const [claimed] = await sql<{ permit: string }[]>`
        update accounts set mbox_exported_at = now()
        where id = ${accountId}
          and (mbox_exported_at is null or mbox_exported_at <= now() - ${intervalSeconds} * interval '1 second')
        returning mbox_exported_at::text as permit`;
      if (claimed !== undefined) return { waitSeconds: 0, permit: claimed.permit };
      const [row] = await sql<{ seconds: number | null }[]>`
        select ceil(extract(epoch from mbox_exported_at - now()) + ${intervalSeconds})::float8 as seconds
        from accounts where id = ${accountId}`;
      return { waitSeconds: Math.min(intervalSeconds, Math.max(1, row?.seconds ?? 1)) };
    } catch (error) {
      throw storeFault(error);
    }
  }

  async function giveBack(accountId: string, permit: string, intervalSeconds: number, times: number): Promise<void> {
    try {
      await sql`
        update accounts set mbox_exported_at = null,
          mbox_returned_at = case when is_new then now() else mbox_returned_at end,
          mbox_returned = case when is_new then 1 else mbox_returned + 1 end
        from (
          select id as of, mbox_returned_at is null
            or mbox_returned_at <= now() - ${intervalSeconds} * interval '1 second' as is_new
          from accounts where id = ${accountId}) returned
        where id = of and mbox_exported_at = ${permit}::text::timestamptz and (is_new or mbox_returned < ${times})`;
    } catch (error) {
      throw storeFault(error);
    }
  }

  return { claim, giveBack };
}
