// Port: the rows of one account's mailbox. Only the account's mailbox actor writes them, by one fenced commit a batch
// of commands (D1, D2); loading is columnar because the actor keeps a mailbox as columns.
import type { MessageSummary } from '../mail/message-index.js';
import type { InboundEnvelope } from './inbound.js';
import type { DeliveryAttempt, OutboundContent, OutboundRow, OutboundStatus } from './outbound.js';

export type FolderRole = 'inbox' | 'sent' | 'drafts' | 'archive' | 'trash' | 'junk' | 'label' | 'folder';

export interface FolderRow {
  readonly id: string;
  readonly role: FolderRole;
  readonly name: string;
  readonly color: string | null;
  readonly sortOrder: number;
  readonly uidValidity: number;
  readonly uidNext: number;
  readonly total: number;
  readonly unread: number;
  readonly highestModseq: number;
  readonly isSubscribed: boolean;
  /** ms since the epoch. */
  readonly createdAt: number;
}

/** A condition that is null is not set, an action that is null or false is not taken. Times are ms since the epoch. */
export interface FilterRow {
  readonly id: string;
  readonly name: string;
  readonly isEnabled: boolean;
  /** Lower is evaluated first; ties by `createdAt`. */
  readonly priority: number;
  readonly fromAddressContains: string | null;
  readonly subjectContains: string | null;
  readonly bodyContains: string | null;
  readonly hasAttachments: boolean | null;
  readonly markAsRead: boolean | null;
  readonly assignLabelId: string | null;
  readonly delete: boolean | null;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly lastAppliedAt: number | null;
  readonly timesApplied: number;
}

/** Filters of a delivered email that are to be applied once its body can be read. */
export interface DeferredFilters {
  readonly emailId: string;
  readonly filterIds: readonly string[];
}

export interface EmailRow extends MessageSummary {
  readonly id: string;
  /** SHA-256 of the raw message. */
  readonly blob: string;
  /** When it is added: the thread that it starts unless the store knows one of its ids. */
  readonly threadId: string;
  /** ms since the epoch. */
  readonly receivedAt: number;
  /** Bits of `mail/flags`. */
  readonly flags: number;
  readonly keywords: readonly string[];
  readonly modseq: number;
}

/** What an export needs of an email's row. */
export type ExportRow = Pick<EmailRow, 'id' | 'blob' | 'fromAddress' | 'receivedAt' | 'size'>;

/** What lists and details need of an email's row; flags come from the actor's memory. */
export type EmailSummaryRow = Omit<EmailRow, 'flags' | 'keywords' | 'modseq'>;

export interface EventRow {
  readonly seq: number;
  readonly n: number;
  readonly type: string;
  readonly payload: unknown;
  /** ms since the epoch. */
  readonly at: number;
}

/** A new email, and the message ids by which the store finds the thread that it joins; emails of one thread bring the same. */
export interface AddedEmail extends EmailRow {
  readonly threadIds: readonly string[];
}

/** Folder columns that a change writes; what labels alone have is there when it changed. */
export type FolderChange = Pick<FolderRow, 'id' | 'uidNext' | 'total' | 'unread' | 'highestModseq'> &
  Partial<Pick<FolderRow, 'name' | 'color' | 'sortOrder'>>;

/** An outbound email as it is after the batch. */
export interface OutboundChange {
  readonly row: OutboundRow;
  /** Its status before the batch; null when the batch made it. */
  readonly before: OutboundStatus | null;
  /** Ids of recipients that changed; `all`: those of the row take the place of those in the store. */
  readonly recipients: 'all' | readonly string[];
  /** There when it changed: drafts alone change it after they were made. null: it is in the message alone. */
  readonly content?: OutboundContent | null;
  /** Blob that the row had before the batch and has no more. */
  readonly released?: string;
}

/** How many outbound emails of an account have each of the statuses that were asked for. */
export interface OutboundCounts {
  /** Change number of the account that they are of. */
  readonly modseq: number;
  readonly counts: ReadonlyMap<OutboundStatus, number>;
}

/** Mail that a sender's commit hands to a mailbox of this store: a row of `inbound`, which is the promise to deliver it. */
export interface HandedOver {
  /** Whose inbox it is for. When there is no such account any more nothing is written. */
  readonly accountId: string;
  /** UUID of the inbound row. */
  readonly id: string;
  readonly blob: string;
  readonly envelope: InboundEnvelope;
}

/** The net effect of a batch of commands on one account: rows to write, already merged so that no row stands twice. */
export interface MailboxChange {
  readonly accountId: string;
  readonly epoch: number;
  readonly modseqBefore: number;
  readonly modseqAfter: number;
  readonly emailsAdded: readonly AddedEmail[];
  readonly emailsFlagged: readonly { readonly id: string; readonly flags: number; readonly modseq: number }[];
  readonly emailsRemoved: readonly string[];
  readonly placed: readonly {
    readonly folderId: string;
    readonly uid: number;
    readonly emailId: string;
    readonly modseq: number;
  }[];
  readonly unplaced: readonly {
    readonly folderId: string;
    readonly uid: number;
    readonly emailId: string;
    readonly modseq: number;
  }[];
  readonly folders: readonly FolderChange[];
  /** As they are after the batch: none of them stands in `folders`. */
  readonly foldersAdded: readonly FolderRow[];
  /** With all their placements, which stand nowhere else in the change. */
  readonly foldersRemoved: readonly string[];
  /** New or changed, as they are after the batch. */
  readonly filters: readonly FilterRow[];
  readonly filtersRemoved: readonly string[];
  readonly filtersDeferred: readonly DeferredFilters[];
  /** Emails whose deferred filters have been applied, and such that are gone. */
  readonly deferralsEnded: readonly string[];
  /** Blobs of mail that was not kept. */
  readonly blobsReleased: readonly string[];
  readonly events: readonly EventRow[];
  /** Inbound rows this commit consumes; it fails as a whole when one is already gone. */
  readonly inbound: readonly string[];
  readonly remembered: readonly RememberedReply[];
  /** New or changed. */
  readonly outbound: readonly OutboundChange[];
  readonly outboundRemoved: readonly string[];
  readonly outboundAttempts: readonly { readonly outboundId: string; readonly attempt: DeliveryAttempt }[];
  readonly handedOver: readonly HandedOver[];
}

/** What a command was answered, kept for as long as it may be asked again. */
export interface RememberedReply {
  /** UUID of the ask. */
  readonly id: string;
  readonly reply: unknown;
}

export type CommitResult =
  | { readonly kind: 'committed' }
  /** Another epoch or modseq is in the store: this owner is out of date and must stop. */
  | { readonly kind: 'fenced' }
  /** These inbound rows were consumed before: nothing was written. */
  | { readonly kind: 'consumed'; readonly inbound: readonly string[] };

export interface ClaimedAccount {
  readonly kind: 'claimed';
  readonly modseq: number;
  readonly email: string;
  /** A mailbox without a login, kept for whoever is provisioned with its address. */
  readonly held: boolean;
}

/** `count` emails as columns, ids ascending. */
export interface EmailPage {
  readonly count: number;
  /** 16 octets each. */
  readonly ids: Uint8Array;
  readonly flags: Uint16Array;
  readonly receivedAt: Float64Array;
  readonly sizes: Float64Array;
  readonly modseqs: Float64Array;
  /** 0 or 1. */
  readonly hasAttachments: Uint8Array;
}

/** `count` placements of one folder as columns, UIDs ascending. */
export interface PlacementPage {
  readonly folderId: string;
  readonly count: number;
  readonly uids: Uint32Array;
  /** 16 octets each. */
  readonly emailIds: Uint8Array;
  readonly modseqs: Float64Array;
  /** 0 or 1. */
  readonly isDeleted: Uint8Array;
}

/** `count` UIDs that left one folder, by ascending modseq. */
export interface ExpungedPage {
  readonly folderId: string;
  readonly count: number;
  readonly uids: Uint32Array;
  readonly modseqs: Float64Array;
}

/** The UIDs that left the folders of an account after `floor`; of those that left before, some are not known any more. */
export interface Expunged {
  readonly floor: number;
  readonly folders: readonly ExpungedPage[];
}

/** Emails that have the same keywords. */
export interface KeywordSet {
  readonly names: readonly string[];
  /** 16 octets each, ascending. */
  readonly emailIds: Uint8Array;
}

/** A mailbox but for its emails and where they are placed. */
export interface MailboxOverview {
  readonly folders: readonly FolderRow[];
  readonly filters: readonly FilterRow[];
  readonly deferredFilters: readonly DeferredFilters[];
  /** Replies of the last minute, oldest first. */
  readonly remembered: readonly RememberedReply[];
  readonly expunged: Expunged;
}

/** The newest emails of a thread, or a page of all of them, the first of which begins with the oldest (1-based). */
export type ThreadPart = { readonly newest: number } | { readonly page: number; readonly pageSize: number };

export interface ThreadRows {
  readonly rows: readonly EmailSummaryRow[];
  /** Emails of the whole thread. */
  readonly total: number;
}

export interface MailboxStore {
  /** Sets the account's epoch to `epoch`; fenced when a later one has it. */
  claim(
    accountId: string,
    epoch: number,
  ): Promise<ClaimedAccount | { readonly kind: 'noSuchAccount' } | { readonly kind: 'fenced' }>;
  overview(accountId: string): Promise<MailboxOverview>;
  emails(accountId: string): AsyncIterable<EmailPage>;
  /** Every email that has keywords stands once. */
  keywords(accountId: string): Promise<readonly KeywordSet[]>;
  /** Folder by folder. */
  placements(accountId: string): AsyncIterable<PlacementPage>;
  /** One fenced transaction; many accounts' changes may share it. */
  commit(change: MailboxChange): Promise<CommitResult>;
  /** Whether a commit of this epoch, after this change, would not be fenced. */
  isNewest(accountId: string, epoch: number, modseq: number): Promise<boolean>;
  /** Rows of these emails, in no particular order; ids that are not there are left out. */
  summaries(accountId: string, ids: readonly string[]): Promise<readonly EmailSummaryRow[]>;
  /** Emails of a thread, oldest first; also under an id that it had before it was joined with another. */
  thread(accountId: string, threadId: string, part: ThreadPart): Promise<ThreadRows>;
  /** What an export needs of these emails, in no particular order; ids that are not there are left out. */
  exportRows(accountId: string, ids: readonly string[]): Promise<readonly ExportRow[]>;
  /** Ids in the folder whose sender contains `fromAddress` (any case), newest first. */
  idsFrom(accountId: string, folderId: string, fromAddress: string): Promise<readonly string[]>;
  /** Rows of outbound emails; ids that are not there are left out. */
  outboundRows(accountId: string, ids: readonly string[]): Promise<readonly OutboundRow[]>;
  /** Outbound emails by their copies in Sent; those that have none are missing. */
  outboundOfCopies(accountId: string, emailIds: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** Newest first by creation. `page` is 1-based. */
  outboundPage(
    accountId: string,
    statuses: readonly OutboundStatus[],
    page: number,
    pageSize: number,
  ): Promise<readonly OutboundRow[]>;
  outboundCounts(accountId: string, statuses: readonly OutboundStatus[]): Promise<OutboundCounts>;
  /** Undefined when the email came by submission, or is not there. */
  outboundContent(accountId: string, id: string): Promise<OutboundContent | undefined>;
  /** Oldest first, the newest 1,000. */
  outboundAttempts(accountId: string, id: string): Promise<readonly DeliveryAttempt[]>;
  /** Emails with this Message-Id in whatever folder, received at `since` (ms since the epoch) or later, newest first. */
  emailsByMessageId(accountId: string, messageId: string, since: number): Promise<readonly string[]>;
  /** Drops replies older than `maxAgeMs`, of every account; returns how many. */
  forget(maxAgeMs: number): Promise<number>;
  /** Distinct sender addresses of the folder's emails, ascending. */
  senders(accountId: string, folderId: string): Promise<readonly string[]>;
}
