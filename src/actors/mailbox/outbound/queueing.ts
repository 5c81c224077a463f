// How a gateway has a message queued: offered to the sender's mailbox, which stores the octets by the commit that queues the
// message (docs/decisions/0055), or stored first, for a mailbox of another node and for a large message.
import { newId } from '../../../ids/new-id.js';
import type { BlobStore } from '../../../store/blobs.js';
import type { Outcome, Payload } from '../../runtime/protocol.js';
import { type MessageOffers, OFFER_MS, type OfferedMessage } from '../message-offers.js';
import type { Mailboxes, MailboxProtocol, OfferedEnqueue } from '../protocol.js';

export interface QueueingPorts {
  readonly blobs: Pick<BlobStore, 'put'>;
  readonly offers: Pick<MessageOffers, 'offer'>;
  readonly mailboxes: Mailboxes;
}

/** What is queued beside the message. */
export type QueuedMessage = Omit<Payload<MailboxProtocol, 'enqueueOffered'>, 'offerId'>;

type Enqueued = Outcome<MailboxProtocol, 'enqueue'>;

/** @throws StoreFault, ActorFault when it is not queued, or when that is not known */
export async function queueMessage(
  ports: QueueingPorts,
  accountId: string,
  message: OfferedMessage,
  outgoing: QueuedMessage,
  deadlineMs?: number,
): Promise<Enqueued> {
  const offered = await queueOffered(ports, accountId, message, outgoing);
  if (offered !== undefined) return offered;
  const { content, summary } = message;
  await ports.blobs.put(content);
  const payload = { ...outgoing, blob: content.hash, summary: { ...summary, references: [...summary.references] } };
  return ports.mailboxes.of(accountId).ask('enqueue', payload, deadlineMs === undefined ? {} : { deadlineMs });
}

/** Undefined when the message has to be stored first. @throws StoreFault when it is not known whether the message is queued */
async function queueOffered(
  { offers, mailboxes }: QueueingPorts,
  accountId: string,
  message: OfferedMessage,
  outgoing: QueuedMessage,
): Promise<Enqueued | undefined> {
  const offerId = newId();
  const offer = offers.offer<OfferedEnqueue>(accountId, offerId, message);
  if (offer === undefined) return undefined;
  let refusal: Enqueued['refusal'];
  const asked = mailboxes.of(accountId).ask('enqueueOffered', { offerId, ...outgoing }, { deadlineMs: OFFER_MS });
  const answered = asked.then((outcome) => {
    refusal = outcome.refusal;
  });
  const committed = await offer.withdrawAfter(answered);
  if (committed !== undefined) return { reply: committed.result };
  return refusal === undefined ? undefined : { refusal };
}
