// Converts a record of the log to the events of clients, with the names and payloads of docs/hub.md. The hub, the event stream, Web Push
// and webhooks send these events, each in its own form. Pure. It skips records that are not for clients or of a later version, and records
// of hidden emails, which have `\Deleted` wherever they are placed. On the hub, events beyond the five of the interface go only to clients
// that asked for their topic.
import { flaggedIn, type MailboxEvent, placementsIn, removedIn } from '../../actors/mailbox/protocol.js';
import { ANSWERED, FLAGGED, flagNames, SEEN } from '../../mail-format/flags.js';
import type { Vacation } from '../../store/vacation.js';
import { type ClientEventType, EVENTS, type EventPayload } from './event-payloads.js';

/** Topics are bits, so that the topics of a client are one number. */
export const TIMELINE = 1;
export const CHANGES = 2;
/** The number of different sets of topics. */
export const TOPIC_SETS = 4;

/** The names of all events, from which clients choose. */
export const CLIENT_EVENT_TYPES = Object.keys(EVENTS) as readonly ClientEventType[];

export interface ClientEvent {
  /** 0: the event is for everybody. */
  readonly topic: typeof TIMELINE | typeof CHANGES | 0;
  readonly type: ClientEventType;
  /** JSON. */
  readonly payload: unknown;
}

/** The events for everybody and for clients that asked for `topics`, in order. Empty when the record is not for clients. */
export function clientEventsOf(event: MailboxEvent, topics: number): readonly ClientEvent[] {
  return allClientEventsOf(event).filter(({ topic }) => (topic & ~topics) === 0);
}

/** Cursors count the events of a record in this order, so a later version appends the events that it adds to a record. */
export function allClientEventsOf(event: MailboxEvent): readonly ClientEvent[] {
  switch (event.type) {
    case 'EmailAdded':
      return emailAdded(event.payload);
    case 'EmailAnnounced':
      return [newEmail(event.payload)];
    case 'FlagsChanged':
      return flagsChanged(event.payload);
    case 'EmailRemoved':
      if (event.payload.isHidden) return [];
      return removedIn(event.payload).map(({ emailId }) => everybody('EmailDeleted', emailId));
    case 'UnreadCountChanged':
      return [everybody('UnreadCountChanged', event.payload.unread)];
    case 'EmailPlaced': {
      const { folderId } = event.payload;
      return placementsIn(event.payload).map(({ emailId }) => placed(emailId, folderId));
    }
    case 'EmailExpunged': {
      const { folderId, isHidden, leavesHidden } = event.payload;
      if (isHidden) return [];
      return placementsIn(event.payload).flatMap(({ emailId }) => [
        unplaced(emailId, folderId),
        ...(leavesHidden ? [everybody('EmailDeleted', emailId)] : []),
      ]);
    }
    case 'DeletedChanged':
      return deletedChanged(event.payload);
    case 'FolderCreated':
      return folder(event.payload.folder, { label: 'LabelCreated', folder: 'FolderCreated' });
    case 'FolderChanged':
      return folder(event.payload.folder, { label: 'LabelUpdated', folder: 'FolderUpdated' });
    case 'FolderDeleted': {
      const { role, folderId: id, placed: moved } = event.payload;
      const archived = moved?.emails.map(({ emailId }) => placed(emailId, moved.folderId)) ?? [];
      return [change(role === 'label' ? 'LabelDeleted' : 'FolderDeleted', { id }), ...archived];
    }
    case 'OutboundChanged':
      return outboundChanged(event.payload);
    case 'OutboundRemoved':
      return event.payload.isHidden || event.payload.isFinal
        ? []
        : [change('DraftDeleted', { id: event.payload.outboundId })];
    case 'DeliveryAttempted': {
      const { outboundId: id, attempt } = event.payload;
      const shown = { ...attempt, at: new Date(attempt.at).toISOString() };
      return [{ topic: TIMELINE, type: 'DeliveryAttempted', payload: { id, attempt: shown } }];
    }
    case 'PreferencesChanged':
      return choices(event.payload.chosen);
    case 'FilterChanged':
      return event.payload.isApplied ? [] : [change('FiltersChanged', { id: event.payload.filter.id })];
    case 'FilterDeleted':
      return [change('FiltersChanged', { id: event.payload.filterId })];
    case 'SieveScriptStored':
    case 'SieveScriptDeleted':
    case 'SieveScriptActivated':
      return [change('ScriptsChanged', { name: event.payload.name })];
    case 'SuppressionAdded':
    case 'SuppressionRemoved': {
      const { address } = event.payload;
      return [change('SuppressionsChanged', { address, isSuppressed: event.type === 'SuppressionAdded' })];
    }
    default:
      return [];
  }
}

/** Senders, forwarding and vacation are stored with the preferences, and are events of their own. */
function choices(chosen: Payload<'PreferencesChanged'>['chosen']): ClientEvent[] {
  const { senders, forwarding, vacation, ...preferences } = chosen;
  const own = [
    ...(senders === undefined ? [] : [change('SendersChanged', senders as object)]),
    ...(forwarding === undefined ? [] : [change('ForwardingChanged', forwarding as object)]),
    ...(vacation === undefined ? [] : [change('VacationChanged', shownVacation(vacation as Vacation))]),
  ];
  const isEmpty = Object.keys(preferences).length === 0;
  return isEmpty && own.length > 0 ? own : [change('PreferencesChanged', preferences), ...own];
}

/** The texts may be long, so that the event leaves them out. */
function shownVacation({ isEnabled, startsAt, endsAt, intervalDays }: Vacation) {
  const time = (at: number | null) => (at === null ? null : new Date(at).toISOString());
  return { isEnabled, startsAt: time(startsAt), endsAt: time(endsAt), intervalDays };
}

function emailAdded({ email, placements, isNew }: Payload<'EmailAdded'>): ClientEvent[] {
  const { id: emailId, fromAddress, fromName: fromDisplayName, subject, receivedAt, hasAttachments } = email;
  const moves = placements.map(({ folderId }) => placed(emailId, folderId));
  if (!isNew) return moves;
  return [newEmail({ emailId, fromAddress, fromDisplayName, subject, receivedAt, hasAttachments }), ...moves];
}

function newEmail(email: Omit<Payload<'EmailAnnounced'>, 'isRead'>): ClientEvent {
  return everybody('NewEmail', {
    id: email.emailId,
    from: email.fromAddress,
    fromDisplay: email.fromDisplayName,
    subject: email.subject,
    receivedAt: new Date(email.receivedAt).toISOString(),
    hasAttachments: email.hasAttachments,
  });
}

function flagsChanged(payload: Payload<'FlagsChanged'>): ClientEvent[] {
  const { flags, changed, keywords, isHidden } = payload;
  if (isHidden) return [];
  const isRead = (flags & SEEN) !== 0;
  const isSeenChanged = (changed & SEEN) !== 0;
  const areOthersChanged = (changed & ~SEEN) !== 0 || keywords !== undefined;
  const isFlagged = (flags & FLAGGED) !== 0;
  const isAnswered = (flags & ANSWERED) !== 0;
  const shown = { isRead, isFlagged, isAnswered, flags: flagNames(flags), keywords: keywords && [...keywords] };
  return flaggedIn(payload).flatMap((id) => [
    ...(isSeenChanged ? [everybody('EmailUpdated', { id, isRead })] : []),
    ...(areOthersChanged ? [change('EmailFlagsChanged', { id, ...shown })] : []),
  ]);
}

/** A mail program that marks an email removes it for other clients, and restores it when it removes the mark. */
function deletedChanged(payload: Payload<'DeletedChanged'>): ClientEvent[] {
  const { folderId, isDeleted, isHidden, draftIds = [] } = payload;
  const emails = placementsIn(payload).flatMap(({ emailId }) => [
    isDeleted ? unplaced(emailId, folderId) : placed(emailId, folderId),
    ...(isHidden ? [everybody('EmailDeleted', emailId)] : []),
  ]);
  const drafts = draftIds.map((id) => change(isDeleted ? 'DraftDeleted' : 'DraftCreated', { id }));
  return [...emails, ...drafts];
}

function folder(
  { id, role, name, color, sortOrder, isSubscribed }: Payload<'FolderCreated'>['folder'],
  names: { readonly label: 'LabelCreated' | 'LabelUpdated'; readonly folder: 'FolderCreated' | 'FolderUpdated' },
): ClientEvent[] {
  // Every label has a color.
  if (role === 'label') return [change(names.label, { id, name, color: color!, sortOrder })];
  return [change(names.folder, { id, path: name, isSubscribed })];
}

function outboundChanged({ outbound: { id, status }, before, passed }: Payload<'OutboundChanged'>): ClientEvent[] {
  const statuses = passed.map((each) => everybody('DeliveryStatusChanged', { id, status: each }));
  if (status !== 'Draft') return statuses;
  return [...statuses, change(before === 'Draft' ? 'DraftUpdated' : 'DraftCreated', { id })];
}

function everybody<T extends ClientEventType>(type: T, payload: EventPayload<T>): ClientEvent {
  return { topic: 0, type, payload };
}

function change<T extends ClientEventType>(type: T, payload: EventPayload<T>): ClientEvent {
  return { topic: CHANGES, type, payload };
}

function placed(id: string, folderId: string): ClientEvent {
  return change('EmailPlaced', { id, folderId });
}

function unplaced(id: string, folderId: string): ClientEvent {
  return change('EmailUnplaced', { id, folderId });
}

type Payload<T extends MailboxEvent['type']> = Extract<MailboxEvent, { readonly type: T }>['payload'];
