// A receiver of webhooks for tests: takes what is posted to any path and verifies it with the library that receivers use
// (Standard Webhooks). Other answers than 200, broken and hostile ones too: see http-receiver.ts.
import { Webhook } from 'standardwebhooks';
import type { Teardown } from './embedded-database.js';
import { type HttpReceiver, type ReceivedRequest, type ReceiverPlace, startHttpReceiver } from './http-receiver.js';

export interface WebhookDelivery {
  /** Header `webhook-id`. */
  readonly id: string;
  /** Header `webhook-timestamp`, seconds. */
  readonly sentAt: number;
  readonly type: string;
  /** ISO 8601. */
  readonly timestamp: string;
  readonly data: Readonly<Record<string, unknown>>;
  /** Of the answer; undefined when there was none. */
  readonly status: number | undefined;
  readonly at: number;
}

export interface WebhookReceiver {
  /** Takes the requests: how it answers, which came, when it is up. */
  readonly receiver: HttpReceiver;
  /** URL of a webhook, with a path of its own. */
  url(name?: string): string;
  /** What came for the URL, in order, also again. @throws WebhookVerificationError on a signature that is not the secret's */
  deliveries(url: string, secret: string): WebhookDelivery[];
  /** Those that were answered with 2xx. */
  accepted(url: string, secret: string): WebhookDelivery[];
}

/** Ends with the test. */
export async function startWebhookReceiver(t: Teardown, place: ReceiverPlace = {}): Promise<WebhookReceiver> {
  const receiver = await startHttpReceiver(t, place);
  const deliveries = (url: string, secret: string) =>
    receiver.requests.filter(({ path }) => receiver.url + path === url).map((request) => delivery(request, secret));
  return {
    receiver,
    url: (name = 'hook') => `${receiver.url}/${name}`,
    deliveries,
    accepted: (url, secret) => deliveries(url, secret).filter(({ status = 0 }) => Math.floor(status / 100) === 2),
  };
}

function delivery({ method, headers, body, answer, at }: ReceivedRequest, secret: string): WebhookDelivery {
  if (method !== 'POST') throw new Error(`a webhook came by ${method}`);
  if (!/^application\/json\b/.test(headers['content-type'] ?? '')) {
    throw new Error(`a webhook came as ${headers['content-type']}`);
  }
  const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature'];
  const signed = Object.fromEntries(names.map((name) => [name, String(headers[name] ?? '')]));
  const { type, timestamp, data } = new Webhook(secret).verify(body, signed) as Pick<
    WebhookDelivery,
    'type' | 'timestamp' | 'data'
  >;
  return {
    id: signed['webhook-id']!,
    sentAt: Number(signed['webhook-timestamp']),
    type,
    timestamp,
    data,
    status: typeof answer === 'object' ? answer.status : undefined,
    at,
  };
}
