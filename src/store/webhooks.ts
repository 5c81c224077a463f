// Port: the webhooks of accounts, and their delivery attempts. The port of consumers has the position of a webhook in the log of
// its account.

/** The place of an event in the log: the change, a record of the change, and one of the record's events. */
export interface EventPlace {
  readonly seq: number;
  readonly n: number;
  readonly k: number;
}

export interface WebhookChoices {
  readonly url: string;
  /** Names of events; empty: all. */
  readonly eventTypes: readonly string[];
  readonly isEnabled: boolean;
}

export interface Webhook extends WebhookChoices {
  readonly id: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** Why the server disabled the webhook. */
  readonly disabledReason: string | null;
  /** Failed attempts since the last success, the time of the first one, and when the next attempt is due. */
  readonly failures: number;
  readonly failingSince: Date | null;
  readonly retryAt: Date | null;
}

/** What a delivery needs. */
export interface WebhookTarget {
  readonly url: string;
  readonly eventTypes: readonly string[];
  /** The current secrets, newest first. */
  readonly secrets: readonly string[];
  /** The last event that is done of the change after the webhook's position. */
  readonly within: EventPlace | null;
}

/** Where a replay begins: after a whole change, or within the one after it. */
export interface ReplayStart {
  readonly seq: number;
  readonly within: EventPlace | null;
}

export interface WebhookStore {
  /** Oldest first. */
  list(accountId: string): Promise<readonly Webhook[]>;
  get(accountId: string, id: string): Promise<Webhook | undefined>;
  /**
   * Creates a webhook, which starts at the account's newest change. Returns undefined when the account has `limit` webhooks, or
   * does not exist.
   */
  create(
    accountId: string,
    webhook: WebhookChoices & { readonly secret: string },
    limit: number,
  ): Promise<Webhook | undefined>;
  /**
   * An enabled webhook is tried at once; earlier failures no longer count when it was disabled, or gets another URL. Returns
   * false when there is no such webhook.
   */
  update(accountId: string, id: string, choices: WebhookChoices): Promise<boolean>;
  remove(accountId: string, id: string): Promise<boolean>;
  /** The old secret also signs for `formerForMs`. Returns false when there is no such webhook. */
  rotateSecret(accountId: string, id: string, secret: string, formerForMs: number): Promise<boolean>;
  /** `ahead`: the account has no such change yet. */
  replay(accountId: string, id: string, start: ReplayStart): Promise<'done' | 'ahead' | 'noSuchWebhook'>;
  /** Undefined when the webhook is deleted, or disabled unless `disabledToo`. */
  target(accountId: string, id: string, disabledToo?: boolean): Promise<WebhookTarget | undefined>;
  /**
   * Records that the events of the change after the webhook's position are done up to this one. Does nothing when the position is
   * not `before`.
   */
  doneWithin(accountId: string, id: string, before: number, place: EventPlace): Promise<void>;
  /** Returns false when the webhook is deleted or already disabled. */
  disable(accountId: string, id: string, reason: string): Promise<boolean>;
}

/** One attempt. */
export interface WebhookDelivery {
  readonly id: string;
  readonly eventId: string;
  readonly eventType: string;
  readonly at: Date;
  /** Number of this attempt for the event, from 1. */
  readonly attempt: number;
  readonly isDelivered: boolean;
  /** Null without an answer. */
  readonly responseStatus: number | null;
  readonly durationMs: number;
  /** Why the event was not delivered. */
  readonly error: string | null;
}

export interface RecordedDelivery extends WebhookDelivery {
  readonly accountId: string;
  readonly webhookId: string;
}

export interface WebhookDeliveryStore {
  /** Newest first; undefined when there is no such webhook. */
  page(
    accountId: string,
    webhookId: string,
    page: number,
    pageSize: number,
  ): Promise<{ readonly items: readonly WebhookDelivery[]; readonly totalCount: number } | undefined>;
  get(accountId: string, webhookId: string, id: string): Promise<WebhookDelivery | undefined>;
  /** Records attempts; those of deleted webhooks are dropped. */
  record(deliveries: readonly RecordedDelivery[]): Promise<void>;
  /** Drops attempts older than `maxAgeMs`, and all but the newest `maxOfWebhook` of each webhook; returns how many. */
  prune(maxAgeMs: number, maxOfWebhook: number): Promise<number>;
}
