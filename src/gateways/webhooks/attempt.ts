// One attempt to deliver a message to a webhook, and the meaning of its result (Standard Webhooks): 2xx means delivered, 410 means no more
// messages, anything else is tried again.
import type { HttpClient } from '../../net/http-client/http-client.js';
import type { HttpOutcome } from '../../net/http-client/outcome.js';
import { retryAfterMs } from '../../net/http-client/retry-after.js';
import type { WebhookTarget } from '../../store/webhooks.js';
import { signedMessage, type WebhookMessage } from './signed-message.js';

/** The longest pause that a receiver may ask for. */
const LONGEST_RETRY_AFTER_MS = 24 * 3_600_000;
const GONE = 410;

export interface WebhookAttempt {
  /** `given-up`: the node stops; `busy`: no request was made. Neither says anything about the receiver. */
  readonly result: 'delivered' | 'failed' | 'gone' | 'busy' | 'given-up';
  /** Null without an answer. */
  readonly responseStatus: number | null;
  readonly durationMs: number;
  /** The reason for which the message was not delivered. */
  readonly error: string | null;
  /** The pause that the receiver asks for. */
  readonly retryAfterMs: number | undefined;
}

export interface AttemptOptions {
  readonly accountId: string;
  readonly target: Pick<WebhookTarget, 'url' | 'secrets'>;
  readonly message: WebhookMessage;
  /** ms since the epoch. */
  readonly now: number;
  readonly signal?: AbortSignal | undefined;
}

export async function attemptWebhook(client: HttpClient, options: AttemptOptions): Promise<WebhookAttempt> {
  const { accountId, target, message, now, signal } = options;
  const began = performance.now();
  const outcome = await client.post({
    url: target.url,
    accountId,
    ...signedMessage(message, target.secrets, now),
    signal,
  });
  return { ...meaningOf(outcome, now), durationMs: Math.round(performance.now() - began) };
}

function meaningOf(outcome: HttpOutcome, now: number): Omit<WebhookAttempt, 'durationMs'> {
  if ('failure' in outcome) {
    const { failure, detail } = outcome;
    const result = failure === 'busy' ? 'busy' : failure === 'aborted' ? 'given-up' : 'failed';
    return { result, responseStatus: null, error: detail, retryAfterMs: undefined };
  }
  const { status, excerpt } = outcome;
  if (status >= 200 && status < 300) {
    return { result: 'delivered', responseStatus: status, error: null, retryAfterMs: undefined };
  }
  const asked = retryAfterMs(outcome, now);
  return {
    result: status === GONE ? 'gone' : 'failed',
    responseStatus: status,
    error: excerpt === '' ? `The receiver answered ${status}.` : `The receiver answered ${status}: ${excerpt}`,
    retryAfterMs: asked === undefined ? undefined : Math.min(asked, LONGEST_RETRY_AFTER_MS),
  };
}
