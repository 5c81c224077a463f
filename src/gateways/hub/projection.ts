// What hub clients are told of a mailbox event: the interface's event names and payloads (section 6), as the text of a
// hub invocation. Pure. Event types that are not for the hub, or of a later version, are passed over.
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
    default:
      return undefined;
  }
}

function invocation(target: string, payload: unknown): string {
  return encodeMessage({ type: INVOCATION, target, arguments: [payload] });
}
