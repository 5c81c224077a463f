// The change records of a mailbox: they describe everything that a batch of commands changes. The log contains these records and
// they are published; the rows of the commit and the state of the actor derive from them (coalesced-changes.ts). All records of an
// account rebuild its mailbox, except what only the rows contain: bodies of drafts, and snapshots of the machines of outbound
// emails.
import { uuidOctets } from '../../mail-format/ids.js';
import { PackedIds } from '../../mail-format/packed-ids.js';
import type { MessageSummary } from '../../mail-format/summary.js';
import type {
  DueMail,
  EmailRow,
  EventRow,
  FilterRow,
  FilterRun,
  FiltersAwaitingBody,
  FolderDefinition,
  FolderRole,
  LocalDelivery,
  Placement,
  RememberedKey,
  RunBatch,
  SieveScriptRow,
} from '../mailbox-rows.js';
import type {
  DeliveryAttempt,
  OutboundContent,
  OutboundRecipientRow,
  OutboundRow,
  OutboundStatus,
  Suppression,
} from '../outbound.js';
import type { Answered } from '../vacation.js';

/** All columns of a new email's row except its modseq, which is that of the change. */
export type NewEmail = Omit<EmailRow, 'modseq'>;

/** An outbound email's row without its recipients, which have records of their own, and without its machine's snapshot. */
export type LoggedOutbound = Omit<OutboundRow, 'recipients' | 'machine'>;

/** What clients show of a new email. */
export interface AnnouncedEmail {
  readonly emailId: string;
  readonly fromAddress: string;
  readonly fromDisplayName: string;
  readonly subject: string;
  /** ms since the epoch. */
  readonly receivedAt: number;
  readonly hasAttachments: boolean;
  readonly isRead: boolean;
}

interface EmailPlacement extends Placement {
  readonly emailId: string;
}

/** What differs for the other emails of a record about placements in one folder. */
interface OtherPlacement {
  readonly emailId: string;
  readonly uid: number;
}

/** Packed when there are many. In a record about placements they have consecutive UIDs, in their order. */
type OtherIds = readonly string[] | PackedIds;

/**
 * A record may cover many emails: it describes the first one completely, and `others` names those that changed in the same way.
 */
interface Payloads {
  /** `isNew`: clients get a notification of new mail. */
  EmailAdded: { readonly email: NewEmail; readonly placements: readonly Placement[]; readonly isNew: boolean };
  EmailPlaced: EmailPlacement & { readonly others?: OtherIds };
  /** The email has left a folder and is still in others. */
  EmailExpunged: EmailPlacement & {
    readonly others?: readonly OtherPlacement[] | OtherIds;
    /** The placements had `\Deleted`. */
    readonly isHidden?: true;
    /** The emails have `\Deleted` wherever they are placed now. */
    readonly leavesHidden?: true;
  };
  /**
   * The email and all its placements are removed. `others` were in the same folders, under `uids` in the order of `placements`.
   */
  EmailRemoved: {
    readonly emailId: string;
    /** All placements had `\Deleted`. */
    readonly isHidden?: true;
    readonly placements: readonly Placement[];
    readonly others?: readonly { readonly emailId: string; readonly uids: readonly number[] }[];
  };
  /** `flags`: all bits after the change; `changed`: bits that differ; `keywords`: all after the change, when they changed. */
  FlagsChanged: {
    readonly emailId: string;
    readonly flags: number;
    readonly changed: number;
    readonly keywords?: readonly string[];
    readonly others?: OtherIds;
    /** All placements of the emails have `\Deleted`. */
    readonly isHidden?: true;
  };
  /**
   * `\Deleted`, which belongs to a placement. `isHidden`: the emails now have it in all their folders. `draftIds`: the drafts
   * that the emails stand for, when the folder is Drafts.
   */
  DeletedChanged: EmailPlacement & {
    readonly isDeleted: boolean;
    readonly others?: readonly OtherPlacement[] | OtherIds;
    readonly isHidden?: true;
    readonly draftIds?: readonly string[];
  };
  /** The new folder is empty. */
  FolderCreated: { readonly folder: FolderDefinition };
  /** The folder after the change. */
  FolderChanged: { readonly folder: FolderDefinition };
  /** The folder is deleted with its placements. `placed`: the new place of emails that were in no other folder. */
  FolderDeleted: {
    readonly folderId: string;
    readonly role: FolderRole;
    readonly placed: {
      readonly folderId: string;
      readonly emails: readonly { readonly emailId: string; readonly uid: number }[];
    } | null;
  };
  /** Annotations of a folder or of the account (folderId null), in base64; a null value means removed. */
  AnnotationsChanged: {
    readonly folderId: string | null;
    readonly entries: readonly { readonly name: string; readonly value: string | null }[];
  };
  /** The filter is new or changed. `isApplied`: only because it has matched, which `lastAppliedAt` and `timesApplied` count. */
  FilterChanged: { readonly filter: FilterRow; readonly isApplied?: true };
  FilterDeleted: { readonly filterId: string };
  /** The filters of an email that wait for its body. */
  FiltersAwaitBody: FiltersAwaitingBody;
  BodyFiltersEnded: { readonly emailId: string };
  /** A run of a filter over existing mail is new or has changed. */
  FilterRunChanged: { readonly run: FilterRun };
  /** What a batch of a run has changed. */
  FilterRunApplied: RunBatch;
  FilterRunRemoved: { readonly runId: string };
  /** A Sieve script is new or has another content. */
  SieveScriptStored: SieveScriptRow;
  SieveScriptDeleted: { readonly name: string };
  /** The script that runs when mail arrives; null: none. */
  SieveScriptActivated: { readonly name: string | null };
  /** The `duplicate` test of a script has seen a key; others leave for it. */
  SieveKeyTracked: RememberedKey & { readonly forgotten: readonly string[] };
  /** The server must send a message because one arrived, or such a message has changed. */
  AutomaticMailDue: { readonly due: DueMail };
  /** `blob`: of the message that arrived. */
  AutomaticMailEnded: { readonly id: string; readonly blob: string };
  /** Clients get a notification as if the email had just arrived. */
  EmailAnnounced: AnnouncedEmail;
  /** Mail that was not placed, because a filter deleted it or a copy of it exists. */
  MailDiscarded: { readonly inboundId?: string; readonly blob: string };
  /** Unread emails of the inbox after the change. */
  UnreadCountChanged: { readonly unread: number };
  /**
   * The outbound email is new or changed. `before`: its previous status; null for a new one. `passed`: the statuses that it went
   * through with the change, in order. `recipientIds`: present when the list of recipients is new; each of them has a record
   * after this one. `released`: the previous blob of its message, when that changed.
   */
  OutboundChanged: {
    readonly outbound: LoggedOutbound;
    readonly before: OutboundStatus | null;
    readonly passed: readonly OutboundStatus[];
    readonly recipientIds?: readonly string[];
    readonly released?: string;
  };
  RecipientChanged: {
    readonly outboundId: string;
    readonly position: number;
    readonly recipient: OutboundRecipientRow;
  };
  /**
   * A draft was deleted; `isHidden`: its email had `\Deleted` in Drafts. `isFinal`: it was not a draft but an email that was sent
   * or had failed.
   */
  OutboundRemoved: { readonly outboundId: string; readonly isHidden?: true; readonly isFinal?: true };
  DeliveryAttempted: { readonly outboundId: string; readonly attempt: DeliveryAttempt };
  DeliveredLocally: LocalDelivery;
  /** Mail to an address bounced for good; replaces what is known of the address. */
  SuppressionAdded: Suppression;
  SuppressionRemoved: { readonly address: string };
  /** A sender gets a vacation reply. `forgotten`: keys of senders who are not remembered any more. */
  VacationAnswered: Answered & { readonly forgotten: readonly string[] };
  /** Values that the account chose, by name; the other preferences stay. */
  PreferencesChanged: { readonly chosen: Readonly<Record<string, unknown>> };
}

/** What the commit stores but the log does not contain; absent in records that were read from the log. */
export interface StoredOnly {
  /** The whole row, with its machine and its recipients. */
  readonly row: OutboundRow;
  /** The previous row had the same message and sender: only its state has changed, and perhaps its copy. */
  readonly isSameMessage: boolean;
  /** Present when the content changed; null: only the message contains it. */
  readonly content?: OutboundContent | null;
  /** The summary of its message, which the actor keeps in memory. */
  readonly summary?: MessageSummary;
}

export type Change = {
  [T in keyof Payloads]: {
    readonly type: T;
    /** The account's modseq of the command. */
    readonly seq: number;
    /** ms since the epoch. */
    readonly at: number;
    readonly payload: Payloads[T];
  } & (T extends 'OutboundChanged' ? { readonly storedOnly?: StoredOnly } : unknown);
}[keyof Payloads];

export type ChangeOf<T extends Change['type']> = Extract<Change, { readonly type: T }>;

/** A record that has no place in the log yet. */
export type ChangeContent = {
  [T in Change['type']]: Omit<ChangeOf<T>, 'seq' | 'at'>;
}[Change['type']];

/** A record as it is logged and published; `n` counts the records of one seq. */
export type LoggedChange = {
  [T in Change['type']]: Omit<ChangeOf<T>, 'storedOnly'> & { readonly n: number };
}[Change['type']];

/** The emails that a record of changed flags is about. */
export function flaggedIn({ emailId, others = [] }: ChangeOf<'FlagsChanged'>['payload']): readonly string[] {
  return [emailId, ...others];
}

/** The emails of a record, packed; undefined when the record has them as texts. */
export function packedIn({
  emailId,
  others,
}: ChangeOf<'FlagsChanged' | 'EmailPlaced' | 'EmailExpunged'>['payload']): PackedIds | undefined {
  if (!(others instanceof PackedIds)) return undefined;
  if (others.whole !== undefined) return others.whole;
  const octets = new Uint8Array(16 + others.octets.length);
  octets.set(uuidOctets(emailId));
  octets.set(others.octets, 16);
  return new PackedIds(octets);
}

/** The emails of a record about placements in one folder, and their UIDs there. */
export function placementsIn(
  payload: ChangeOf<'EmailPlaced' | 'EmailExpunged' | 'DeletedChanged'>['payload'],
): readonly OtherPlacement[] {
  const { emailId, uid, others = [] } = payload;
  const placements: OtherPlacement[] = [{ emailId, uid }];
  for (const other of others) {
    placements.push(typeof other === 'string' ? { emailId: other, uid: uid + placements.length } : other);
  }
  return placements;
}

/** The removed emails of a record, and the placements that each of them had. */
export function removedIn({ emailId, placements, others = [] }: ChangeOf<'EmailRemoved'>['payload']): readonly {
  readonly emailId: string;
  readonly placements: readonly Placement[];
}[] {
  const rest = others.map(({ emailId: id, uids }) => ({
    emailId: id,
    placements: placements.map(({ folderId }, i) => ({ folderId, uid: uids[i]! })),
  }));
  return [{ emailId, placements }, ...rest];
}

/** Makes the entries of the log. */
export function logged(changes: readonly Change[]): (LoggedChange & EventRow)[] {
  let seq = 0;
  let n = 0;
  return changes.map((change) => {
    n = change.seq === seq ? n + 1 : 0;
    seq = change.seq;
    const { type, at, payload } = change;
    return { type, seq, n, at, payload } as LoggedChange;
  });
}
