// What hub clients are told of a record of the log: event names and payloads of docs/hub.md, as the text of hub
// invocations. Pure. Records that are not for the hub, or of a later version, are passed over. Events beyond the
// interface's five go only to clients that asked for their topic (docs/hub.md).
import { flaggedIn, type MailboxEvent, placementsIn, removedIn } from '../../actors/mailbox/protocol.js';
import { ANSWERED, FLAGGED, flagNames, SEEN } from '../../mail/flags.js';
import { encodeMessage, INVOCATION } from './json-codec.js';

/** Topics are bits, so that what a client asked for is a number. */
export const TIMELINE = 1;
export const CHANGES = 2;
/** So many are the sets of topics. */
export const TOPIC_SETS = 4;

export interface EventText {
  /** A hub message with its separator. */
  readonly text: string;
  /** 0: for everybody. */
  readonly topic: typeof TIMELINE | typeof CHANGES | 0;
}

/** A hub message that is not text yet: only those that somebody has asked for become text. */
interface EventMessage {
  readonly topic: EventText['topic'];
  readonly target: string;
  readonly payload: unknown;
}

/** For everybody and for clients that asked for `topics`. Empty when the hub sends nothing of this event. */
export function projectEvent(event: MailboxEvent, topics: number): readonly EventText[] {
  return messagesOf(event)
    .filter(({ topic }) => (topic & ~topics) === 0)
    .map(({ topic, target, payload }) => ({
      topic,
      text: encodeMessage({ type: INVOCATION, target, arguments: [payload] }),
    }));
}

function messagesOf(event: MailboxEvent): readonly EventMessage[] {
  switch (event.type) {
    case 'EmailAdded':
      return emailAdded(event.payload);
    case 'EmailAnnounced':
      return [newEmail(event.payload)];
    case 'FlagsChanged':
      return flagsChanged(event.payload);
    case 'EmailRemoved':
      return removedIn(event.payload).map(({ emailId }) => everybody('EmailDeleted', emailId));
    case 'UnreadCountChanged':
      return [everybody('UnreadCountChanged', event.payload.unread)];
    case 'EmailPlaced': {
      const { folderId } = event.payload;
      return placementsIn(event.payload).map(({ emailId }) => placed(emailId, folderId));
    }
    case 'EmailExpunged': {
      const { folderId } = event.payload;
      return placementsIn(event.payload).map(({ emailId: id }) => change('EmailUnplaced', { id, folderId }));
    }
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
      return [change('DraftDeleted', { id: event.payload.outboundId })];
    case 'DeliveryAttempted': {
      const { outboundId: id, attempt } = event.payload;
      const shown = { ...attempt, at: new Date(attempt.at).toISOString() };
      return [{ topic: TIMELINE, target: 'DeliveryAttempted', payload: { id, attempt: shown } }];
    }
    default:
      return [];
  }
}

function emailAdded({ email, placements, isNew }: Payload<'EmailAdded'>): EventMessage[] {
  const { id: emailId, fromAddress, fromName: fromDisplayName, subject, receivedAt, hasAttachments } = email;
  const moves = placements.map(({ folderId }) => placed(emailId, folderId));
  if (!isNew) return moves;
  return [newEmail({ emailId, fromAddress, fromDisplayName, subject, receivedAt, hasAttachments }), ...moves];
}

function newEmail(email: Omit<Payload<'EmailAnnounced'>, 'isRead'>): EventMessage {
  return everybody('NewEmail', {
    id: email.emailId,
    from: email.fromAddress,
    fromDisplay: email.fromDisplayName,
    subject: email.subject,
    receivedAt: new Date(email.receivedAt).toISOString(),
    hasAttachments: email.hasAttachments,
  });
}

function flagsChanged(payload: Payload<'FlagsChanged'>): EventMessage[] {
  const { flags, changed, keywords } = payload;
  const isRead = (flags & SEEN) !== 0;
  const isSeenChanged = (changed & SEEN) !== 0;
  const areOthersChanged = (changed & ~SEEN) !== 0 || keywords !== undefined;
  const isFlagged = (flags & FLAGGED) !== 0;
  const isAnswered = (flags & ANSWERED) !== 0;
  const shown = { isRead, isFlagged, isAnswered, flags: flagNames(flags), keywords };
  return flaggedIn(payload).flatMap((id) => [
    ...(isSeenChanged ? [everybody('EmailUpdated', { id, isRead })] : []),
    ...(areOthersChanged ? [change('EmailFlagsChanged', { id, ...shown })] : []),
  ]);
}

function folder(
  { id, role, name, color, sortOrder, isSubscribed }: Payload<'FolderCreated'>['folder'],
  names: { readonly label: string; readonly folder: string },
): EventMessage[] {
  if (role === 'label') return [change(names.label, { id, name, color, sortOrder })];
  return [change(names.folder, { id, path: name, isSubscribed })];
}

function outboundChanged({ outbound: { id, status }, before, passed }: Payload<'OutboundChanged'>): EventMessage[] {
  if (status === 'Draft') return [change(before === null ? 'DraftCreated' : 'DraftUpdated', { id })];
  return passed.map((each) => everybody('DeliveryStatusChanged', { id, status: each }));
}

function everybody(target: string, payload: unknown): EventMessage {
  return { topic: 0, target, payload };
}

function change(target: string, payload: unknown): EventMessage {
  return { topic: CHANGES, target, payload };
}

function placed(id: string, folderId: string): EventMessage {
  return change('EmailPlaced', { id, folderId });
}

type Payload<T extends MailboxEvent['type']> = Extract<MailboxEvent, { readonly type: T }>['payload'];
