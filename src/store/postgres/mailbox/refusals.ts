// The record of refused mail in PostgreSQL. It has no index: many rows are written, and only an operator reads it.
import type { RefusalStore, RefusedMail } from '../../traces/refused-mail.js';
import { guarded, type Sql } from '../driver/client.js';

export function postgresRefusals(sql: Sql): RefusalStore {
  return {
    add: (refusals) => guarded(() => insertRefusals(sql, refusals)),
    prune: (maxAgeMs, most) => guarded(() => pruneRefusals(sql, maxAgeMs, most)),
  };
}

async function insertRefusals(sql: Sql, refusals: readonly RefusedMail[]): Promise<void> {
  await sql`
    insert into refusals (at, node, listener, remote_address, sender, recipients, transaction_id, message_id, code, reason)
    select to_timestamp(r.at / 1000.0), r.node, r.listener, r."remoteAddress", r.sender, r.recipients, r.transaction,
      r."messageId", r.code, r.reason
    from json_to_recordset(${JSON.stringify(refusals)}::text::json) as r (
      at bigint, node text, listener text, "remoteAddress" text, sender text, recipients text[], transaction uuid,
      "messageId" text, code integer, reason text)`;
}

async function pruneRefusals(sql: Sql, maxAgeMs: number, most: number): Promise<number> {
  const { count } = await sql`
    delete from refusals where at < now() - ${maxAgeMs} * interval '1 millisecond'
      or id <= (select max(id) from refusals) - ${most}::bigint`;
  return count;
}
