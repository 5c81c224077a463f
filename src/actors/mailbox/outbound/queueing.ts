// Queues a message for a gateway: as an inline message for a mailbox of this node, which stores the octets in the commit that queues the
// message (docs/decisions/0055), or stored first, for a mailbox of another node and for a large message.

import type { BlobStore } from '../../../store/blobs.js';
import { newId } from '../../../store/ids/new-id.js';
import type { Outcome, Payload } from '../../runtime/protocol.js';
import { INLINE_MS, type InlineMessages, type UnstoredMessage } from '../inline-messages.js';
import type { InlineEnqueue, Mailboxes, MailboxProtocol } from '../protocol.js';

export interface QueueingPorts {
  readonly blobs: Pick<BlobStore, 'put'>;
  readonly inlineMessages: Pick<InlineMessages, 'add'>;
  readonly mailboxes: Mailboxes;
}

/** The fields of a queued email apart from the message. */
export type QueuedMessage = Omit<Payload<MailboxProtocol, 'enqueueInline'>, 'inlineId'>;

type Enqueued = Outcome<MailboxProtocol, 'enqueue'>;

/** @throws StoreFault, ActorFault when the message is not queued, or when that is unknown */
export async function queueMessage(
  ports: QueueingPorts,
  accountId: string,
  message: UnstoredMessage,
  outgoing: QueuedMessage,
  deadlineMs?: number,
): Promise<Enqueued> {
  const inline = await queueInline(ports, accountId, message, outgoing);
  if (inline !== undefined) return inline;
  const { content, summary } = message;
  await ports.blobs.put(content);
  const payload = { ...outgoing, blob: content.hash, summary: { ...summary, references: [...summary.references] } };
  return ports.mailboxes.of(accountId).ask('enqueue', payload, deadlineMs === undefined ? {} : { deadlineMs });
}

/** Undefined when the message must be stored first. @throws StoreFault when it is unknown whether the message is queued */
async function queueInline(
  { inlineMessages, mailboxes }: QueueingPorts,
  accountId: string,
  message: UnstoredMessage,
  outgoing: QueuedMessage,
): Promise<Enqueued | undefined> {
  const inlineId = newId();
  const inlineMessage = inlineMessages.add<InlineEnqueue>(accountId, inlineId, message);
  if (inlineMessage === undefined) return undefined;
  let refusal: Enqueued['refusal'];
  const asked = mailboxes.of(accountId).ask('enqueueInline', { inlineId, ...outgoing }, { deadlineMs: INLINE_MS });
  const answered = asked.then((outcome) => {
    refusal = outcome.refusal;
  });
  const committed = await inlineMessage.revokeAfter(answered);
  if (committed !== undefined) return { reply: committed.result };
  return refusal === undefined ? undefined : { refusal };
}
