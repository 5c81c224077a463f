// Webhooks: the URLs that get the events of the account, the attempts to deliver to them, and replays from the log.
import type { Infer } from 'superstruct';
import { defaulted, nullable } from 'superstruct';
import type { Webhooks } from '../../../../actors/account/protocol.js';
import { isUuid } from '../../../../mail-format/ids.js';
import type { ReplayStart, Webhook, WebhookDelivery } from '../../../../store/webhooks.js';
import { CLIENT_EVENT_TYPES } from '../../../events/client-events.js';
import { wholeChange } from '../../../events/cursor.js';
import { positionOfEventId } from '../../../events/event-id.js';
import type { ClientEventType } from '../../../events/event-payloads.js';
import {
  choice,
  flag,
  idParameter,
  leaf,
  list,
  record,
  shortList,
  text,
  timestamp,
  uuid,
  whole,
} from '../../fields.js';
import { named } from '../../openapi/json-schema.js';
import { invalid, notFound } from '../../problem.js';
import { defineRoute, EMPTY, OWNER, type Route } from '../../route.js';
import { paging } from '../emails/email-shapes.js';

export interface WebhookSources {
  readonly webhooks: Webhooks;
  /** The reason for which nothing is sent to the URL; undefined when the URL is acceptable. */
  readonly urlFault: (url: string) => string | undefined;
  /** Sends one message and waits for the answer; undefined when the webhook does not exist. */
  readonly test: (accountId: string, id: string, signal: AbortSignal) => Promise<TestedWebhook | undefined>;
}

interface TestedWebhook {
  readonly result: string;
  readonly responseStatus: number | null;
  readonly durationMs: number;
  readonly error: string | null;
}

const PATH = '/api/webhooks';
const TAGS = ['Webhooks'];

const shown = {
  url: text({ format: 'uri' }),
  eventTypes: list(text({ enum: CLIENT_EVENT_TYPES, description: 'An empty list is all of them' })),
  isEnabled: flag(),
};

const fields = {
  id: uuid(),
  ...shown,
  disabledReason: nullable(text({ description: 'Why the server disabled the webhook' })),
  failures: whole({ description: 'Attempts that have failed since the last success' }),
  failingSince: nullable(timestamp()),
  nextAttemptAt: nullable(
    timestamp({ description: 'Next attempt of the event that failed; null when nothing waits for a retry' }),
  ),
  createdAt: timestamp(),
  updatedAt: timestamp(),
};

const webhook = named('Webhook', record(fields));

const secret = () => text({ description: '`whsec_` and the key in base64, as libraries of Standard Webhooks take it' });

const madeWebhook = named('MadeWebhook', record({ ...fields, secret: secret() }));

const webhookSecret = named('WebhookSecret', record({ secret: secret() }));

const eventType = choice(...CLIENT_EVENT_TYPES);

const webhookInput = named(
  'WebhookInput',
  record({
    url: text({ format: 'uri', description: 'https URL of the receiver, on a public address' }),
    eventTypes: defaulted(shortList(eventType, 0, CLIENT_EVENT_TYPES.length), () => [] as ClientEventType[]),
    isEnabled: defaulted(flag(), true),
  }),
);

const EXAMPLE = { url: 'https://hooks.example.com/mail', eventTypes: ['NewEmail' as const], isEnabled: true };

const delivery = named(
  'WebhookDelivery',
  record({
    id: uuid(),
    eventId: text({ description: '`webhook-id` of the message' }),
    eventType: text(),
    at: timestamp(),
    attempt: whole({ description: 'From 1' }),
    isDelivered: flag(),
    responseStatus: nullable(whole()),
    durationMs: whole(),
    error: nullable(text()),
  }),
);

const deliveryPage = named(
  'WebhookDeliveryPage',
  record({ items: list(delivery), totalCount: whole(), page: whole(), pageSize: whole() }),
);

const webhookTested = named(
  'WebhookTest',
  record({ isDelivered: flag(), responseStatus: nullable(whole()), durationMs: whole(), error: nullable(text()) }),
);

const replayInput = named(
  'WebhookReplay',
  record({
    after: leaf<string | number>(
      'position',
      (value) => typeof value === 'string' || Number.isSafeInteger(value) || 'must be text or an integer',
    ),
  }),
);

export function webhookRoutes({ webhooks, urlFault, test }: WebhookSources): readonly Route[] {
  const choicesOf = ({ url, eventTypes, isEnabled }: Infer<typeof webhookInput>) => {
    const fault = urlFault(url);
    if (fault !== undefined) return invalid({ url: [fault] });
    return { url: new URL(url).href, eventTypes: [...new Set(eventTypes)], isEnabled };
  };
  const params = { id: idParameter() };

  /** `after`: a number of the log, a cursor, or the id of an event or of a delivery. */
  async function startOf(accountId: string, id: string, after: string | number): Promise<ReplayStart | undefined> {
    const text = String(after);
    if (/^\d{1,15}$/.test(text)) return { seq: Number(text), within: null };
    const event = isUuid(text) ? await webhooks.eventOf(accountId, id, text.toLowerCase()) : text;
    const position = event === undefined ? undefined : positionOfEventId(event, accountId);
    if (position === undefined || position === null) return undefined;
    const { seq, within } = position;
    return { seq: wholeChange(position).seq, within: within === undefined ? null : { seq, ...within } };
  }

  return [
    defineRoute({
      method: 'GET',
      path: PATH,
      summary: 'Webhooks, oldest first',
      tags: TAGS,
      access: OWNER,
      replies: { 200: list(webhook) },
      handler: async ({ principal }) => {
        const found = await webhooks.list(principal.accountId);
        return { status: 200, json: found.map(shownOf) };
      },
    }),
    defineRoute({
      method: 'POST',
      path: PATH,
      summary: 'Make a webhook; its secret is shown in this reply only',
      description:
        'It gets the events that follow, one per request, in the order of the log. Messages and signatures are those of Standard Webhooks. An account has at most 20 webhooks.',
      tags: TAGS,
      access: OWNER,
      body: webhookInput,
      example: EXAMPLE,
      replies: { 201: madeWebhook },
      handler: async ({ principal, body }) => {
        const choices = choicesOf(body);
        if (!('url' in choices)) return choices;
        const made = await webhooks.create(principal.accountId, choices);
        if (made === undefined) return invalid({ url: ['there are as many webhooks as an account may have'] });
        return { status: 201, json: { ...shownOf(made), secret: made.secret } };
      },
    }),
    defineRoute({
      method: 'GET',
      path: `${PATH}/{id}`,
      summary: 'One webhook',
      tags: TAGS,
      access: OWNER,
      params,
      replies: { 200: webhook },
      handler: async ({ principal, params: { id } }) => {
        const found = await webhooks.get(principal.accountId, id);
        return found === undefined ? notFound() : { status: 200, json: shownOf(found) };
      },
    }),
    defineRoute({
      method: 'PUT',
      path: `${PATH}/{id}`,
      summary: 'Replace a webhook',
      description:
        'One that was disabled continues after the last event that it got, as far back as the log reaches. An event that failed is tried at once.',
      tags: TAGS,
      access: OWNER,
      params,
      body: webhookInput,
      example: EXAMPLE,
      replies: { 204: EMPTY },
      handler: async ({ principal, params: { id }, body }) => {
        const choices = choicesOf(body);
        if (!('url' in choices)) return choices;
        return (await webhooks.update(principal.accountId, id, choices)) ? { status: 204 } : notFound();
      },
    }),
    defineRoute({
      method: 'DELETE',
      path: `${PATH}/{id}`,
      summary: 'Delete a webhook and its deliveries',
      tags: TAGS,
      access: OWNER,
      params,
      replies: { 204: EMPTY },
      handler: async ({ principal, params: { id } }) =>
        (await webhooks.remove(principal.accountId, id)) ? { status: 204 } : notFound(),
    }),
    defineRoute({
      method: 'POST',
      path: `${PATH}/{id}/rotate-secret`,
      summary: 'Give a webhook a new secret',
      description: 'For 24 hours messages have a signature of the old secret too.',
      tags: TAGS,
      access: OWNER,
      params,
      replies: { 200: webhookSecret },
      handler: async ({ principal, params: { id } }) => {
        const made = await webhooks.rotateSecret(principal.accountId, id);
        return made === undefined ? notFound() : { status: 200, json: { secret: made } };
      },
    }),
    defineRoute({
      method: 'GET',
      path: `${PATH}/{id}/deliveries`,
      summary: 'Attempts to deliver, newest first',
      description: 'The newest 1,000 of a webhook are kept for 30 days.',
      tags: TAGS,
      access: OWNER,
      params,
      query: paging,
      replies: { 200: deliveryPage },
      handler: async ({ principal, params: { id }, query: { page, pageSize } }) => {
        const found = await webhooks.deliveries(principal.accountId, id, page, pageSize);
        if (found === undefined) return notFound();
        const { items, totalCount } = found;
        return { status: 200, json: { items: items.map(deliveryOf), totalCount, page, pageSize } };
      },
    }),
    defineRoute({
      method: 'POST',
      path: `${PATH}/{id}/replay`,
      summary: 'Deliver the events after a position of the log again',
      description:
        '`after` is the id of an event (`webhook-id`), the id of a delivery, a cursor, or the number of a change. Where the log does not reach back that far, the webhook gets one event `Resync` first.',
      tags: TAGS,
      access: OWNER,
      params,
      body: replayInput,
      example: { after: 1041 },
      replies: { 202: EMPTY },
      handler: async ({ principal, params: { id }, body }) => {
        const start = await startOf(principal.accountId, id, body.after);
        if (start === undefined) return invalid({ after: ['names no position of the account’s log'] });
        const outcome = await webhooks.replay(principal.accountId, id, start);
        if (outcome === 'noSuchWebhook') return notFound();
        return outcome === 'done' ? { status: 202 } : invalid({ after: ['is ahead of the account’s log'] });
      },
    }),
    defineRoute({
      method: 'POST',
      path: `${PATH}/{id}/test`,
      summary: 'Send a message of the type Test, and see the answer',
      description:
        'The message is sent at once and once, also to a disabled webhook. The test is no delivery, and changes nothing. Without an answer within 10 s `isDelivered` is false.',
      tags: TAGS,
      access: OWNER,
      params,
      replies: { 200: webhookTested },
      handler: async ({ principal, params: { id }, aborted }) => {
        const tested = await test(principal.accountId, id, aborted);
        if (tested === undefined) return notFound();
        const { result, responseStatus, durationMs, error } = tested;
        return { status: 200, json: { isDelivered: result === 'delivered', responseStatus, durationMs, error } };
      },
    }),
  ];
}

const timeOf = (time: Date | null): string | null => time?.toISOString() ?? null;

function shownOf(of: Webhook): Infer<typeof webhook> {
  return {
    id: of.id,
    url: of.url,
    eventTypes: [...of.eventTypes],
    isEnabled: of.isEnabled,
    disabledReason: of.disabledReason,
    failures: of.failures,
    failingSince: timeOf(of.failingSince),
    nextAttemptAt: timeOf(of.retryAt),
    createdAt: of.createdAt.toISOString(),
    updatedAt: of.updatedAt.toISOString(),
  };
}

const deliveryOf = (of: WebhookDelivery): Infer<typeof delivery> => ({ ...of, at: of.at.toISOString() });
