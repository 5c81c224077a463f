// A receiver of webhooks for tests: it accepts requests to any path and verifies them with the library that receivers use (Standard
// Webhooks). http-receiver.ts has other answers than 200, including broken and hostile ones.
import { Webhook } from 'standardwebhooks';
import type { Teardown } from '../database/embedded-database.js';
import { type HttpReceiver, type ReceivedRequest, type ReceiverPlace, startHttpReceiver } from './http-receiver.js';

export interface WebhookDelivery {
  /** The header `webhook-id`. */
  readonly id: string;
  /** The header `webhook-timestamp`, in seconds. */
  readonly sentAt: number;
  readonly type: string;
  /** In ISO 8601. */
  readonly timestamp: string;
  readonly data: Readonly<Record<string, unknown>>;
  /** The status of the answer; undefined when there was none. */
  readonly status: number | undefined;
  readonly at: number;
}

export interface WebhookReceiver {
  /** Receives the requests: it decides the answers, stores the requests, and can be shut. */
  readonly receiver: HttpReceiver;
  /** Returns the URL of a webhook with its own path. */
  url(name?: string): string;
  /**
   * Returns the requests for the URL in order, including repetitions. @throws WebhookVerificationError for a signature that does not match
   * the secret
   */
  deliveries(url: string, secret: string): WebhookDelivery[];
  /** Returns the deliveries that were answered with 2xx. */
  accepted(url: string, secret: string): WebhookDelivery[];
}

/** The receiver ends with the test. */
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
