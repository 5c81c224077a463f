// Port: the rows of one account's mailbox. Only the account's mailbox actor writes them, by one fenced commit per batch of
// commands (decisions 0001, 0002). Loading is columnar, because the actor keeps a mailbox as columns.
import type { IndexedAddress } from '../mail-format/message-index.js';
import type { SenderLists } from '../mail-format/senders.js';
import type { BlobContent } from './blobs.js';
import type { Change } from './changes/changes.js';
import type { JunkLesson } from './feedback/junk-lessons.js';
import type { SharedDelivery } from './inline/shared-message.js';
import type { Usage } from './limits/quotas.js';
import type { CountedSending, SendingMinute } from './limits/sending.js';
import type {
  AnnotationRow,
  DueMail,
  EmailSummaryRow,
  ExportRow,
  FilterRow,
  FilterRun,
  FiltersAwaitingBody,
  FolderCounters,
  FolderRow,
  Placement,
  RememberedKey,
  RunEmail,
  SieveScriptRow,
} from './mailbox-rows.js';
import type {
  DeliveryAttempt,
  DraftEmail,
  OutboundContent,
  OutboundRow,
  OutboundStatus,
  Suppression,
  WaitingOutbound,
} from './outbound.js';
import type { Forwarding } from './preferences.js';
import type { Answered, Vacation } from './vacation.js';

export type {
  EmailSummaryRow,
  EventRow,
  ExportRow,
  FilterRow,
  FiltersAwaitingBody,
  FolderRole,
  FolderRow,
  LocalDelivery,
} from './mailbox-rows.js';

/** How many outbound emails of an account have each of the requested statuses. */
export interface OutboundCounts {
  /** Change number of the account at which they were counted. */
  readonly modseq: number;
  readonly counts: ReadonlyMap<OutboundStatus, number>;
}

/** What a batch of commands changes in one account: one fenced commit. */
export interface MailboxChange {
  readonly accountId: string;
  readonly epoch: number;
  readonly modseqBefore: number;
  readonly modseqAfter: number;
  /**
   * Records in order; the rows (`coalesce`) and the entries of the log (`logged`) derive from them. They must not change afterwards.
   */
  readonly changes: readonly Change[];
  /** Counters after the batch of every folder that it has changed and not deleted. */
  readonly counters: readonly FolderCounters[];
  /** What the mailbox uses after the batch; absent: it must be counted from the emails. */
  readonly usage?: Usage | undefined;
  /** What the batch has sent to, and what was refused; absent: nothing. */
  readonly sent?: CountedSending | undefined;
  /** What the batch teaches the junk filter; absent: nothing. */
  readonly lessons?: readonly JunkLesson[] | undefined;
  /** Inbound rows that this commit consumes; it fails as a whole when one is already gone or its id is remembered. */
  readonly inbound: readonly string[];
  /** Small blobs that the emails refer to and that may not be in the store yet: the commit stores them with the emails. */
  readonly contents: readonly BlobContent[];
  /** Messages for several accounts that this commit places; it stores those that no other commit has stored. */
  readonly shared: readonly SharedDelivery[];
  /** The commit fails as a whole when one of them is remembered already. */
  readonly remembered: readonly RememberedReply[];
  /** All keywords of an email after the change; absent where no deferred write has keywords. */
  keywordsOf?(emailId: string): readonly string[];
}

/** The reply to a command or delivery, kept for as long as it may be repeated. */
export interface RememberedReply {
  /** UUID of the ask or the delivery. */
  readonly id: string;
  readonly reply: unknown;
}

/**
 * What a commit has changed in existing threads. `grown`: a new email joined one of them. `joined`: emails of other threads are
 * now in the thread of a new email. `unsettled`: they will be, or may be later.
 */
export type ThreadChange = 'grown' | 'joined' | 'unsettled';

/** Emails and their threads, 16 octets each, by ascending id of the email. */
export interface ThreadPage {
  readonly emailIds: Uint8Array;
  readonly threadIds: Uint8Array;
}

export type CommitResult =
  | { readonly kind: 'committed'; readonly threads?: ThreadChange }
  /** The store has another epoch or modseq: this owner is out of date and must stop. */
  | { readonly kind: 'fenced' }
  /** Nothing was written: these inbound rows are gone, and these commands were carried out before. */
  | { readonly kind: 'repeated'; readonly inbound: readonly string[]; readonly replies: readonly RememberedReply[] }
  /** A shared message may not be stored any more: nothing was written. */
  | { readonly kind: 'withheld' };

export interface ClaimedAccount {
  readonly kind: 'claimed';
  readonly modseq: number;
  readonly email: string;
  /** The mailbox has no login yet; the account that gets its address will claim it. */
  readonly isUnclaimed: boolean;
  /** The whole mailbox at the time of the claim, when it is small enough; otherwise it must be read. */
  readonly mailbox?: SmallMailbox;
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

/** The UIDs that left the folders of an account after `floor`; of those that left earlier, some are no longer known. */
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

/** A mailbox without its emails and their placements. */
export interface MailboxOverview {
  readonly folders: readonly FolderRow[];
  readonly filters: readonly FilterRow[];
  readonly filtersAwaitingBody: readonly FiltersAwaitingBody[];
  readonly filterRuns: readonly FilterRun[];
  readonly sieveScripts: readonly SieveScriptRow[];
  /** The name of the script that runs when mail arrives. */
  readonly activeSieveScript: string | null;
  /** In the order in which the mail arrived. */
  /** What the `duplicate` test of scripts has seen; the key that ends first comes first. */
  readonly sieveKeys: readonly RememberedKey[];
  readonly dueMail: readonly DueMail[];
  readonly drafts: readonly DraftEmail[];
  /** Oldest first. */
  readonly suppressions: readonly Suppression[];
  readonly annotations: readonly AnnotationRow[];
  /** The senders that the account allows or blocks; null: it has chosen none. */
  readonly senders: SenderLists | null;
  /** Null: the account has never chosen. */
  readonly forwarding: Forwarding | null;
  /** Null: never chosen. */
  readonly vacation: Vacation | null;
  /** The senders who have got a vacation reply, the first that may get another one first. */
  readonly answered: readonly Answered[];
  /** Replies of the last minute, oldest first. */
  readonly remembered: readonly RememberedReply[];
  readonly expunged: Expunged;
}

/** Everything of a mailbox that its actor keeps in memory. */
export interface SmallMailbox {
  readonly overview: MailboxOverview;
  readonly keywords: readonly KeywordSet[];
  readonly emails: readonly EmailPage[];
  readonly placements: readonly PlacementPage[];
}

/**
 * Emails of a folder without `\Deleted` there, whose flags match `flags` in the bits of `mask`, and whose sender contains
 * `fromAddress`, ignoring case.
 */
export interface ListCriteria {
  readonly mask: number;
  readonly flags: number;
  readonly fromAddress?: string | undefined;
  /** Emails with equal keys come newest first. */
  readonly order: 'date' | 'from' | 'subject' | 'size';
  readonly isDescending: boolean;
  /** 1-based. */
  readonly page: number;
  readonly pageSize: number;
}

/** A page, and the totals of all pages. */
export interface ListedEmails {
  readonly ids: readonly string[];
  readonly totalCount: number;
  readonly unreadCount: number;
}

/** The newest emails of a thread, or one page of all of them; page 1 begins with the oldest. */
export type ThreadPart = { readonly newest: number } | { readonly page: number; readonly pageSize: number };

export interface ThreadRows {
  readonly rows: readonly EmailSummaryRow[];
  /** Emails of the whole thread. */
  readonly total: number;
}

export type BlindRecipient = Pick<OutboundRow['recipients'][number], 'address' | 'displayName'>;

/** An email that is the copy of a submitted message. */
export interface SubmittedCopy {
  readonly messageId: string;
  readonly emailId: string;
  /** The outbound email that it is a copy of; null when that is no longer known. */
  readonly outboundId: string | null;
}

/** The fields of a message that name recipients, in its index. */
export type RecipientField = 'to' | 'cc' | 'bcc';

export interface MailboxStore {
  /** Sets the account's epoch to `epoch`; returns `fenced` when the account has a later one. */
  claim(
    accountId: string,
    epoch: number,
  ): Promise<ClaimedAccount | { readonly kind: 'noSuchAccount' } | { readonly kind: 'fenced' }>;
  overview(accountId: string): Promise<MailboxOverview>;
  emails(accountId: string): AsyncIterable<EmailPage>;
  /** Each email with keywords is in exactly one set. */
  keywords(accountId: string): Promise<readonly KeywordSet[]>;
  /** Yields the pages folder by folder. */
  placements(accountId: string): AsyncIterable<PlacementPage>;
  /** Commits one fenced change; one transaction may contain changes of many accounts. */
  commit(change: MailboxChange): Promise<CommitResult>;
  /**
   * Resolves when the next transaction is composed: a change that is committed right after it, without another wait, joins that
   * transaction.
   */
  beforeCommit(): Promise<void>;
  /** Whether a commit with this epoch after this modseq would not be fenced. */
  isNewest(accountId: string, epoch: number, modseq: number): Promise<boolean>;
  /** Rows of these emails, in no particular order; unknown ids are left out. */
  summaries(accountId: string, ids: readonly string[]): Promise<readonly EmailSummaryRow[]>;
  /**
   * Those placements that were made together with their email, each once: no client has copied, moved or labelled the email there.
   */
  placedWithEmail(accountId: string, placements: readonly Placement[]): Promise<readonly Placement[]>;
  /** Emails of a thread, oldest first. The id may be one that the thread had before it was joined with another. */
  thread(accountId: string, threadId: string, part: ThreadPart): Promise<ThreadRows>;
  /** The threads of all emails but those whose own id is that of their thread: an email that begins a thread, or is one alone. */
  threads(accountId: string): AsyncIterable<ThreadPage>;
  /** After `unsettled`: joins the threads that a commit could not join. False when they may still be joined later. */
  settleThreads(accountId: string): Promise<boolean>;
  /** All emails of the threads that these emails are in. */
  threadsOf(accountId: string, emailIds: readonly string[]): Promise<ThreadPage>;
  /** What an export needs of these emails, in no particular order; unknown ids are left out. */
  exportRows(accountId: string, ids: readonly string[]): Promise<readonly ExportRow[]>;
  listed(accountId: string, folderId: string, criteria: ListCriteria): Promise<ListedEmails>;
  /** Rows of outbound emails; unknown ids are left out. */
  outboundRows(accountId: string, ids: readonly string[]): Promise<readonly OutboundRow[]>;
  /** Ids of the outbound emails with this Message-ID, the newest first, at most 10; drafts are left out. */
  outboundOfMessage(accountId: string, messageId: string): Promise<readonly string[]>;
  /** Ids of outbound emails by their copies in Sent; copies without one are missing. */
  outboundOfCopies(accountId: string, emailIds: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** The first `most` mailboxes in these fields of each email, To by default, without group names; unknown emails are missing. */
  recipientsOf(
    accountId: string,
    emailIds: readonly string[],
    most: number,
    fields?: readonly RecipientField[],
  ): Promise<ReadonlyMap<string, readonly IndexedAddress[]>>;
  /**
   * Bcc recipients in their order, by the email that stands for the outbound email, and by emails of the origin `sent` with its
   * Message-ID; emails without any are missing.
   */
  blindRecipients(
    accountId: string,
    emailIds: readonly string[],
  ): Promise<ReadonlyMap<string, readonly BlindRecipient[]>>;
  /** Newest first by creation, without the ids in `without`. `page` is 1-based. */
  outboundPage(
    accountId: string,
    statuses: readonly OutboundStatus[],
    without: readonly string[],
    page: number,
    pageSize: number,
  ): Promise<readonly OutboundRow[]>;
  outboundCounts(accountId: string, statuses: readonly OutboundStatus[]): Promise<OutboundCounts>;
  /** Undefined when the email was submitted over SMTP or does not exist. */
  outboundContent(accountId: string, id: string): Promise<OutboundContent | undefined>;
  /** The newest 1,000 attempts, oldest first. */
  outboundAttempts(accountId: string, id: string): Promise<readonly DeliveryAttempt[]>;
  /**
   * The first emails of the account that are queued and not held, by due time. `shards`: those on which longer due emails are
   * counted.
   */
  outboundWaiting(accountId: string, shards: readonly number[]): Promise<readonly WaitingOutbound[]>;
  /** Copies that submission made of messages with these Message-Ids, in any folder, newest first; at most 100 per Message-Id. */
  submittedCopies(accountId: string, messageIds: readonly string[]): Promise<readonly SubmittedCopy[]>;
  /** Message-Ids by email, for those emails that a client appended and that have one. */
  appendedMessageIds(accountId: string, emailIds: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** What the account has sent to since this minute, in order. */
  sentMinutes(accountId: string, since: number): Promise<readonly SendingMinute[]>;
  /** Those of the addresses, in canonical form, to which the account has never written. */
  strangers(accountId: string, addresses: readonly string[]): Promise<readonly string[]>;
  /** Whether the account has written to the address, in canonical form; false for addresses of hosted domains. */
  hasWrittenTo(accountId: string, address: string): Promise<boolean>;
  /** Drops at most `limit` replies older than `maxAgeMs`, except those of deliveries with an inbound row; returns how many. */
  forget(maxAgeMs: number, limit: number): Promise<number>;
  /** What a batch of a run of a filter has changed; undefined when there is no such batch. */
  filterRunBatch(accountId: string, runId: string, number: number): Promise<readonly RunEmail[] | undefined>;
  /** Distinct sender addresses of emails without `\Deleted` in the folder, ascending. */
  senders(accountId: string, folderId: string): Promise<readonly string[]>;
}
