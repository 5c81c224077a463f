// Webhooks as durable consumers: each client event of a change is one message, in the order of the log; each is sent after the previous one
// was delivered. The engine stores the position by changes; this file stores the position within a change of many events.
import type { Logger } from 'pino';
import type { DeliveryOutcome, DeliveryRun, DurableConsumers, LogChange } from '../../actors/consumers/protocol.js';
import type { HttpClient } from '../../net/http-client/http-client.js';
import { clock } from '../../store/clock.js';
import type { ConsumerPosition } from '../../store/consumers.js';
import { newId } from '../../store/ids/new-id.js';
import type { EventPlace, WebhookDeliveryStore, WebhookStore, WebhookTarget } from '../../store/webhooks.js';
import { allClientEventsOf } from '../events/client-events.js';
import { isAfter } from '../events/cursor.js';
import { eventIdOf } from '../events/event-id.js';
import { attemptWebhook, type WebhookAttempt } from './attempt.js';
import { DeliveryRecords } from './delivery-records.js';
import { FAILING_MS, retryDelayMs } from './retry-schedule.js';
import type { WebhookMessage } from './signed-message.js';

/** No message of a change begins later than this, because other consumers wait for a permit. */
const SLICE_MS = 20_000;
/** The position is stored after this many messages of one change. */
const STORED_EVERY = 50;
const BUSY_MS = 1_000;

export interface WebhookConsumersOptions {
  readonly client: HttpClient;
  readonly store: Pick<WebhookStore, 'target' | 'doneWithin' | 'disable'>;
  readonly deliveries: Pick<WebhookDeliveryStore, 'record'>;
  readonly log: Logger;
  /** Called when the server has disabled a webhook, so that its account learns of it. */
  disabled(accountId: string, webhookId: string, url: string, reason: string): Promise<void>;
  /** In [0, 1). */
  readonly random?: () => number;
}

interface PlacedMessage extends WebhookMessage {
  readonly place: EventPlace;
}

export class WebhookConsumers implements DurableConsumers {
  readonly kind = 'webhook';
  readonly #options: WebhookConsumersOptions;
  readonly #records: DeliveryRecords;

  constructor(options: WebhookConsumersOptions) {
    this.#options = options;
    this.#records = new DeliveryRecords(options.deliveries, options.log);
  }

  concerns(event: LogChange['events'][number]): boolean {
    return allClientEventsOf(event).length > 0;
  }

  backoffMs(failures: number): number {
    return retryDelayMs(failures, this.#options.random ?? Math.random);
  }

  async deliver(consumer: ConsumerPosition, change: LogChange, run: DeliveryRun): Promise<DeliveryOutcome> {
    const { store } = this.#options;
    const { accountId, id } = consumer;
    const before = consumer.seq ?? 0;
    const target = await store.target(accountId, id);
    if (target === undefined) return { kind: 'gone' };
    const until = performance.now() + SLICE_MS;
    let done: EventPlace | undefined;
    let count = 0;
    for (const message of messagesOf(change, target, accountId)) {
      const isLate = performance.now() > until;
      const outcome = isLate
        ? ({ kind: 'deferred', ms: 0 } as const)
        : await this.#send(consumer, target, message, count === 0, run);
      if (outcome.kind === 'delivered') {
        done = message.place;
        if (++count % STORED_EVERY === 0) await store.doneWithin(accountId, id, before, done);
        continue;
      }
      if (done !== undefined) await store.doneWithin(accountId, id, before, done);
      return outcome.kind === 'failed' && count > 0 ? { ...outcome, recovered: true } : outcome;
    }
    return count === 0 ? { kind: 'passed' } : { kind: 'delivered' };
  }

  /** Sends the receiver one event which says that it has missed some. */
  async interrupted(consumer: ConsumerPosition, run: DeliveryRun): Promise<DeliveryOutcome> {
    const { accountId, id } = consumer;
    const target = await this.#options.store.target(accountId, id);
    if (target === undefined) return { kind: 'gone' };
    const position = { seq: consumer.seq ?? 0, at: 0 };
    const message = { id: eventIdOf(position, accountId), type: 'Resync', at: clock.now(), data: {} };
    return this.#send(consumer, target, message, true, run);
  }

  /** `isFirst`: the first message of this time slice, so that earlier failures concern this message. */
  async #send(
    consumer: ConsumerPosition,
    target: WebhookTarget,
    message: WebhookMessage,
    isFirst: boolean,
    run: DeliveryRun,
  ): Promise<DeliveryOutcome> {
    const { accountId, id: webhookId } = consumer;
    if (!run.isCurrent()) return { kind: 'deferred', ms: 0 };
    const now = clock.now();
    const { signal } = run;
    const attempt = await attemptWebhook(this.#options.client, { accountId, target, message, now, signal });
    if (attempt.result === 'busy') return { kind: 'deferred', ms: BUSY_MS };
    if (attempt.result === 'given-up') return { kind: 'deferred', ms: 0 };
    const { responseStatus, durationMs, error } = attempt;
    await this.#records.add({
      ...{ accountId, webhookId, id: newId(), eventId: message.id, eventType: message.type, at: new Date(now) },
      ...{ attempt: isFirst ? consumer.failures + 1 : 1, isDelivered: attempt.result === 'delivered' },
      ...{ responseStatus, durationMs, error },
    });
    if (attempt.result === 'delivered') return { kind: 'delivered' };
    return this.#failed(consumer, target, attempt, isFirst);
  }

  async #failed(
    consumer: ConsumerPosition,
    target: WebhookTarget,
    { result, error, retryAfterMs }: WebhookAttempt,
    isFirst: boolean,
  ): Promise<DeliveryOutcome> {
    const { accountId, id: webhookId, failures, failingSince } = consumer;
    const { log } = this.#options;
    log.info({ accountId, webhookId, failures: failures + 1, error }, 'a webhook did not take an event');
    if (result === 'gone') return this.#disable(consumer, target, 'The receiver asked for no more events (410 Gone).');
    if (isFirst && failingSince !== null && clock.now() - failingSince >= FAILING_MS) {
      return this.#disable(consumer, target, `No event could be delivered for five days. The last error: ${error}`);
    }
    return { kind: 'failed', ...(retryAfterMs !== undefined && { retryAfterMs }) };
  }

  async #disable(
    { accountId, id: webhookId }: ConsumerPosition,
    { url }: WebhookTarget,
    reason: string,
  ): Promise<DeliveryOutcome> {
    const { store, log, disabled } = this.#options;
    if (await store.disable(accountId, webhookId, reason)) {
      log.warn({ accountId, webhookId, reason }, 'a webhook was disabled');
      try {
        await disabled(accountId, webhookId, url, reason);
      } catch (err) {
        // The reason is also stored with the webhook.
        log.warn({ accountId, webhookId, err }, 'the account could not be told that a webhook was disabled');
      }
    }
    return { kind: 'gone' };
  }
}

/** The messages that the webhook wants and does not have yet. */
function* messagesOf(
  { seq, at, events }: LogChange,
  { eventTypes, within }: WebhookTarget,
  accountId: string,
): Generator<PlacedMessage> {
  const wanted = new Set(eventTypes);
  for (const event of events) {
    let k = -1;
    for (const { type, payload } of allClientEventsOf(event)) {
      const place = { seq, n: event.n, k: ++k };
      if (wanted.size > 0 && !wanted.has(type)) continue;
      if (within !== null && within.seq === seq && !isAfter(place, within)) continue;
      const id = eventIdOf({ seq, at, within: place }, accountId);
      yield { id, type, at, data: payload, place };
    }
  }
}
