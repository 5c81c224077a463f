// Port: the push subscriptions of the accounts' browsers (Web Push, RFC 8030).

export interface PushSubscription {
  /** URL of the push service; one per browser. */
  readonly endpoint: string;
  /** The browser's public key, 65 octets in base64url. */
  readonly p256dh: string;
  /** Its secret, 16 octets in base64url. */
  readonly auth: string;
}

export interface NewSubscription extends PushSubscription {
  /** The session that makes it: the subscription ends with it. */
  readonly sessionId?: string | undefined;
}

/** A subscription is a durable consumer of its account's log: see consumers.ts. */
export interface StoredSubscription extends PushSubscription {
  readonly id: string;
}

export interface PushSubscriptionStore {
  /**
   * Replaces the subscription of the same endpoint; beyond `limit` the oldest are removed. The account's changes from now on are
   * due. Returns false when there is no such account.
   */
  subscribe(accountId: string, subscription: NewSubscription, limit: number): Promise<boolean>;
  /** Oldest first. */
  subscriptions(accountId: string): Promise<readonly PushSubscription[]>;
  /** Undefined when the subscription was ended, or its session has. */
  find(accountId: string, id: string): Promise<StoredSubscription | undefined>;
  /** Removes the subscription of the endpoint; without an endpoint, all of the account. */
  unsubscribe(accountId: string, endpoint?: string): Promise<void>;
  /** Removes the subscription unless its keys were replaced meanwhile. */
  remove(accountId: string, subscription: StoredSubscription): Promise<void>;
}
