// Port: stored outbound mail, and queries about it that need no mailbox: the queue of all accounts. Only the account's mailbox
// actor writes the rows, in its commits (see mailboxes.ts).

import type {
  DsnKind,
  OutboundStatus,
  OutcomeKind,
  RecipientStatus,
  RecipientType,
} from '../mail-format/outbound-status.js';
import type { DsnRequest, RecipientDsnRequest } from '../mail-format/reports/dsn-request.js';

export type { DsnKind, OutboundStatus, RecipientStatus } from '../mail-format/outbound-status.js';

export interface OutboundRecipientRow {
  readonly id: string;
  /** As the client gave it; valid. */
  readonly address: string;
  readonly displayName: string | null;
  readonly type: RecipientType;
  readonly status: RecipientStatus;
  /** In the form for DNS: lower case, A-labels. */
  readonly domain: string;
  /** ms since the epoch. */
  readonly deliveredAt: number | null;
  /** The last reply that was not a delivery. */
  readonly lastError: string | null;
  /** The enhanced status code of that reply (RFC 3463). */
  readonly statusCode: string | null;
}

/** `recipients`: by the id of the recipient. */
export interface OutboundDsn extends DsnRequest {
  /** The address that gets the DSNs in place of the account: the message was sent because one of this sender arrived. */
  readonly reportTo?: string;
  readonly recipients: Readonly<Record<string, RecipientDsnRequest>>;
}

/** Times are ms since the epoch. */
export interface OutboundRow {
  readonly id: string;
  readonly status: OutboundStatus;
  /**
   * SHA-256 of the message as it is sent, without its DKIM signature. For a draft, of its current form: its header is replaced
   * when it is sent.
   */
  readonly blob: string;
  /** Address of the From field and of the envelope; '' for a draft that names none. */
  readonly sender: string;
  readonly subject: string;
  readonly messageId: string | null;
  readonly inReplyTo: string | null;
  readonly references: readonly string[];
  /** Octets of the blob. */
  readonly size: number;
  /** The email that stands for it: in Drafts while it is a draft, in Sent afterwards. The client may have deleted either. */
  readonly emailId: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly queuedAt: number | null;
  readonly sentAt: number | null;
  readonly retryCount: number;
  /** When its first waiting recipient is due; null when none waits, and while the email is held. */
  readonly nextRetryAt: number | null;
  /** The end of the hold, while the email is held. */
  readonly heldUntil: number | null;
  readonly lastError: string | null;
  /** While Sending: the running delivery; `by` is the incarnation of the node that makes it. */
  readonly attempt: { readonly id: string; readonly by: string } | null;
  /** The kind of the next DSN that its sender must get. */
  readonly dsnDue: DsnKind | null;
  /** When that DSN is due. */
  readonly dsnAt: number | null;
  readonly delayReported: boolean;
  /** The notifications that its sender requested (RFC 3461); null when it requested none. */
  readonly dsn: OutboundDsn | null;
  /** Whether a restore brought the email back before it was final, and nobody has released it: no delivery of it begins. */
  readonly awaitsRelease: boolean;
  /** Snapshot of its machine; null for drafts, and for emails that are sent and owe no DSN. */
  readonly machine: unknown;
  /** In the order in which the client gave them. */
  readonly recipients: readonly OutboundRecipientRow[];
}

/** A draft and the email that stands for it. */
export type DraftEmail = Pick<OutboundRow, 'id' | 'emailId'>;

/** An address to which the account sends nothing for a time, because mail to it bounced for good. Times are ms since the epoch. */
export interface Suppression {
  /** Lower case. */
  readonly address: string;
  /** What the far side answered. */
  readonly reason: string;
  readonly since: number;
  readonly until: number;
}

/** A suppression that an operator lifts. */
export interface SuppressionRequest {
  readonly accountId: string;
  readonly address: string;
}

/** Bodies as a client gave them over REST. */
export interface OutboundContent {
  readonly textBody: string | null;
  readonly htmlBody: string | null;
}

/** One host that was tried, for the recipients of one domain. */
export interface DeliveryAttempt {
  /** UUID v7. */
  readonly id: string;
  /** ms since the epoch. */
  readonly at: number;
  readonly durationMs: number;
  /** The node that made it; absent for hosted recipients. */
  readonly node?: string | undefined;
  readonly domain: string;
  /** Name of the MX host; null when the attempt did not get to one. */
  readonly host: string | null;
  readonly remoteAddress: string | null;
  /** `TLSv1.3 TLS_AES_256_GCM_SHA384`, followed by ` (verified)` when the certificate belongs to the host; null without TLS. */
  readonly tls: string | null;
  /** The reply that decided the outcome, or the error that occurred instead. */
  readonly reply: string;
  readonly recipients: readonly {
    readonly id: string;
    readonly outcome: OutcomeKind;
    readonly statusCode: string | null;
  }[];
}

/** An email of the queue, as the delivery finds it. */
export interface QueuedOutbound {
  readonly accountId: string;
  readonly outboundId: string;
  /** The delivery that the row names although nobody makes it any more; null when the email is simply due. */
  readonly interrupted: string | null;
}

/** A held email; `heldUntil`: ms since the epoch. */
export interface HeldOutbound {
  readonly accountId: string;
  readonly outboundId: string;
  readonly heldUntil: number;
}

/** A queued email that is not held. */
export interface WaitingOutbound {
  readonly id: string;
  /** ms until it is due; 0 or less when it is. */
  readonly dueInMs: number;
  /** Number of emails that have been due for longer, at most 1,000; null when the email is not due. */
  readonly ahead: number | null;
}

export interface OutboundRequest {
  readonly accountId: string;
  readonly outboundId: string;
  readonly action: 'retry' | 'cancel' | 'release';
}

/** A row and its account, for operators. */
export interface OutboundListing extends Omit<OutboundRow, 'machine'> {
  readonly accountId: string;
  readonly accountEmail: string;
}

export interface OutboundStore {
  /**
   * Emails that are due on these shards, longest due first, without the outbound ids in `except` and the accounts in
   * `exceptAccounts`.
   */
  due(
    shards: readonly number[],
    limit: number,
    except: readonly string[],
    exceptAccounts: readonly string[],
  ): Promise<readonly QueuedOutbound[]>;
  /**
   * Emails in Sending on these shards whose delivery is lost: a node that has ended made it, or the node of this incarnation made
   * it and it is not in `except` (outbound ids).
   */
  interrupted(
    shards: readonly number[],
    incarnation: string,
    limit: number,
    except: readonly string[],
  ): Promise<readonly QueuedOutbound[]>;
  /**
   * Held emails on these shards that are released within `withinMs`, without the outbound ids in `except`: the first of every
   * account comes before the second of any.
   */
  held(
    shards: readonly number[],
    withinMs: number,
    limit: number,
    except: readonly string[],
  ): Promise<readonly HeldOutbound[]>;
  /** Emails on these shards that owe their sender a DSN that is due now, without these emails and these accounts. */
  dsnsDue(
    shards: readonly number[],
    limit: number,
    except: readonly string[],
    exceptAccounts: readonly string[],
  ): Promise<readonly Pick<QueuedOutbound, 'accountId' | 'outboundId'>[]>;
  /** Emails that are sent or failed, owe no DSN, and have not changed since `before` (ms since the epoch), oldest first. */
  expired(before: number, limit: number): Promise<readonly Pick<QueuedOutbound, 'accountId' | 'outboundId'>[]>;
  requests(shards: readonly number[], limit: number): Promise<readonly OutboundRequest[]>;
  /** Suppressions of accounts on these shards that an operator has asked to lift. */
  suppressionRequests(shards: readonly number[], limit: number): Promise<readonly SuppressionRequest[]>;
  /** Removes a request that is done, or can no longer be done. */
  settleRequest(request: OutboundRequest): Promise<void>;
  /** ms by which the first due email on these shards is late; 0 when none is due. */
  overdueMs(shards: readonly number[]): Promise<number>;
  /** Whether a node that has ended left an email in Sending on these shards. */
  isStranded(shards: readonly number[]): Promise<boolean>;
  /** The number of restored emails that wait for their release. Reads of the queue leave these out. */
  awaitingRelease(): Promise<number>;

  /** Lists emails for operators, newest first; all but drafts unless a status is named. */
  list(status: OutboundStatus | undefined, limit: number): Promise<readonly OutboundListing[]>;
  find(outboundId: string): Promise<OutboundListing | undefined>;
  /** Leaves a request for the mailbox; a later request replaces an earlier one. */
  request(request: OutboundRequest): Promise<void>;
  /** Requests the release of all emails that wait for it. Earlier requests about them stay, because each ends the wait too. */
  requestReleases(): Promise<void>;
  isRequested(request: Pick<OutboundRequest, 'accountId' | 'outboundId'>): Promise<boolean>;
  /** The suppressions of an account that are in force, oldest first. */
  suppressions(accountId: string): Promise<readonly Suppression[]>;
  /** Leaves a request for the mailbox to lift a suppression. */
  requestLift(request: SuppressionRequest): Promise<void>;
}
