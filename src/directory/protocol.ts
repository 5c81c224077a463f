// What gateways may ask of the directory: where mail for an address goes, and who a credential belongs to.
import type { Observable } from 'rxjs';
import type { Scope } from '../store/directory.js';

export type Recipient =
  /** `heldAddress`: nobody has claimed it yet, and the bounds of held mail are for it; in canonical form. */
  | { readonly kind: 'mailbox'; readonly accountId: string; readonly heldAddress?: string }
  /** Hosted and unknown: `hold` gives it a mailbox once there is a message for it. `address` is in canonical form. */
  | { readonly kind: 'hold'; readonly address: string }
  /** The domain is not hosted here: 550 5.7.1, never a relay. */
  | { readonly kind: 'notHosted' }
  /** Hosted, unknown, and unknown recipients are rejected: 550 5.1.1. */
  | { readonly kind: 'unknown' }
  /** Hosted and unknown, and what may be held of this address, of its domain or in all is used up: 450 4.2.1. */
  | { readonly kind: 'full' };

/** Who makes a request. */
export interface Principal {
  readonly accountId: string;
  readonly email: string;
  readonly scopes: readonly Scope[];
  /** The API key used; null for a login and for the anonymous account. */
  readonly keyId: string | null;
  readonly serviceWide: boolean;
}

/** What a verified token says of its user. */
export interface LoginClaims {
  readonly issuer: string;
  readonly subject: string;
  readonly email: string | undefined;
  /** Undefined when the provider does not say. */
  readonly emailVerified: boolean | undefined;
  readonly name: string | undefined;
}

export type LoginRefusal = 'noEmail' | 'unverified' | 'taken';

export type LoginResult =
  | { readonly principal: Principal; readonly refusal?: undefined }
  | { readonly refusal: LoginRefusal };

export interface HostedDomains {
  /** Whether mail for the domain is taken in; `domain` is in lower-case ASCII. @throws StoreFault */
  hosts(domain: string): Promise<boolean>;
}

export interface Directory {
  /**
   * `address` as the client gave it, already valid in syntax. `beside`: addresses that the same message is to have held,
   * which have to find room with this one. @throws StoreFault
   */
  recipient(address: string, beside?: readonly string[]): Promise<Recipient>;
  /**
   * Mailboxes for the addresses of `hold` recipients of one message, by address; undefined, and as a rule none made, when
   * one of them cannot have one now. `octets`: of the message, which is counted for them and for `existing`, the
   * `heldAddress`es of its other recipients. @throws StoreFault
   */
  hold(
    addresses: readonly string[],
    octets: number,
    existing?: readonly string[],
  ): Promise<ReadonlyMap<string, string> | undefined>;
  /** The active key this text is, or undefined; read from the store each time. @throws StoreFault */
  authenticate(apiKey: string): Promise<Principal | undefined>;
  /** A key was used by somebody who remembers its principal. */
  noteUse(keyId: string): void;
  /** The account of a login, made or claimed when it is its first. @throws StoreFault */
  login(claims: LoginClaims): Promise<LoginResult>;
  /** Whether the account receives and sends under the address or a `+tag` of it: its own, or a verified one. @throws StoreFault */
  isAddressOf(accountId: string, address: string): Promise<boolean>;
  /** Who requests without a credential act as; undefined unless configured (MANSIO_ANONYMOUS_ACCOUNT). */
  anonymous(): Promise<Principal | undefined>;
  /** Ids of keys as they are revoked, on any node or by a command; live sessions of the key are to end. */
  readonly revokedKeys$: Observable<string>;
  /** Ids of accounts as they are deleted. */
  readonly deletedAccounts$: Observable<string>;
  /** Emits when keys may have been revoked, or accounts deleted, without a notice: nothing remembered of them holds. */
  readonly missedChanges$: Observable<void>;
}
