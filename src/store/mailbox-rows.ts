// The rows of one account's mailbox: folders, emails, placements, filters, and the entries of its log. The store's port
// (mailboxes.ts) and the change records (changes.ts) are made of them.
import type { SentOnward } from '../mail-format/sent-onward.js';
import type { MessageSummary } from '../mail-format/summary.js';
import type { InboundEnvelope } from './inbound.js';

/** Roles of the folders that every account has, one of each. */
export const SYSTEM_ROLES = ['inbox', 'sent', 'drafts', 'archive', 'trash', 'junk'] as const;
export type SystemRole = (typeof SYSTEM_ROLES)[number];
export const FOLDER_ROLES = [...SYSTEM_ROLES, 'label', 'folder'] as const;
export type FolderRole = (typeof FOLDER_ROLES)[number];

/** The properties of a folder, without its content. */
export interface FolderDefinition {
  readonly id: string;
  readonly role: FolderRole;
  readonly name: string;
  readonly color: string | null;
  readonly sortOrder: number;
  readonly isSubscribed: boolean;
  readonly uidValidity: number;
  /** ms since the epoch. */
  readonly createdAt: number;
}

export interface FolderCounters {
  readonly id: string;
  readonly uidNext: number;
  readonly total: number;
  readonly unread: number;
  readonly highestModseq: number;
}

export interface FolderRow extends FolderDefinition, FolderCounters {}

/** An email's place in a folder. */
export interface Placement {
  readonly folderId: string;
  readonly uid: number;
}

/** A named value of a folder, or of the account (folderId null). `value` is in base64; null means that it is removed. */
export interface AnnotationRow {
  readonly folderId: string | null;
  /** In lower case. */
  readonly name: string;
  readonly value: string | null;
}

/** A Sieve script (RFC 5228) of an account. */
export interface SieveScriptRow {
  readonly name: string;
  readonly content: string;
}

/** The conditions of a filter; null: not set. */
export interface FilterConditions {
  readonly fromAddressContains: string | null;
  /** Names and addresses. */
  readonly toContains: string | null;
  readonly ccContains: string | null;
  readonly subjectContains: string | null;
  readonly bodyContains: string | null;
  /** A field that the header has, with `headerContains` if that is set. */
  readonly headerName: string | null;
  readonly headerContains: string | null;
  readonly listId: string | null;
  readonly hasAttachments: boolean | null;
  readonly minSizeBytes: number | null;
  readonly maxSizeBytes: number | null;
  /** A regular expression for the subject and the body (mail-format/words/safe-pattern.ts). */
  readonly matches: string | null;
}

/** The conditions that version 0.2.0 does not know, where they are not set; `FURTHER_ACTIONS` has such actions. */
export const FURTHER_CONDITIONS = {
  toContains: null,
  ccContains: null,
  headerName: null,
  headerContains: null,
  listId: null,
  minSizeBytes: null,
  maxSizeBytes: null,
  matches: null,
} as const satisfies Partial<FilterConditions>;
export const FURTHER_ACTIONS = {
  moveToFolderId: null,
  flag: null,
  forwardTo: null,
  stop: null,
} as const satisfies Partial<FilterRow>;

/** A null or false action is not taken. Times are ms since the epoch. */
export interface FilterRow extends FilterConditions {
  readonly id: string;
  readonly name: string;
  readonly isEnabled: boolean;
  /** Lower priorities are evaluated first; `createdAt` breaks ties. */
  readonly priority: number;
  readonly markAsRead: boolean | null;
  readonly assignLabelId: string | null;
  readonly moveToFolderId: string | null;
  /** `\\Flagged` or a keyword. */
  readonly flag: string | null;
  /** A verified address, in canonical form. */
  readonly forwardTo: string | null;
  readonly delete: boolean | null;
  /** The filters after this one are not evaluated. */
  readonly stop: boolean | null;
  /** Why the mailbox has disabled the filter; null when it is enabled, or when the user has disabled it. */
  readonly disabledReason: 'folderDeleted' | null;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly lastAppliedAt: number | null;
  readonly timesApplied: number;
}

/** Filters of a delivered email that apply once its body can be read. */
export interface FiltersAwaitingBody {
  readonly emailId: string;
  readonly filterIds: readonly string[];
  /** The placements that the delivery made; a filter that deletes removes only these. */
  readonly placed: readonly Placement[];
  /** Null for mail that a node of 0.2.0 has delivered, or that no envelope brought. */
  readonly envelope?: ArrivedEnvelope | null;
}

/** The envelope of an arrived message, as far as it is known. */
export interface ArrivedEnvelope {
  /** '' is the null sender. */
  readonly sender: string;
  /** The address that was written to; null when it is unknown. */
  readonly recipient: string | null;
}

/** A key that an account remembers until a time, in ms since the epoch. */
export interface RememberedKey {
  readonly key: string;
  readonly until: number;
}

/** Kinds of mail that the server sends because mail arrived. */
export const AUTOMATIC_KINDS = ['forward', 'vacation', 'reject'] as const;
export type AutomaticKind = (typeof AUTOMATIC_KINDS)[number];

/** What filters have decided about mail of which the account keeps no email yet. */
export interface CopyPlacing {
  readonly folderIds: readonly string[];
  readonly labelIds: readonly string[];
  /** Names of flags and keywords. */
  readonly flags: readonly string[];
}

/** A message that the server must send because a message arrived (docs/decisions/0097). */
export interface DueMail extends ArrivedEnvelope {
  /** The outbound email gets this id. */
  readonly id: string;
  readonly kind: AutomaticKind;
  /** The message that arrived. */
  readonly blob: string;
  /** ms since the epoch. */
  readonly receivedAt: number;
  /** The addresses that get the message, in canonical form; empty when the kind derives them from the arrived message. */
  readonly targets: readonly string[];
  /** The account keeps no email of the arrived message: it gets one if this message fails. The summary is that of the arrived message. */
  readonly copy: MessageSummary | null;
  /** Where the filters put the copy; absent: in the inbox. */
  readonly placing?: CopyPlacing | undefined;
  /** The message begins with fields in which the MX wrote the results of its checks. */
  readonly isChecked: boolean;
  /** The message is queued: the row waits for its outcome, because of the copy. */
  readonly isQueued: boolean;
  /** What the kind needs besides. */
  readonly further?: Readonly<Record<string, unknown>> | undefined;
}

/** A run of a filter over existing mail. */
export interface FilterRun {
  readonly id: string;
  readonly filterId: string;
  /** The filter when the run began. */
  readonly rule: FilterRow;
  /** Null: all folders but Trash, Junk, Sent and Drafts. */
  readonly folderId: string | null;
  readonly phase: 'applying' | 'done' | 'undoing' | 'undone';
  /** The newest email when the run began; later ones are not touched. */
  readonly newestId: string;
  /** The last email that was looked at; '' at first. */
  readonly position: string;
  /** Emails in the folders when the run began. */
  readonly total: number;
  readonly matched: number;
  /** Emails that are changed and not undone. */
  readonly changed: number;
  /** Batches that have changed something, and those of them that are undone. */
  readonly batches: number;
  readonly undone: number;
  /** ms since the epoch. */
  readonly startedAt: number;
}

/** What a run has changed of an email. */
export interface RunEmail {
  readonly emailId: string;
  /** Bits of `mail-format/flags` that were added. */
  readonly flags: number;
  readonly keywords: readonly string[];
  /** Labels that were given. */
  readonly labels: readonly Placement[];
  /** The folders that the email has left, and its placement in the one that it was moved to; null when it was there before. */
  readonly moved: { readonly to: Placement | null; readonly from: readonly string[] } | null;
}

export interface RunBatch {
  readonly runId: string;
  readonly number: number;
  readonly emails: readonly RunEmail[];
}

/**
 * How an email arrived: `appended` by a client over IMAP, `submitted` as the copy in Sent that submission made, `sent` as the
 * copy in Sent that REST made, or as another email with a message that was sent.
 */
export type EmailOrigin = 'appended' | 'submitted' | 'sent';

export interface EmailRow extends MessageSummary {
  readonly id: string;
  /** SHA-256 of the raw message. */
  readonly blob: string;
  /** The id of the thread; for a new email, of the thread that it starts unless the store knows one of its message ids. */
  readonly threadId: string;
  /** ms since the epoch. */
  readonly receivedAt: number;
  /** Bits of `mail-format/flags`. */
  readonly flags: number;
  readonly keywords: readonly string[];
  readonly modseq: number;
  /** Absent or null for mail that arrived in any other way. */
  readonly origin?: EmailOrigin | null;
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

/** Mail that a sender's commit hands to a mailbox of this store: a row of `inbound`, which is the promise to deliver it. */
export interface LocalDelivery {
  /** The account whose inbox gets it. Nothing is written when the account no longer exists. */
  readonly accountId: string;
  /** UUID of the inbound row. */
  readonly id: string;
  readonly blob: string;
  readonly envelope: InboundEnvelope;
  /** The address that was written to. */
  readonly recipient?: string;
  /** The message goes to these addresses on behalf of the account. */
  readonly onward?: SentOnward;
}
