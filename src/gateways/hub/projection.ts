// What hub clients are told of a mailbox event: event names and payloads of docs/hub.md, as the text of hub
// invocations. Pure. Event types that are not for the hub, or of a later version, are passed over. Events beyond the
// interface's five go only to clients that asked for their topic (docs/hub.md).
import type { MailboxEvent } from '../../actors/mailbox/protocol.js';
import { encodeMessage, INVOCATION } from './json-codec.js';

/** Topics are bits, so that what a client asked for is a number. */
export const TIMELINE = 1;
export const CHANGES = 2;
/** So many are the sets of topics. */
export const TOPIC_SETS = 4;

export interface Told {
  /** A hub message with its separator. */
  readonly text: string;
  /** 0: for everybody. */
  readonly topic: typeof TIMELINE | typeof CHANGES | 0;
}

/** Empty when the hub says nothing about this event. */
export function projectEvent(event: MailboxEvent): readonly Told[] {
  switch (event.type) {
    case 'EmailDelivered':
      return [
        everybody('NewEmail', {
          id: event.payload.emailId,
          from: event.payload.fromAddress,
          fromDisplay: event.payload.fromDisplayName,
          subject: event.payload.subject,
          receivedAt: new Date(event.payload.receivedAt).toISOString(),
          hasAttachments: event.payload.hasAttachments,
        }),
        ...(event.payload.placements ?? []).map(({ folderId }) => placed(event.payload.emailId, folderId)),
      ];
    case 'EmailReadChanged':
      return [everybody('EmailUpdated', { id: event.payload.emailId, isRead: event.payload.isRead })];
    case 'EmailRemoved':
      return [everybody('EmailDeleted', event.payload.emailId)];
    case 'UnreadCountChanged':
      return [everybody('UnreadCountChanged', event.payload.unread)];
    case 'OutboundStatusChanged':
      return [everybody('DeliveryStatusChanged', { id: event.payload.outboundId, status: event.payload.status })];
    case 'OutboundAttempted': {
      const { outboundId: id, attempt } = event.payload;
      const shown = { ...attempt, at: new Date(attempt.at).toISOString() };
      return [{ topic: TIMELINE, text: invocation('DeliveryAttempted', { id, attempt: shown }) }];
    }
    case 'EmailPlaced':
      return [placed(event.payload.emailId, event.payload.folderId)];
    case 'EmailUnplaced':
      return [change('EmailUnplaced', { id: event.payload.emailId, folderId: event.payload.folderId })];
    case 'LabelCreated':
      return [change('LabelCreated', labelOf(event.payload))];
    case 'LabelChanged':
      return [change('LabelUpdated', labelOf(event.payload))];
    case 'LabelDeleted':
      return [change('LabelDeleted', { id: event.payload.labelId })];
    case 'DraftCreated':
      return [change('DraftCreated', { id: event.payload.outboundId })];
    case 'DraftChanged':
      return [change('DraftUpdated', { id: event.payload.outboundId })];
    case 'DraftDeleted':
      return [change('DraftDeleted', { id: event.payload.outboundId })];
    default:
      return [];
  }
}

function everybody(target: string, payload: unknown): Told {
  return { topic: 0, text: invocation(target, payload) };
}

function change(target: string, payload: unknown): Told {
  return { topic: CHANGES, text: invocation(target, payload) };
}

function placed(id: string, folderId: string): Told {
  return change('EmailPlaced', { id, folderId });
}

function labelOf({ labelId: id, name, color, sortOrder }: LabelPayload) {
  return { id, name, color, sortOrder };
}

type LabelPayload = Extract<MailboxEvent, { readonly type: 'LabelCreated' }>['payload'];

function invocation(target: string, payload: unknown): string {
  return encodeMessage({ type: INVOCATION, target, arguments: [payload] });
}
