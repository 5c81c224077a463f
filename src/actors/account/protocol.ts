// The operations of gateways on an account itself, apart from its mail: profile, additional addresses, API keys, sessions, preferences, push
// subscriptions and webhooks. Each one only reads and changes the data of one account.
import type { SenderLists } from '../../mail-format/senders.js';
import type {
  AccountAddress,
  AddressVerification,
  ApiKey,
  Profile,
  Scope,
  VerificationRefusal,
  VerifiedAddress,
} from '../../store/directory.js';
import type { Forwarding } from '../../store/preferences.js';
import type { NewSubscription } from '../../store/push-subscriptions.js';
import type { LinkAccount, PageSession, SignInProof } from '../../store/sessions.js';
import type {
  AnsweredChallenge,
  NewPasskey,
  Passkey,
  PasskeyRefusal,
  PasskeyStore,
} from '../../store/sign-in/passkeys.js';
import type { Vacation } from '../../store/vacation.js';
import type { ReplayStart, Webhook, WebhookChoices, WebhookDelivery } from '../../store/webhooks.js';

/** A key and its text, which is only known now. */
export interface IssuedKey extends ApiKey {
  readonly apiKey: string;
}

export interface Keyring {
  /** Active keys, oldest first. */
  list(accountId: string): Promise<readonly ApiKey[]>;
  /** Undefined when the account has the most keys that it may have. A key for a device revokes the device's earlier key. */
  issue(accountId: string, name: string, scopes: readonly Scope[], deviceId?: string): Promise<IssuedKey | undefined>;
  /** False when the account has no active key with this id. */
  revoke(accountId: string, keyId: string): Promise<boolean>;
  /** Replaces the key by a new one with the same name and scopes. */
  rotate(accountId: string, keyId: string): Promise<IssuedKey | 'noSuchKey' | 'serviceWide'>;
}

/** A session and the text of its cookie, which is only known now. */
export interface IssuedSession extends PageSession {
  readonly token: string;
}

/** A link that a session has made for another device. */
export interface IssuedSessionLink {
  /** The session that begins when the link is used. */
  readonly sessionId: string;
  readonly token: string;
  readonly expiresAt: Date;
  /** For those whose clock may be wrong. */
  readonly expiresInSeconds: number;
}

/** The browser that signs in. */
export interface SigningIn {
  /** Its User-Agent field. */
  readonly userAgent: string;
  /** Absent: it signs in with an API key. */
  readonly proof?: SignInProof | undefined;
  /** The session that it had until now, which ends. */
  readonly replaces?: string | undefined;
}

export interface Sessions {
  /** Undefined when there is no such account. */
  create(accountId: string, browser: SigningIn): Promise<IssuedSession | undefined>;
  /** Live sessions, newest first. */
  list(accountId: string): Promise<readonly PageSession[]>;
  /** False when the account has no live session with this id. */
  end(accountId: string, id: string): Promise<boolean>;
  /**
   * Whether the session began within the last 15 minutes, and not with an API key. A session that another one has signed in by a link
   * counts as that one, here and for `isProven`.
   */
  isFreshlyProven(accountId: string, id: string): Promise<boolean>;
  /** Whether the session did not begin with an API key, or a passkey that was registered with one. */
  isProven(accountId: string, id: string): Promise<boolean>;
  /** Makes a link in the place of the one that the session made before. Undefined when the account has no live session with this id. */
  makeLink(accountId: string, id: string): Promise<IssuedSessionLink | undefined>;
  /** False when the account has no link that makes this session. */
  withdrawLink(accountId: string, sessionId: string): Promise<boolean>;
  /**
   * The account that a link signs in. Undefined when the link does not exist, was used, or has expired, or the session that has made it
   * has ended.
   */
  accountOfLink(token: string): Promise<LinkAccount | undefined>;
  /** Uses the link up; undefined as for `accountOfLink`. */
  redeemLink(token: string, browser: Omit<SigningIn, 'proof'>): Promise<IssuedSession | undefined>;
}

export interface Passkeys extends Pick<PasskeyStore, 'list' | 'remove' | 'find' | 'use'> {
  /** Spends the challenge and adds the passkey; a refusal changes nothing. */
  add(accountId: string, passkey: NewPasskey, challenge: AnsweredChallenge): Promise<Passkey | PasskeyRefusal>;
}

/** Why no mail that verifies an address is sent. `noPublicUrl`: the operator has not said where its link would lead. */
export type MailRefusal = VerificationRefusal | { readonly kind: 'noPublicUrl' };

export type AddressRefusal = 'invalid' | 'tagged' | 'own' | 'known' | 'full' | 'noAccount';

/** An additional address as the account sees it. It is verified when it receives, or when the account may forward to it. */
export interface ProfileAddress extends Omit<AccountAddress, 'isForwardingOnly'> {
  /** The account gets its mail by an alias, which the operator has made. */
  readonly isAlias: boolean;
  /** The account may send as the address. */
  readonly canSend: boolean;
}

interface AccountProfile extends Omit<Profile, 'additionalAddresses'> {
  readonly additionalAddresses: readonly ProfileAddress[];
}

export interface Profiles {
  /** With the aliases as which the account may send. */
  read(accountId: string): Promise<AccountProfile | undefined>;
  /** Whether the account may send as the address. */
  maySendAs(accountId: string, address: string): Promise<boolean>;
  /** False when there is no such account. */
  rename(accountId: string, displayName: string): Promise<boolean>;
  /** Sends the mail that verifies an address elsewhere; the operator verifies those at hosted domains. */
  addAddress(accountId: string, address: string): Promise<ProfileAddress | AddressRefusal | MailRefusal>;
  /** Sends the mail again. Undefined when it is queued. */
  sendVerification(accountId: string, addressId: string): Promise<MailRefusal | undefined>;
  /** The request behind a token; undefined when the token is not good. */
  verificationOf(token: string): Promise<AddressVerification | undefined>;
  confirmAddress(token: string): Promise<VerifiedAddress>;
  /** False when the account has no additional address with this id. */
  removeAddress(accountId: string, addressId: string): Promise<boolean>;
}

export interface PreferenceValues {
  readonly theme: 'light' | 'dark' | 'system';
  readonly displayDensity: 'compact' | 'comfortable' | 'spacious';
  readonly emailsPerPage: number;
  readonly defaultSort: 'date' | 'sender' | 'subject';
  readonly showPreview: boolean;
  readonly groupByDate: boolean;
  /** Lists have a row per thread. */
  readonly threads: boolean;
  readonly desktopNotifications: boolean;
  readonly emailDigest: boolean;
  readonly digestFrequency: 'daily' | 'weekly';
  /** HH:mm */
  readonly digestTime: string;
  /** The time for which email from REST clients is held and can be cancelled. */
  readonly undoSendSeconds: number;
  /** HTML, as the client gave it: whoever shows it sanitises it. */
  readonly signature: string;
  /** What is said of the account's further addresses when mail is from them. */
  readonly identities: readonly AddressIdentity[];
  /** Addresses of senders whose pictures from elsewhere are loaded without being asked for. */
  readonly pictureSenders: readonly string[];
}

interface AddressIdentity {
  readonly address: string;
  /** Without it the display name of the account. */
  readonly displayName?: string | undefined;
  /** HTML; without it the signature of the account. */
  readonly signature?: string | undefined;
}

export interface Preferences {
  /** The choices over the defaults; undefined when there is no such account. */
  read(accountId: string): Promise<(PreferenceValues & { readonly updatedAt: Date }) | undefined>;
  /** @throws ActorFault */
  choose(accountId: string, chosen: Partial<PreferenceValues>): Promise<void>;
}

export interface SenderBook {
  /** In canonical form; undefined when there is no such account. */
  read(accountId: string): Promise<SenderLists | undefined>;
  /** The names must be canonical. @throws ActorFault */
  replace(accountId: string, lists: SenderLists): Promise<void>;
}

export interface ForwardingSettings {
  /** Undefined when there is no such account. */
  read(accountId: string): Promise<Forwarding | undefined>;
  /** The address must be one of `targetOf`. @throws ActorFault */
  replace(accountId: string, forwarding: Forwarding): Promise<void>;
  /**
   * The canonical form of an address to which the account may forward: a verified one at a domain that is not hosted here, or one that the
   * operator has verified as a target. Undefined for any other text. @throws StoreFault
   */
  targetOf(accountId: string, text: string): Promise<string | undefined>;
}

export interface VacationSettings {
  /** Undefined when there is no such account. */
  read(accountId: string): Promise<Vacation | undefined>;
  /** A change of the text, or enabling, begins a period. @throws ActorFault */
  replace(accountId: string, vacation: Omit<Vacation, 'period'>): Promise<void>;
}

export interface PushSubscriptions {
  /** False when there is no such account. */
  subscribe(accountId: string, subscription: NewSubscription): Promise<boolean>;
  /** Removes the subscription of the endpoint; without it, all of the account. */
  unsubscribe(accountId: string, endpoint?: string): Promise<void>;
}

/** A webhook and its secret, which is only known now. */
interface MadeWebhook extends Webhook {
  readonly secret: string;
}

export interface Webhooks {
  /** Oldest first. */
  list(accountId: string): Promise<readonly Webhook[]>;
  get(accountId: string, id: string): Promise<Webhook | undefined>;
  /** The new webhook gets later events. Undefined when the account has the most webhooks that it may have. */
  create(accountId: string, choices: WebhookChoices): Promise<MadeWebhook | undefined>;
  /** False (in all these methods) when the account has no webhook with this id. */
  update(accountId: string, id: string, choices: WebhookChoices): Promise<boolean>;
  remove(accountId: string, id: string): Promise<boolean>;
  /** Returns the new secret. */
  rotateSecret(accountId: string, id: string): Promise<string | undefined>;
  /** `ahead`: the account does not have this change yet. */
  replay(accountId: string, id: string, start: ReplayStart): Promise<'done' | 'ahead' | 'noSuchWebhook'>;
  /** Attempts, newest first. */
  deliveries(
    accountId: string,
    id: string,
    page: number,
    pageSize: number,
  ): Promise<{ readonly items: readonly WebhookDelivery[]; readonly totalCount: number } | undefined>;
  /** The id of a delivery's event; undefined when it is not known (any more). */
  eventOf(accountId: string, id: string, deliveryId: string): Promise<string | undefined>;
}

export interface AccountApi {
  readonly keys: Keyring;
  readonly sessions: Sessions;
  readonly passkeys: Passkeys;
  readonly profiles: Profiles;
  readonly preferences: Preferences;
  readonly senders: SenderBook;
  readonly forwarding: ForwardingSettings;
  readonly vacation: VacationSettings;
  readonly push: PushSubscriptions;
  readonly webhooks: Webhooks;
}
