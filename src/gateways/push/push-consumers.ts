// Web Push as durable consumers: each subscribed browser gets a message for every new email in the inbox, if the account wants
// notifications at that moment. The answer of the push service decides what happens next: delivered, gone, later, or never.
import type { Logger } from 'pino';
import type { Preferences } from '../../actors/account/protocol.js';
import type { DeliveryOutcome, DeliveryRun, DurableConsumers, LogChange } from '../../actors/consumers/protocol.js';
import type { MailboxEvent } from '../../actors/mailbox/protocol.js';
import { Backoff } from '../../concurrency/backoff.js';
import { FairSemaphore } from '../../concurrency/fair-semaphore.js';
import { lruCache } from '../../concurrency/lru-cache.js';
import type { HttpClient } from '../../net/http-client/http-client.js';
import type { HttpOutcome } from '../../net/http-client/outcome.js';
import { retryAfterMs } from '../../net/http-client/retry-after.js';
import { clock } from '../../store/clock.js';
import type { ConsumerPosition } from '../../store/consumers.js';
import type { PushSubscriptionStore, StoredSubscription } from '../../store/push-subscriptions.js';
import { clientEventsOf } from '../events/client-events.js';
import { type NewEmailShown, type PushMessage, pushMessage, USEFUL_MS } from './push-message.js';
import { pushRequest, type VapidIdentity } from './push-request.js';

/** Concurrent look-ups: fewer than the database has connections. */
const LOOKUPS = 4;
/** A failing subscription rests this long at first, and twice as long after each further failure, up to the longest. */
const FIRST_RETRY_MS = 5_000;
const LONGEST_RETRY_MS = 3_600_000;
/** The rest of a push service that does not answer. */
const HOST_REST = { firstMs: 1_000, longestMs: 60_000, most: 1_000 };
/** The number of changes that are remembered because some of their emails have been sent. */
const MOST_PARTS = 10_000;
/** The longest Retry-After that is obeyed: the message is useless later. */
const LONGEST_WAIT_MS = USEFUL_MS;

export interface PushConsumersOptions {
  readonly subscriptions: Pick<PushSubscriptionStore, 'find' | 'remove'>;
  readonly preferences: Pick<Preferences, 'read'>;
  readonly client: Pick<HttpClient, 'post'>;
  readonly vapid: VapidIdentity;
  /** The URL of the web app. */
  readonly publicUrl: string | undefined;
  readonly log: Logger;
  /** The first rest of a failing subscription, in ms. */
  readonly firstRetryMs?: number;
}

export function pushConsumers(options: PushConsumersOptions): DurableConsumers {
  return new PushConsumers(options);
}

class PushConsumers implements DurableConsumers {
  readonly #subscriptions: Pick<PushSubscriptionStore, 'find' | 'remove'>;
  readonly #preferences: Pick<Preferences, 'read'>;
  readonly #client: Pick<HttpClient, 'post'>;
  readonly #vapid: VapidIdentity;
  readonly #publicUrl: string | undefined;
  readonly #log: Logger;
  readonly #firstRetryMs: number;
  readonly #lookups = new FairSemaphore({ total: LOOKUPS });
  readonly #resting = new Backoff(HOST_REST);
  /** The number of emails that are done, by subscription, of a change that failed midway. The whole change comes again. */
  readonly #parts = lruCache<string, { readonly seq: number; readonly done: number }>(MOST_PARTS);
  readonly kind = 'push';

  constructor(options: PushConsumersOptions) {
    const { subscriptions, preferences, client, vapid, publicUrl, log, firstRetryMs = FIRST_RETRY_MS } = options;
    this.#subscriptions = subscriptions;
    this.#preferences = preferences;
    this.#client = client;
    this.#vapid = vapid;
    this.#publicUrl = publicUrl;
    this.#log = log;
    this.#firstRetryMs = firstRetryMs;
  }

  concerns(event: MailboxEvent): boolean {
    return event.type === 'EmailAdded' ? event.payload.isNew : event.type === 'EmailAnnounced';
  }

  async deliver(consumer: ConsumerPosition, change: LogChange, run: DeliveryRun): Promise<DeliveryOutcome> {
    const emails = change.events.flatMap(newEmailsOf);
    if (emails.length === 0) return { kind: 'passed' };
    const { accountId, id, failures } = consumer;
    const ageMs = Math.max(0, clock.now() - change.at);
    if (ageMs >= USEFUL_MS) {
      this.#log.info({ accountId, subscriptionId: id, failures }, 'push message is a day late, and is dropped');
      return { kind: 'dropped' };
    }
    const [subscription, chosen] = await this.#lookups.run(accountId, () =>
      Promise.all([this.#subscriptions.find(accountId, id), this.#preferences.read(accountId)]),
    );
    if (subscription === undefined || chosen === undefined) return { kind: 'gone' };
    if (!chosen.desktopNotifications) return { kind: 'passed' };
    const part = this.#parts.get(id);
    this.#parts.delete(id);
    let done = part?.seq === change.seq ? part.done : 0;
    let outcome: DeliveryOutcome = { kind: 'passed' };
    for (const email of emails.slice(done)) {
      outcome = await this.#send(accountId, subscription, pushMessage(email, this.#publicUrl, ageMs), run);
      if (outcome.kind !== 'delivered' && outcome.kind !== 'dropped') {
        if (done > 0) this.#parts.set(id, { seq: change.seq, done });
        return outcome;
      }
      done++;
    }
    return outcome;
  }

  backoffMs(failures: number): number {
    return jittered(Math.min(this.#firstRetryMs * 2 ** (failures - 1), LONGEST_RETRY_MS));
  }

  async #send(
    accountId: string,
    subscription: StoredSubscription,
    message: PushMessage,
    { signal, isCurrent }: DeliveryRun,
  ): Promise<DeliveryOutcome> {
    const { host } = new URL(subscription.endpoint);
    const deferral = (): DeliveryOutcome | undefined => {
      const rest = this.#resting.of(host);
      if (rest !== undefined) return { kind: 'deferred', ms: jittered(rest.ms) };
      return isCurrent() ? undefined : { kind: 'deferred', ms: 0 };
    };
    const before = deferral();
    if (before !== undefined) return before;
    const mayBegin = () => deferral() === undefined;
    const outcome = await this.#client.post({
      accountId,
      ...pushRequest(subscription, message, this.#vapid),
      signal,
      mayBegin,
    });
    if ('failure' in outcome && outcome.failure === 'aborted') return deferral() ?? { kind: 'deferred', ms: 0 };
    if (isUnreachable(outcome)) this.#resting.failed(host);
    else if (!('failure' in outcome) || outcome.failure !== 'busy') this.#resting.succeeded(host);
    return this.#judged(accountId, subscription, outcome);
  }

  async #judged(accountId: string, subscription: StoredSubscription, outcome: HttpOutcome): Promise<DeliveryOutcome> {
    const { host } = new URL(subscription.endpoint);
    const shown = { accountId, subscriptionId: subscription.id, host };
    if ('failure' in outcome) {
      const { failure, detail } = outcome;
      if (failure === 'busy') return { kind: 'deferred', ms: jittered(FIRST_RETRY_MS) };
      this.#log.warn({ ...shown, failure, detail }, 'push service could not be reached');
      return { kind: 'failed' };
    }
    const { status, excerpt } = outcome;
    if (status >= 200 && status < 300) {
      this.#log.debug({ ...shown, status }, 'push message sent');
      return { kind: 'delivered' };
    }
    if (status === 404 || status === 410) {
      await this.#subscriptions.remove(accountId, subscription);
      this.#log.info({ ...shown, status }, 'push subscription has ended');
      return { kind: 'gone' };
    }
    if (status === 429 || status >= 500) {
      const asked = retryAfterMs(outcome, clock.now());
      this.#log.warn({ ...shown, status, retryAfterMs: asked }, 'push service takes no message now');
      return { kind: 'failed', ...(asked !== undefined && { retryAfterMs: Math.min(asked, LONGEST_WAIT_MS) }) };
    }
    // The fault is in the message or in this server's keys, so the same request would be refused again.
    this.#log.warn({ ...shown, status, answer: excerpt }, 'push service refused a message, which is dropped');
    return { kind: 'dropped' };
  }
}

/** The emails in the form that the hub shows. */
function newEmailsOf(event: MailboxEvent): readonly NewEmailShown[] {
  return clientEventsOf(event, 0).flatMap(({ type, payload }) =>
    type === 'NewEmail' ? [payload as NewEmailShown] : [],
  );
}

/** Whether there is no status, for which the URL of one subscription is not to blame. */
function isUnreachable(outcome: HttpOutcome): boolean {
  return 'failure' in outcome && (outcome.failure === 'timeout' || outcome.failure === 'connection');
}

/** Adds up to a half, so that subscriptions that failed together do not retry together. */
function jittered(ms: number): number {
  return Math.round(ms * (1 + Math.random() / 2));
}
