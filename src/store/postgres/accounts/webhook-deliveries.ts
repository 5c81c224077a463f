// Delivery attempts of webhooks in PostgreSQL. Ids rise with time, so the newest have the highest ids.
import type { RecordedDelivery, WebhookDelivery, WebhookDeliveryStore } from '../../webhooks.js';
import { guarded, type Sql } from '../driver/client.js';

export function postgresWebhookDeliveries(sql: Sql): WebhookDeliveryStore {
  const columns = sql`
    id, event_id as "eventId", event_type as "eventType", at, attempt, is_delivered as "isDelivered",
    response_status as "responseStatus", duration_ms as "durationMs", error`;

  return {
    async page(accountId, webhookId, page, pageSize) {
      const [found] = await guarded(
        () => sql<{ count: number }[]>`
          select (select count(*)::int from webhook_deliveries d where d.account_id = w.account_id and d.webhook_id = w.id)
            as count
          from webhooks w where w.account_id = ${accountId} and w.id = ${webhookId}`,
      );
      if (found === undefined) return undefined;
      const items = await guarded(
        () => sql<WebhookDelivery[]>`
          select ${columns} from webhook_deliveries where account_id = ${accountId} and webhook_id = ${webhookId}
          order by id desc limit ${pageSize} offset ${(page - 1) * pageSize}`,
      );
      return { items: [...items], totalCount: found.count };
    },

    async get(accountId, webhookId, id) {
      const [row] = await guarded(
        () => sql<WebhookDelivery[]>`
          select ${columns} from webhook_deliveries
          where account_id = ${accountId} and webhook_id = ${webhookId} and id = ${id}`,
      );
      return row;
    },

    async record(deliveries) {
      await guarded(
        () => sql`
          insert into webhook_deliveries (account_id, webhook_id, id, event_id, event_type, at, attempt, is_delivered,
            response_status, duration_ms, error)
          select a, w, x.id, event, type, x.at, attempt, delivered, status, ms, error
          from json_to_recordset(${JSON.stringify(deliveries.map(rowOf))}::text::json) as x (a uuid, w uuid, id uuid,
            event text, type text, at timestamptz, attempt int, delivered boolean, status int, ms int, error text)
          where exists (select from webhooks where account_id = a and webhooks.id = w)
          on conflict do nothing`,
      );
    },

    async prune(maxAgeMs, maxOfWebhook) {
      const { count } = await guarded(
        () => sql`
          with bound as (
            select account_id, id as webhook_id, (
              select d.id from webhook_deliveries d where d.account_id = w.account_id and d.webhook_id = w.id
              order by d.id desc offset ${maxOfWebhook} limit 1) as id
            from webhooks w
          )
          delete from webhook_deliveries d where at < now() - ${maxAgeMs} * interval '1 millisecond' or exists (
            select from bound b where d.account_id = b.account_id and d.webhook_id = b.webhook_id and d.id <= b.id)`,
      );
      return count;
    },
  };
}

const rowOf = ({
  accountId,
  webhookId,
  eventId,
  eventType,
  isDelivered,
  responseStatus,
  durationMs,
  ...rest
}: RecordedDelivery) => ({
  a: accountId,
  w: webhookId,
  event: eventId,
  type: eventType,
  delivered: isDelivered,
  status: responseStatus,
  ms: durationMs,
  ...rest,
});
