// Port: outbound mail as it is stored, and what may be asked of it without its mailbox: the queue of all accounts. Rows are
// written by the account's mailbox actor alone, in its commits (see mailboxes.ts).
import type { DsnRequest, RecipientDsnRequest } from '../mail/dsn-request.js';
import type {
  OutboundStatus,
  OutcomeKind,
  RecipientStatus,
  RecipientType,
  ReportKind,
} from '../mail/outbound-status.js';

export type { OutboundStatus, RecipientStatus, ReportKind } from '../mail/outbound-status.js';

export interface OutboundRecipientRow {
  readonly id: string;
  /** As it was given, valid. */
  readonly address: string;
  readonly displayName: string | null;
  readonly type: RecipientType;
  readonly status: RecipientStatus;
  /** In the form that is looked up: lower case, A-labels. */
  readonly domain: string;
  /** ms since the epoch. */
  readonly deliveredAt: number | null;
  /** The last answer that was no delivery. */
  readonly lastError: string | null;
  /** Its enhanced status code (RFC 3463). */
  readonly statusCode: string | null;
}

/** `recipients`: by id. */
export interface OutboundDsn extends DsnRequest {
  readonly recipients: Readonly<Record<string, RecipientDsnRequest>>;
}

/** Times are ms since the epoch. */
export interface OutboundRow {
  readonly id: string;
  readonly status: OutboundStatus;
  /**
   * SHA-256 of the message as it is sent, without its DKIM signature. A draft's as it is written now: its header is replaced
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
  /** The email that stands for it: in Drafts while it is a draft, in Sent afterwards. Either may be gone. */
  readonly emailId: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly queuedAt: number | null;
  readonly sentAt: number | null;
  readonly retryCount: number;
  /** When the first of its recipients that wait is due; null when none waits, and while the email is held. */
  readonly nextRetryAt: number | null;
  /** While it is held: until when. */
  readonly heldUntil: number | null;
  readonly lastError: string | null;
  /** While Sending: the delivery under way; `by` is the incarnation of the node that makes it. */
  readonly attempt: { readonly id: string; readonly by: string } | null;
  /** The notification that its sender is owed first. */
  readonly reportDue: ReportKind | null;
  /** When that notification is to be given. */
  readonly reportAt: number | null;
  readonly delayReported: boolean;
  /** What its sender has asked to be told (RFC 3461); null when nothing was asked. */
  readonly dsn: OutboundDsn | null;
  /** Snapshot of its machine; null for drafts, and for what is sent and owes no notification. */
  readonly machine: unknown;
  /** In the order in which they were given. */
  readonly recipients: readonly OutboundRecipientRow[];
}

/** A draft and the email that stands for it. */
export type DraftEmail = Pick<OutboundRow, 'id' | 'emailId'>;

/** Bodies as they were given over REST. */
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
  readonly domain: string;
  /** Name of the MX host; null when it did not come to one. */
  readonly host: string | null;
  readonly remoteAddress: string | null;
  /** `TLSv1.3 TLS_AES_256_GCM_SHA384`, with ` (verified)` behind it when the certificate is the host's; null without TLS. */
  readonly tls: string | null;
  /** The reply that decided, or what went wrong instead of one. */
  readonly reply: string;
  readonly recipients: readonly {
    readonly id: string;
    readonly outcome: OutcomeKind;
    readonly statusCode: string | null;
  }[];
}

/** An email of the queue, as who delivers it finds it. */
export interface QueuedOutbound {
  readonly accountId: string;
  readonly outboundId: string;
  /** The delivery that is said to be under way, which nobody makes any more; null when it is simply due. */
  readonly interrupted: string | null;
}

/** An email that is held; `heldUntil`: ms since the epoch. */
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
  /** Emails that have been due for longer, at most 1,000; null when the email is not due. */
  readonly ahead: number | null;
}

export interface OutboundRequest {
  readonly accountId: string;
  readonly outboundId: string;
  readonly action: 'retry' | 'cancel';
}

/** For operators: a row and whose it is. */
export interface OutboundListing extends Omit<OutboundRow, 'machine'> {
  readonly accountId: string;
  readonly accountEmail: string;
}

export interface OutboundStore {
  /**
   * What is due on these shards, longest due first, but what `except` names (outbound ids) and what is of the accounts in
   * `exceptAccounts`.
   */
  due(
    shards: readonly number[],
    limit: number,
    except: readonly string[],
    exceptAccounts: readonly string[],
  ): Promise<readonly QueuedOutbound[]>;
  /**
   * What is Sending on these shards by a node that is no more, or, not in `except` (outbound ids), by the node of this
   * incarnation, which has lost it.
   */
  interrupted(
    shards: readonly number[],
    incarnation: string,
    limit: number,
    except: readonly string[],
  ): Promise<readonly QueuedOutbound[]>;
  /**
   * What is held on these shards and is to be released within so many ms, but what `except` names (outbound ids): the first of
   * every account before the second of any.
   */
  held(
    shards: readonly number[],
    withinMs: number,
    limit: number,
    except: readonly string[],
  ): Promise<readonly HeldOutbound[]>;
  /** What owes its sender a report that is to be given now, on these shards. */
  reportsDue(
    shards: readonly number[],
    limit: number,
    except: readonly string[],
  ): Promise<readonly Pick<QueuedOutbound, 'accountId' | 'outboundId'>[]>;
  /** What is sent or failed, owes no report, and has not changed since `before` (ms since the epoch), the oldest first. */
  expired(before: number, limit: number): Promise<readonly Pick<QueuedOutbound, 'accountId' | 'outboundId'>[]>;
  requests(shards: readonly number[], limit: number): Promise<readonly OutboundRequest[]>;
  /** What was asked is done, or can no longer be. */
  settleRequest(request: OutboundRequest): Promise<void>;
  /** ms since the first of what is due on these shards was to be delivered; 0 when nothing is due. */
  overdueMs(shards: readonly number[]): Promise<number>;
  /** Whether something is Sending on these shards by a node that is no more. */
  isStranded(shards: readonly number[]): Promise<boolean>;

  /** For operators. Newest first; all but drafts unless a status is named. */
  list(status: OutboundStatus | undefined, limit: number): Promise<readonly OutboundListing[]>;
  find(outboundId: string): Promise<OutboundListing | undefined>;
  /** Leaves word for the mailbox; a later request replaces an earlier one. */
  request(request: OutboundRequest): Promise<void>;
  isRequested(request: Pick<OutboundRequest, 'accountId' | 'outboundId'>): Promise<boolean>;
}
