// Port: the push subscriptions of the accounts' browsers (Web Push, RFC 8030).

export interface PushSubscription {
  /** URL of the push service; one a browser. */
  readonly endpoint: string;
  /** The browser's public key, 65 octets in base64url. */
  readonly p256dh: string;
  /** Its secret, 16 octets in base64url. */
  readonly auth: string;
}

/** A subscription is a durable consumer of its account's log: see consumers.ts. */
export interface StoredSubscription extends PushSubscription {
  readonly id: string;
}

export interface PushSubscriptionStore {
  /**
   * Replaces the one of the same endpoint; of more than `limit` the oldest go. The account's changes from now on are due. False
   * when there is no such account.
   */
  subscribe(accountId: string, subscription: PushSubscription, limit: number): Promise<boolean>;
  /** Oldest first. */
  subscriptions(accountId: string): Promise<readonly PushSubscription[]>;
  /** Undefined when it was ended. */
  find(accountId: string, id: string): Promise<StoredSubscription | undefined>;
  /** The one of the endpoint; all of the account when absent. */
  unsubscribe(accountId: string, endpoint?: string): Promise<void>;
  /** Unless the keys were replaced meanwhile. */
  remove(accountId: string, subscription: StoredSubscription): Promise<void>;
}
