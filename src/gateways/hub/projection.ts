// What hub clients are told of a mailbox event: the interface's event names and payloads (section 6), as the text of a
// hub invocation. Pure. Event types that are not for the hub, or of a later version, are passed over. Events beyond the
// interface's go only to clients that asked for them: the delivery timeline.
import type { MailboxEvent } from '../../actors/mailbox/protocol.js';
import { encodeMessage, INVOCATION } from './json-codec.js';

/** A hub message with its separator, or undefined when the hub says nothing about this event. */
export function projectEvent(event: MailboxEvent): string | undefined {
  switch (event.type) {
    case 'EmailDelivered':
      return invocation('NewEmail', {
        id: event.payload.emailId,
        from: event.payload.fromAddress,
        fromDisplay: event.payload.fromDisplayName,
        subject: event.payload.subject,
        receivedAt: new Date(event.payload.receivedAt).toISOString(),
        hasAttachments: event.payload.hasAttachments,
      });
    case 'EmailReadChanged':
      return invocation('EmailUpdated', { id: event.payload.emailId, isRead: event.payload.isRead });
    case 'EmailRemoved':
      return invocation('EmailDeleted', event.payload.emailId);
    case 'UnreadCountChanged':
      return invocation('UnreadCountChanged', event.payload.unread);
    case 'OutboundStatusChanged':
      return invocation('DeliveryStatusChanged', { id: event.payload.outboundId, status: event.payload.status });
    case 'OutboundAttempted': {
      const { outboundId: id, attempt } = event.payload;
      return invocation('DeliveryAttempted', { id, attempt: { ...attempt, at: new Date(attempt.at).toISOString() } });
    }
    default:
      return undefined;
  }
}

/** Only clients that asked for the timeline are told of it. */
export function isOfTimeline(event: MailboxEvent): boolean {
  return event.type === 'OutboundAttempted';
}

function invocation(target: string, payload: unknown): string {
  return encodeMessage({ type: INVOCATION, target, arguments: [payload] });
}
