// Port: passkeys of accounts, and the challenges that they have answered. The store verifies nothing: `auth/passkeys` does.

/** A passkey as its owner sees it. */
export interface Passkey {
  readonly id: string;
  readonly name: string;
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
}

/** The public half of a passkey. */
export interface PasskeyCredential {
  /** The id that the authenticator gave it, in base64url. */
  readonly credentialId: string;
  /** COSE (RFC 9052). */
  readonly publicKey: Uint8Array;
  readonly counter: number;
  readonly transports: readonly string[];
}

export interface NewPasskey extends PasskeyCredential {
  readonly name: string;
  /** The host for which the authenticator made it. */
  readonly rpId: string;
  /** Whoever has registered it had signed in otherwise than with an API key. */
  readonly isProven: boolean;
}

export interface StoredPasskey extends Passkey, PasskeyCredential {
  readonly accountId: string;
  /** As when it was registered. */
  readonly isProven: boolean;
}

/** A challenge that was answered. */
export interface AnsweredChallenge {
  /** SHA-256, 64 hex digits. */
  readonly hash: string;
  /** ms since the epoch. */
  readonly expiresAt: number;
}

export type PasskeyRefusal = 'full' | 'known' | 'spent' | 'noAccount';

export interface PasskeyStore {
  /** Oldest first. */
  list(accountId: string): Promise<readonly (Passkey & PasskeyCredential)[]>;
  /**
   * Spends the challenge and adds the passkey, in one step. `full`: the account has `limit` passkeys; `known`: some account has this
   * credential; `spent`: the challenge was answered before. A refusal changes nothing.
   */
  add(
    accountId: string,
    passkey: NewPasskey,
    challenge: AnsweredChallenge,
    limit: number,
  ): Promise<Passkey | PasskeyRefusal>;
  /** False when the account has no such passkey. */
  remove(accountId: string, id: string): Promise<boolean>;
  find(credentialId: string, rpId: string): Promise<StoredPasskey | undefined>;
  /** Spends the challenge and keeps the counter. False, and nothing is changed, when it was spent or the counter is not above the last. */
  use(id: string, counter: number, challenge: AnsweredChallenge): Promise<boolean>;
  /** Deletes spent challenges that are too old to be answered; returns how many. */
  dropChallenges(): Promise<number>;
}
