// Converts mailbox events to messages for connections, with the names and payloads of `client-events`, and logs on this node the events
// that cannot be shown and the new emails that were sent.
import type { Logger } from 'pino';
import type { MailboxEvent } from '../../../actors/mailbox/protocol.js';
import { type ClientEvent, clientEventsOf } from '../../events/client-events.js';
import { eventMessage, type Invocation } from './hub-messages.js';

export interface EventMessage {
  readonly message: Invocation;
  readonly topic: ClientEvent['topic'];
}

/** Filters by topics as `clientEventsOf` does; empty for an event that cannot be shown. */
export function eventMessages(
  event: MailboxEvent,
  topics: number,
  accountId: string,
  log: Logger,
): readonly EventMessage[] {
  try {
    return clientEventsOf(event, topics).map(({ topic, type, payload }) => ({
      topic,
      message: eventMessage(type, payload),
    }));
  } catch (err) {
    // The error is not thrown, because it would end the subscription of every connection for one event that nobody can show.
    log.error({ err, accountId, seq: event.seq, type: event.type }, 'event not sent to the hub');
    return [];
  }
}

/** Writes the new emails of a batch to the log; `to` names the receivers of the batch. */
export function logDelivered(
  batch: readonly MailboxEvent[],
  accountId: string,
  to: { readonly connections: number } | { readonly resumed: true },
  log: Logger,
): void {
  const emailIds = batch.flatMap(newEmailId);
  if (emailIds.length === 0) return;
  log.info({ emailIds, seq: batch.at(-1)?.seq, accountId, ...to }, 'new email sent to hub connections');
}

function newEmailId(event: MailboxEvent): string[] {
  if (event.type === 'EmailAnnounced') return [event.payload.emailId];
  return event.type === 'EmailAdded' && event.payload.isNew ? [event.payload.email.id] : [];
}
