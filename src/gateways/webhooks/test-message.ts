// Tests of a webhook that its account requests: one signed message `Test`, sent at once and once, in any state of the webhook. A test ends
// before the request that asks for it does (gateways/http/pipeline/pipeline), whatever the receiver does.
import type { HttpClient } from '../../net/http-client/http-client.js';
import { clock } from '../../store/clock.js';
import { newId } from '../../store/ids/new-id.js';
import type { WebhookStore } from '../../store/webhooks.js';
import { attemptWebhook, type WebhookAttempt } from './attempt.js';

const DEADLINE_MS = 10_000;

/** Undefined when the account has no such webhook. */
export type WebhookTest = (accountId: string, id: string, signal: AbortSignal) => Promise<WebhookAttempt | undefined>;

export function webhookTest(
  client: HttpClient,
  store: Pick<WebhookStore, 'target'>,
  deadlineMs = DEADLINE_MS,
): WebhookTest {
  return async (accountId, id, signal) => {
    const target = await store.target(accountId, id, true);
    if (target === undefined) return undefined;
    const now = clock.now();
    const message = { id: `test-${newId()}`, type: 'Test', at: now, data: {} };
    const ending = new AbortController();
    const end = () => ending.abort();
    const timer = setTimeout(end, deadlineMs);
    signal.addEventListener('abort', end, { once: true });
    if (signal.aborted) end();
    try {
      const attempt = await attemptWebhook(client, { accountId, target, message, now, signal: ending.signal });
      if (attempt.result !== 'given-up' || signal.aborted) return attempt;
      return { ...attempt, result: 'failed', error: `The receiver gave no answer in ${deadlineMs / 1000} s.` };
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
    }
  };
}
