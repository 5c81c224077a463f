// What mailboxes and gateways ask about limits of recipients and suspended accounts.
import type { CountedSending, SendingSuspension } from '../../store/limits/sending.js';
import type { ExceededLimit, LimitedSending } from './recipient-limits.js';
import type { SuddenChangeRule } from './sudden-change.js';

/** What a mailbox needs to know before it queues a message. */
export interface SendingTerms {
  readonly limit: LimitedSending['limit'];
  /** Undefined when the domain has no limit. */
  readonly domain?: LimitedSending | undefined;
  readonly suspension: SendingSuspension | null;
  readonly resumedAt: number | null;
}

/** What a mailbox needs of the limits of its node. */
export interface MailboxSending {
  readonly rule: SuddenChangeRule;
  /** Undefined when there is no such account, or the terms cannot be read: nothing is limited then. Never rejects. */
  of(accountId: string): Promise<SendingTerms | undefined>;
  /** A commit has counted recipients. */
  counted(accountId: string, sent: CountedSending): void;
  /** A message was refused by a limit: user and operator are told, at most once a day. */
  exceeded(accountId: string, limit: ExceededLimit): void;
  /** The account is to be suspended. */
  suspend(accountId: string, reason: string): void;
}

/** Why a message is not queued, for people. */
export interface SendingDelay {
  readonly detail: string;
  /** After this many seconds the message would be queued, if nothing else is sent meanwhile. */
  readonly retryAfter: number;
}

/** What gateways ask. */
export interface SendingStatus {
  /** null: the account is not suspended. `isNow`: as the store has it, not as it was some seconds ago. @throws StoreFault */
  suspensionOf(accountId: string, when?: { readonly isNow?: boolean }): Promise<SendingSuspension | null>;
  /** About a message to this many recipients that a limit has refused. @throws StoreFault */
  delayOf(accountId: string, recipients: number): Promise<SendingDelay>;
  /** The user lifts a suspension that the server has made. Returns false when there is none. @throws StoreFault */
  resume(accountId: string): Promise<boolean>;
}

/** The suspension as people read it. */
export const suspensionText = ({ reason }: SendingSuspension): string =>
  reason === '' ? 'Sending is suspended' : `Sending is suspended: ${reason}`;
