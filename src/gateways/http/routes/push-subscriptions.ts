// Web Push: the key that browsers subscribe with, and the subscriptions they bring.
import type { PushRegister } from '../../../actors/account/protocol.js';
import { record, text } from '../fields.js';
import { named } from '../json-schema.js';
import { invalid, unauthenticated } from '../problem.js';
import { defineRoute, EMPTY, OWNER, type Route } from '../route.js';

export interface PushSources {
  readonly register: PushRegister;
  /** VAPID, 65 octets in base64url. */
  readonly publicKey: string;
  /** How a subscription is to be stored, or what is wrong with which field. */
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

const vapidPublicKey = named('VapidPublicKey', record({ publicKey: text() }));

export function pushRoutes({ register, publicKey, check }: PushSources): readonly Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: `${PATH}/vapid-public-key`,
      summary: 'The key that subscriptions are made with',
      tags: TAGS,
      access: 'public',
      replies: { 200: vapidPublicKey },
      handler: async () => ({ status: 200, json: { publicKey } }),
    }),
    defineRoute({
      method: 'POST',
      path: PATH,
      summary: 'Subscribe a browser; one of the same endpoint is replaced',
      tags: TAGS,
      access: OWNER,
      body: record({ endpoint: text(), p256dh: text(), auth: text() }),
      replies: { 201: EMPTY },
      handler: async ({ principal, body }) => {
        const checked = check(body);
        if ('errors' in checked) return invalid(checked.errors);
        const done = await register.subscribe(principal.accountId, checked.subscription);
        return done ? { status: 201 } : unauthenticated('invalid_token');
      },
    }),
    defineRoute({
      method: 'DELETE',
      path: PATH,
      summary: 'End the subscriptions of the account',
      tags: TAGS,
      access: OWNER,
      replies: { 204: EMPTY },
      handler: async ({ principal }) => {
        await register.unsubscribe(principal.accountId);
        return { status: 204 };
      },
    }),
  ];
}
