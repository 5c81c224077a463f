// Web Push: the key with which browsers subscribe, and the subscriptions that they send.

import { optional } from 'superstruct';
import type { PushSubscriptions } from '../../../../actors/account/protocol.js';
import { record, text } from '../../fields.js';
import { named } from '../../openapi/json-schema.js';
import { invalid, unauthenticated } from '../../problem.js';
import { defineRoute, EMPTY, OWNER, type Route } from '../../route.js';

export interface PushSources {
  readonly subscriptions: PushSubscriptions;
  /** The VAPID key, 65 octets in base64url. */
  readonly publicKey: string;
  /** Returns the subscription in its stored form, or the faulty fields. */
  readonly check: (asked: Subscription) => { readonly subscription: Subscription } | { readonly errors: FaultyFields };
}

interface Subscription {
  readonly endpoint: string;
  readonly p256dh: string;
  readonly auth: string;
}

type FaultyFields = Readonly<Record<string, readonly string[]>>;

const PATH = '/api/push-subscriptions';
const TAGS = ['Push subscriptions'];

const vapidPublicKey = named(
  'VapidPublicKey',
  record({ publicKey: text({ description: 'VAPID: 65 bytes in base64url' }) }),
);

const subscription = named(
  'PushSubscription',
  record({
    endpoint: text({ format: 'uri', description: 'https URL of the push service' }),
    p256dh: text({ description: 'Public key of the browser: 65 bytes in base64url' }),
    auth: text({ description: 'Secret of the browser: 16 bytes in base64url' }),
  }),
);

const ended = named(
  'PushSubscriptionEnd',
  record({ endpoint: optional(text({ format: 'uri', description: 'Endpoint of the subscription that ends' })) }),
);

/** The keys are those of RFC 8291, Appendix A. */
const EXAMPLE: Subscription = {
  endpoint: 'https://push.example.net/push/JzLQ3raZJfFBR0aqvOMsLrt54w4rJUsV',
  p256dh: 'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4',
  auth: 'BTBZMqHH6r4Tts7J_aSIgg',
};

export function pushRoutes({ subscriptions, publicKey, check }: PushSources): readonly Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: `${PATH}/vapid-public-key`,
      summary: 'Public key of the server, with which a browser subscribes',
      tags: TAGS,
      access: 'public',
      replies: { 200: vapidPublicKey },
      handler: async () => ({ status: 200, json: { publicKey } }),
    }),
    defineRoute({
      method: 'POST',
      path: PATH,
      summary: 'Subscribe a browser; a subscription of the same endpoint is replaced',
      description: 'By a session of the page, the subscription ends with the session.',
      tags: TAGS,
      access: OWNER,
      body: subscription,
      example: EXAMPLE,
      replies: { 201: EMPTY },
      handler: async ({ principal, body }) => {
        const checked = check(body);
        if ('errors' in checked) return invalid(checked.errors);
        const sessionId = principal.sessionEnd === undefined ? undefined : (principal.keyId ?? undefined);
        const done = await subscriptions.subscribe(principal.accountId, { ...checked.subscription, sessionId });
        return done ? { status: 201 } : unauthenticated('invalid_token');
      },
    }),
    defineRoute({
      method: 'DELETE',
      path: PATH,
      summary: 'End the subscription of a browser, or all of the account',
      description:
        'With `endpoint`, in the body or in the query, only the subscription of this endpoint ends; without it all subscriptions end. An endpoint that is not subscribed is no error.',
      tags: TAGS,
      access: OWNER,
      query: { endpoint: optional(text({ description: 'Endpoint of the subscription that ends' })) },
      body: ended,
      isBodyOptional: true,
      example: { endpoint: EXAMPLE.endpoint },
      replies: { 204: EMPTY },
      handler: async ({ principal, query, body }) => {
        const endpoint = body.endpoint ?? query.endpoint;
        if (endpoint !== undefined && !URL.canParse(endpoint)) return invalid({ endpoint: ['must be a URL'] });
        await subscriptions.unsubscribe(principal.accountId, endpoint && new URL(endpoint).href);
        return { status: 204 };
      },
    }),
  ];
}
