// Port: limits of recipients, what accounts have sent to, and suspended accounts. The mailbox of an account writes what it counts with each
// of its commits; a domain has sent what its accounts have.
import type { InboundEnvelope } from '../inbound.js';

/** What a mailbox has counted. */
export interface SendingCounts {
  readonly recipients: number;
  /** Recipients to whom the account had never written before. */
  readonly strangers: number;
  /** Recipients that other servers have refused for good. */
  readonly refused: number;
}

/** `minute`: minutes since the epoch. */
export interface SendingMinute extends SendingCounts {
  readonly minute: number;
  /** Recipients to whom mail that arrived was sent on. They do not count as `recipients`. */
  readonly forwarded: number;
}

/** What one commit counts. `addresses`: those to which the account writes for the first time, in canonical form. */
export interface CountedSending extends SendingMinute {
  readonly addresses: readonly string[];
}

/** null: no limit. */
export interface RecipientLimits {
  readonly hour: number | null;
  readonly day: number | null;
}

export type LimitPeriod = keyof RecipientLimits;

/** What an operator has set: 0 is no limit, null the default. A member that is left out does not change. */
export type RecipientLimitSetting = Partial<RecipientLimits>;

export interface SendingSuspension {
  /** ms since the epoch. */
  readonly since: number;
  /** `server`: by the rule about sudden changes, so that the user may lift it. */
  readonly by: 'operator' | 'server';
  readonly reason: string;
}

export interface AccountSending {
  readonly accountId: string;
  readonly email: string;
  /** As an operator has set it. */
  readonly setting: RecipientLimits;
  readonly suspension: SendingSuspension | null;
  /** The end of the last suspension, in ms since the epoch. */
  readonly resumedAt: number | null;
}

export interface DomainSending {
  readonly name: string;
  /** As an operator has set it. */
  readonly setting: RecipientLimits;
}

export interface SentRecipients {
  readonly hour: number;
  readonly day: number;
}

/** The owner of a limit: an account or a domain. */
type LimitOwner = { readonly accountId: string } | { readonly domain: string };

/** A message that the server has written, for the inboxes of these accounts; its blob must be stored. */
export interface PlacedNotice {
  readonly blob: string;
  readonly envelope: InboundEnvelope;
  /** The ids that the accepted mail gets. */
  readonly inboxes: readonly { readonly accountId: string; readonly inboundId: string }[];
}

/** Addresses that are kept of those to which an account has written. */
export const MOST_KNOWN_RECIPIENTS = 100_000;

export interface SendingStore {
  /** Unclaimed mailboxes and unknown accounts are left out. */
  accounts(ids: readonly string[]): Promise<readonly AccountSending[]>;
  /** Hosted domains; unknown ones are left out. */
  domains(names: readonly string[]): Promise<readonly DomainSending[]>;
  /** What the accounts of a domain have sent to, since the first minutes of the hour and the day (`recipient-limits.ts`). */
  sentByDomain(name: string, since: { readonly hour: number; readonly day: number }): Promise<SentRecipients>;
  /** The recipients of all accounts of a domain by minute, since this minute. */
  minutesOfDomain(name: string, since: number): Promise<readonly Pick<SendingMinute, 'minute' | 'recipients'>[]>;
  /** What an account has counted since this minute, in order. */
  minutes(accountId: string, since: number): Promise<readonly SendingMinute[]>;
  /** Returns false when there is no such account. */
  setAccount(accountId: string, setting: RecipientLimitSetting): Promise<boolean>;
  /** Returns false when the domain is not hosted. */
  setDomain(name: string, setting: RecipientLimitSetting): Promise<boolean>;
  /**
   * Suspends an account, with a notice, in one step. Returns false, and changes nothing, when there is no such account, or the server would
   * suspend one that is suspended. `reason`: null keeps that of a suspension that is in force; without one it is empty.
   */
  suspend(
    accountId: string,
    suspension: { readonly by: SendingSuspension['by']; readonly reason: string | null },
    notice?: PlacedNotice,
  ): Promise<boolean>;
  /** Returns false when the account is not suspended; `by`: or was suspended by another. */
  resume(accountId: string, by?: SendingSuspension['by']): Promise<boolean>;
  /**
   * Notes that a reached limit is told, and places the notice, in one step. Returns false, and places nothing, when it was told within a day.
   */
  notice(owner: LimitOwner, period: LimitPeriod, notice: PlacedNotice): Promise<boolean>;
  /** Deletes what was counted before this minute; returns the number of rows. */
  forget(before: number, limit: number): Promise<number>;
  /**
   * Deletes addresses that were new, or renewed, longer ago, and the oldest ones beyond `most` of an account.
   * Returns how many.
   */
  forgetKnown(maxAgeDays: number, most: number, limit: number): Promise<number>;
}
