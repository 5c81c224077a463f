// Mailbox events as the text that connections are sent, and what the log says about it: an event that cannot be shown,
// new emails that were. What clients are told of an event is the projection's.
import type { Logger } from 'pino';
import type { MailboxEvent } from '../../actors/mailbox/protocol.js';
import { type EventText, projectEvent } from './projection.js';

/** As `projectEvent`; empty for an event that cannot be shown. */
export function eventTexts(event: MailboxEvent, topics: number, accountId: string, log: Logger): readonly EventText[] {
  try {
    return projectEvent(event, topics);
  } catch (err) {
    // Thrown here it would end the subscription of every connection, over one event nobody can show.
    log.error({ err, accountId, seq: event.seq, type: event.type }, 'event not sent to the hub');
    return [];
  }
}

/** Writes the new emails of a batch to the log; `to` says where the batch is sent. */
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
