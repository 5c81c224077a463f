// What gateways may ask the directory: where mail for an address goes, and who owns a credential.

import type { Observable } from 'rxjs';
import type { SentOnward } from '../../mail-format/sent-onward.js';
import type { Scope } from '../../store/directory.js';

/** `onward`: the message goes to addresses elsewhere on behalf of the account. */
interface WithOnward {
  readonly onward?: SentOnward;
}

/** A mailbox that gets a message. */
export type RecipientMailbox = WithOnward &
  /** `unclaimedAddress`: nobody has claimed the address yet, and the bounds for unclaimed mail apply to it; in canonical form. */
  (
    | { readonly kind: 'mailbox'; readonly accountId: string; readonly unclaimedAddress?: string }
    /**
     * The domain is hosted and the address unknown: `openUnclaimed` gives it a mailbox once there is a message. `address` is in canonical
     * form.
     */
    | { readonly kind: 'unclaimed'; readonly address: string }
  );

export type Recipient =
  | RecipientMailbox
  /** An alias that leads to several mailboxes: each gets the message once. */
  | { readonly kind: 'several'; readonly mailboxes: readonly RecipientMailbox[] }
  /** The aliases of the address form a loop, or are beyond the bounds of docs/interface/mail.md, "Aliases": 554 5.4.6. */
  | { readonly kind: 'loop' }
  /** The domain is not hosted here: 550 5.7.1, never a relay. */
  | { readonly kind: 'notHosted' }
  /** The domain is hosted, the address is unknown, and unknown recipients are rejected: 550 5.1.1. */
  | { readonly kind: 'unknown' }
  /**
   * The domain is hosted and the address unknown, but the bound of the address, of its domain or of all unclaimed mail is
   * reached: 450 4.2.1.
   */
  | { readonly kind: 'full' };

/** The mailboxes of a recipient; none when it has none. */
export function mailboxesOf(recipient: Recipient): readonly RecipientMailbox[] {
  if (recipient.kind === 'several') return recipient.mailboxes;
  return recipient.kind === 'mailbox' || recipient.kind === 'unclaimed' ? [recipient] : [];
}

/** The addresses that get an unclaimed mailbox with the message. */
export const unclaimedIn = (recipients: readonly Recipient[]): readonly string[] =>
  recipients.flatMap((recipient) =>
    mailboxesOf(recipient).flatMap((mailbox) => (mailbox.kind === 'unclaimed' ? [mailbox.address] : [])),
  );

/** The addresses of unclaimed mailboxes that exist. */
export const existingUnclaimedIn = (recipients: readonly Recipient[]): readonly string[] =>
  recipients.flatMap((recipient) =>
    mailboxesOf(recipient).flatMap((mailbox) => (mailbox.kind === 'mailbox' ? (mailbox.unclaimedAddress ?? []) : [])),
  );

/** An alias as which an account may send. */
export interface SenderAlias {
  readonly address: string;
  /** Undefined for an address at a domain that is another name of one. */
  readonly createdAt: Date | undefined;
}

/** Who makes a request. */
export interface Principal {
  readonly accountId: string;
  readonly email: string;
  readonly scopes: readonly Scope[];
  /** The API key or session of the request; null for a login and for the anonymous account. */
  readonly keyId: string | null;
  /** Set for a session of the page: the time at which it ends by itself, in ms since the epoch. */
  readonly sessionEnd?: number;
  readonly serviceWide: boolean;
}

/** What a verified token says about its user. */
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
  /** Whether the domain is hosted; `domain` is in lower-case ASCII. @throws StoreFault */
  hosts(domain: string): Promise<boolean>;
  /** Whether mail for the domain is accepted: it is hosted, or below a hosted one and has a catch-all. @throws StoreFault */
  accepts(domain: string): Promise<boolean>;
}

export interface Postmasters {
  /** The account that gets the mail of the domain's postmaster; undefined without one. @throws StoreFault */
  postmasterOf(domain: string): Promise<string | undefined>;
}

/** As which addresses accounts may send, and to which they may forward. */
export interface Senders {
  /**
   * Whether the account may send as the address or a `+tag` of it: its own, a verified one at a hosted domain, or an alias that leads to it
   * alone or allows it. @throws StoreFault
   */
  maySendAs(accountId: string, address: string): Promise<boolean>;
  /**
   * Whether mail of the account may be sent on to the address: its own, a verified one, or one here that the operator has verified as a target
   * and an account or alias has. @throws StoreFault
   */
  mayForwardTo(accountId: string, address: string): Promise<boolean>;
  /** The aliases of these addresses of the account, as which it may send. @throws StoreFault */
  senderAliases(accountId: string, addresses: readonly string[]): Promise<readonly SenderAlias[]>;
}

/**
 * `sessions`: a session has begun or was ended; `quotas`: the limits were set, or the account has become full, nearly full, or neither;
 * `sending`: it was suspended or resumed.
 */
export interface AccountNotice {
  readonly accountId: string;
  readonly about: 'sessions' | 'quotas' | 'sending';
}

export interface Directory {
  /**
   * `address`: as the client gave it, with valid syntax. `beside`: other unknown addresses of the same message, which need room
   * together with this one. @throws StoreFault
   */
  recipient(address: string, beside?: readonly string[]): Promise<Recipient>;
  /**
   * Creates mailboxes for the `hold` recipients of one message; returns account ids by address. Returns undefined, usually
   * without creating any, when one of them cannot have a mailbox now. The `octets` of the message count for these addresses and
   * for `existing`, the `unclaimedAddress`es of its other recipients. @throws StoreFault
   */
  openUnclaimed(
    addresses: readonly string[],
    octets: number,
    existing?: readonly string[],
  ): Promise<ReadonlyMap<string, string> | undefined>;
  /** The owner of this text if it is an active key or a live session; read from the store each time. @throws StoreFault */
  authenticate(apiKey: string): Promise<Principal | undefined>;
  /** Notes that a caller used a key whose principal it has cached. */
  noteUse(keyId: string): void;
  /** Returns the account of a login, which a first login creates or claims. @throws StoreFault */
  login(claims: LoginClaims): Promise<LoginResult>;
  /** Whether the account receives and sends under the address or a `+tag` of it: its own, or a verified one. @throws StoreFault */
  isAddressOf(accountId: string, address: string): Promise<boolean>;
  /** The principal of requests without a credential; undefined unless configured (MANSIO_ANONYMOUS_ACCOUNT). */
  anonymous(): Promise<Principal | undefined>;
  /** Ids of keys that are revoked, and of sessions that are ended, on any node or by a command; connections with them must end. */
  readonly revokedKeys$: Observable<string>;
  /**
   * What changes of an account in the directory, on any node or by a command. Without an emission a session ends by its age, and anything
   * may have changed when `missedChanges$` emits.
   */
  readonly accountNotices$: Observable<AccountNotice>;
  /** Ids of accounts that are deleted. */
  readonly deletedAccounts$: Observable<string>;
  /** Emits when keys may have been revoked, or accounts deleted, without a notice: everything cached about them is invalid. */
  readonly missedChanges$: Observable<void>;
}
