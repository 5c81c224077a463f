// Decides which lists the events of a commit may change: a first, cheap choice, so that the owner of the mailbox is asked for few lists.
// Pure. A list that is chosen without need costs a comparison; a list that is missed would be wrong.
import { type ListQuery, type MailboxEvent, placementsIn, removedIn } from '../../../actors/mailbox/protocol.js';

export interface Invalidation {
  readonly isEverything: boolean;
  /** Emails were added to the mailbox, removed from it, or moved in it; for lists, an email with `\Deleted` is removed. */
  readonly isMoved: boolean;
  /** Folders that gained or lost emails. */
  readonly folderIds: ReadonlySet<string>;
  /** Emails that look different now in the lists that contain them. */
  readonly emailIds: ReadonlySet<string>;
}

interface KnownList {
  readonly query: ListQuery;
  /** Undefined until the list has been read, and for lists that are not of a folder. */
  readonly folderId: string | undefined;
  readonly emailIds: readonly string[];
}

/** More emails than this are not looked up one by one. */
const FEW = 100;

const NOTHING: Invalidation = { isEverything: false, isMoved: false, folderIds: new Set(), emailIds: new Set() };
const EVERYTHING: Invalidation = { ...NOTHING, isEverything: true };

export function invalidatedBy(events: readonly MailboxEvent[]): Invalidation {
  const folderIds = new Set<string>();
  const emailIds = new Set<string>();
  let isMoved = false;
  for (const event of events) {
    const invalidation = invalidatedByOne(event);
    if (invalidation.isEverything || emailIds.size > FEW) return EVERYTHING;
    isMoved ||= invalidation.isMoved;
    for (const id of invalidation.folderIds) folderIds.add(id);
    for (const id of invalidation.emailIds) emailIds.add(id);
  }
  return { isEverything: false, isMoved, folderIds, emailIds };
}

function invalidatedByOne(event: MailboxEvent): Invalidation {
  switch (event.type) {
    case 'EmailAdded': {
      const { email, placements } = event.payload;
      // The email may have joined threads, which items name.
      if (email.inReplyTo !== null || email.references.length > 0) return EVERYTHING;
      return moved(
        placements.map(({ folderId }) => folderId),
        [],
      );
    }
    case 'EmailPlaced':
    case 'EmailExpunged':
    case 'DeletedChanged': {
      const emailIds = placementsIn(event.payload).map(({ emailId }) => emailId);
      return moved([event.payload.folderId], emailIds);
    }
    case 'EmailRemoved': {
      const removed = removedIn(event.payload);
      return moved(
        removed.flatMap(({ placements }) => placements.map(({ folderId }) => folderId)),
        removed.map(({ emailId }) => emailId),
      );
    }
    // Unread emails are counted in every folder that holds the email, and the event does not name these folders.
    case 'FlagsChanged':
    case 'FolderDeleted':
      return EVERYTHING;
    // Items show the labels of emails.
    case 'FolderChanged':
      return event.payload.folder.role === 'label' ? EVERYTHING : NOTHING;
    case 'FolderCreated':
    case 'AnnotationsChanged':
    case 'FilterChanged':
    case 'FilterDeleted':
    case 'FiltersAwaitBody':
    case 'BodyFiltersEnded':
    case 'FilterRunChanged':
    case 'FilterRunApplied':
    case 'FilterRunRemoved':
    case 'SieveScriptStored':
    case 'SieveScriptDeleted':
    case 'SieveScriptActivated':
    case 'SieveKeyTracked':
    case 'AutomaticMailDue':
    case 'AutomaticMailEnded':
    case 'EmailAnnounced':
    case 'MailDiscarded':
    case 'UnreadCountChanged':
    case 'OutboundChanged':
    case 'RecipientChanged':
    case 'OutboundRemoved':
    case 'DeliveryAttempted':
    case 'VacationAnswered':
    case 'SuppressionAdded':
    case 'SuppressionRemoved':
    case 'DeliveredLocally':
    case 'PreferencesChanged':
      return NOTHING;
    // The record is of a later version.
    default:
      return EVERYTHING;
  }
}

function moved(folderIds: readonly string[], emailIds: readonly string[]): Invalidation {
  return { isEverything: false, isMoved: true, folderIds: new Set(folderIds), emailIds: new Set(emailIds) };
}

export function concerns({ isEverything, isMoved, folderIds, emailIds }: Invalidation, list: KnownList): boolean {
  if (isEverything) return true;
  if (!isMoved) return false;
  const { list: listed } = list.query;
  // A row of a thread shows the labels of all of its emails, of which the list names the newest one.
  if (listed === undefined || listed.groupByThread === true) return true;
  if (list.folderId === undefined || folderIds.has(list.folderId)) return true;
  return list.emailIds.some((id) => emailIds.has(id));
}
