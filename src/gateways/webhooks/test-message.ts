// Tries of a webhook that its account asks for: one signed message `Test`, whatever the state of the webhook, at once and once.
import type { HttpClient } from '../../http-client/http-client.js';
import { newId } from '../../ids/new-id.js';
import { clock } from '../../store/clock.js';
import type { WebhookStore } from '../../store/webhooks.js';
import { attemptWebhook, type WebhookAttempt } from './attempt.js';

/** Undefined when the account has no such webhook. */
export type WebhookTest = (accountId: string, id: string, signal: AbortSignal) => Promise<WebhookAttempt | undefined>;

export function webhookTest(client: HttpClient, store: Pick<WebhookStore, 'target'>): WebhookTest {
  return async (accountId, id, signal) => {
    const target = await store.target(accountId, id, true);
    if (target === undefined) return undefined;
    const now = clock.now();
    const message = { id: `test-${newId()}`, type: 'Test', at: now, data: {} };
    return attemptWebhook(client, { accountId, target, message, now, signal });
  };
}
