// Port: the push subscriptions of the accounts' browsers (Web Push, RFC 8030).

export interface PushSubscription {
  /** URL of the push service; one a browser. */
  readonly endpoint: string;
  /** The browser's public key, 65 octets in base64url. */
  readonly p256dh: string;
  /** Its secret, 16 octets in base64url. */
  readonly auth: string;
}

export interface PushSubscriptionStore {
  /**
   * Replaces the one of the same endpoint; of more than `limit` the oldest go. False when there is no such account.
   */
  subscribe(accountId: string, subscription: PushSubscription, limit: number): Promise<boolean>;
  /** Oldest first. */
  subscriptions(accountId: string): Promise<readonly PushSubscription[]>;
  /** All of the account. */
  unsubscribe(accountId: string): Promise<void>;
}
