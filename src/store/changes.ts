// The change records of a mailbox: what a batch of commands changes, and nothing else does. The log's entries and what is
// published are these records; the rows of the commit and the state of the actor derive from them (net-changes.ts). All
// records of an account rebuild its mailbox, but for what is stored only: bodies of drafts and the snapshots of the machines
// of outbound emails.
import { uuidOctets } from '../mail/ids.js';
import { PackedIds } from '../mail/packed-ids.js';
import type { MessageSummary } from '../mail/summary.js';
import type {
  DeferredFilters,
  EmailRow,
  EventRow,
  FilterRow,
  FolderDefinition,
  FolderRole,
  LocalDelivery,
  Placement,
} from './mailbox-rows.js';
import type {
  DeliveryAttempt,
  OutboundContent,
  OutboundRecipientRow,
  OutboundRow,
  OutboundStatus,
} from './outbound.js';

/** All columns of a new email's row but its modseq, which is that of the change. */
export type NewEmail = Omit<EmailRow, 'modseq'>;

/** An outbound email's row without its recipients, which have records of their own, and without its machine's snapshot. */
export type LoggedOutbound = Omit<OutboundRow, 'recipients' | 'machine'>;

/** What clients show of a new email. */
export interface ShownEmail {
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

/** What is different of the other emails of a record about placements in one folder. */
interface OtherPlacement {
  readonly emailId: string;
  readonly uid: number;
}

/** Packed where they are many. In a record about placements they have the UIDs that follow, in their order. */
type OtherIds = readonly string[] | PackedIds;

/** A record may be about many emails: it says everything of the first one, and `others` names those of which the same holds. */
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
  /** The email and all its placements are gone. `others` were in the same folders, under `uids` in the order of `placements`. */
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
   * `\Deleted`, which belongs to a placement. `isHidden`: the emails have it wherever they are placed now. `draftIds`: of
   * the drafts for which the emails stand, when the folder is Drafts.
   */
  DeletedChanged: EmailPlacement & {
    readonly isDeleted: boolean;
    readonly others?: readonly OtherPlacement[] | OtherIds;
    readonly isHidden?: true;
    readonly draftIds?: readonly string[];
  };
  /** It is empty. */
  FolderCreated: { readonly folder: FolderDefinition };
  /** As it is after the change. */
  FolderChanged: { readonly folder: FolderDefinition };
  /** With its placements. `placed`: where its emails are now that were in no other folder. */
  FolderDeleted: {
    readonly folderId: string;
    readonly role: FolderRole;
    readonly placed: {
      readonly folderId: string;
      readonly emails: readonly { readonly emailId: string; readonly uid: number }[];
    } | null;
  };
  /** Annotations of a folder, or of the account (null), in base64; null for those that were removed. */
  AnnotationsChanged: {
    readonly folderId: string | null;
    readonly entries: readonly { readonly name: string; readonly value: string | null }[];
  };
  /** New or changed. */
  FilterChanged: { readonly filter: FilterRow };
  FilterDeleted: { readonly filterId: string };
  /** The filters of an email that wait for its body. */
  FiltersDeferred: DeferredFilters;
  DeferralEnded: { readonly emailId: string };
  /** Clients get a notification of the email as if it had just come. */
  EmailAnnounced: ShownEmail;
  /** Mail that was not placed: a filter deleted it, or a copy of it was there. */
  MailDiscarded: { readonly inboundId?: string; readonly blob: string };
  /** Unread emails of the inbox after the change. */
  UnreadCountChanged: { readonly unread: number };
  /**
   * New or changed. `before`: its status before; null for a new one. `passed`: statuses that it came to with the change, in
   * order. `recipientIds`: there when the list of recipients is a new one; each of them has its record after this one.
   * `released`: the blob of its message before, when it has another.
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
  /** A draft was deleted; `isHidden`: its email had `\Deleted` in Drafts. `isFinal`: an email that was sent or had failed. */
  OutboundRemoved: { readonly outboundId: string; readonly isHidden?: true; readonly isFinal?: true };
  DeliveryAttempted: { readonly outboundId: string; readonly attempt: DeliveryAttempt };
  DeliveredLocally: LocalDelivery;
  /** Values that the account chose, by name; the others stay. */
  PreferencesChanged: { readonly chosen: Readonly<Record<string, unknown>> };
}

/** What the commit stores and the log does not have; absent in records that were read from the log. */
export interface StoredOnly {
  /** The whole row, with its machine and its recipients. */
  readonly row: OutboundRow;
  /** The row before had the same message and sender: its state has changed, and perhaps its copy. */
  readonly isSameMessage: boolean;
  /** There when it changed. null: it is in the message alone. */
  readonly content?: OutboundContent | null;
  /** Of its message, for the memory. */
  readonly summary?: MessageSummary;
}

/** Emails of one folder by their UIDs, in the order of a record of their flags. Absent in records that were read from the log. */
export interface FlaggedInFolder {
  readonly folderId: string;
  /** Of emails that follow each other in the folder; other UIDs of a run are those of emails that have left. */
  readonly runs: readonly UidRun[];
  /** In the memory that planned the change. */
  readonly slots: readonly number[];
}

export interface UidRun {
  readonly first: number;
  readonly last: number;
  /** Emails. */
  readonly count: number;
}

export type Change = {
  [T in keyof Payloads]: {
    readonly type: T;
    /** The account's modseq of the command. */
    readonly seq: number;
    /** ms since the epoch. */
    readonly at: number;
    readonly payload: Payloads[T];
  } & (T extends 'OutboundChanged'
    ? { readonly storedOnly?: StoredOnly }
    : T extends 'FlagsChanged'
      ? { readonly inFolder?: FlaggedInFolder }
      : unknown);
}[keyof Payloads];

export type ChangeOf<T extends Change['type']> = Extract<Change, { readonly type: T }>;

/** A record before it has its place in the log. */
export type ChangeContent = {
  [T in Change['type']]: Omit<ChangeOf<T>, 'seq' | 'at'>;
}[Change['type']];

/** As the log has the record and as it is published; `n` counts the records of one seq. */
export type LoggedChange = {
  [T in Change['type']]: Omit<ChangeOf<T>, 'storedOnly' | 'inFolder'> & { readonly n: number };
}[Change['type']];

/** The emails that a record of changed flags is about. */
export function flaggedIn({ emailId, others = [] }: ChangeOf<'FlagsChanged'>['payload']): readonly string[] {
  return [emailId, ...others];
}

/** The emails of a record, packed; undefined where the record has them as texts. */
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

/** The emails of a record about removed ones, and where each of them was. */
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

/** The entries of the log. */
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
