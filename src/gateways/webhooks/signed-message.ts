// The message of a webhook in the form of Standard Webhooks 1.0: the body, and the fields by which receivers verify it. Pure.
import { createHmac } from 'node:crypto';

export interface WebhookMessage {
  /** The same at each attempt; contains no full stops. */
  readonly id: string;
  readonly type: string;
  /** The time of the event, in ms since the epoch. */
  readonly at: number;
  /** JSON. */
  readonly data: unknown;
}

const SECRET_PREFIX = 'whsec_';

/** Makes one signature per secret. `now`: ms since the epoch; receivers refuse a message that is minutes old. */
export function signedMessage(
  { id, type, at, data }: WebhookMessage,
  secrets: readonly string[],
  now: number,
): { readonly headers: Readonly<Record<string, string>>; readonly body: string } {
  const body = JSON.stringify({ type, timestamp: new Date(at).toISOString(), data });
  const timestamp = String(Math.floor(now / 1000));
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64');
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
  });
  return {
    headers: {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': timestamp,
      'webhook-signature': signatures.join(' '),
    },
    body,
  };
}
