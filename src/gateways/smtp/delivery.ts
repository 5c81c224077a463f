// Brings the message of a transaction into the store and to its mailboxes (docs/decisions/0055, 0077). A mailbox gets it inline, on
// whichever node it is: the statement that commits the placing also stores the message. Of several mailboxes those of one node get it, of
// this one if it has any: the first statement also stores an inbound row for each account that does not place it then. If no mailbox
// accepts it, blob and inbound rows are stored first, and mailboxes place it from their rows.

import type { Mailboxes, MailboxProtocol } from '../../actors/mailbox/protocol.js';
import type { Outcome } from '../../actors/runtime/protocol.js';
import { spanned, type Tracer } from '../../actors/runtime/tracing.js';
import type { SentOnward } from '../../mail-format/sent-onward.js';
import type { BlobContent } from '../../store/blobs.js';
import type { StoreFault } from '../../store/errors.js';
import type { InboundDelivery, InboundEnvelope, InboundStore } from '../../store/inbound.js';
import {
  answerOf,
  type InlineMessages,
  type MessageAsk,
  type MessageHandle,
} from '../../store/inline/inline-messages.js';

export const DELIVERY_DEADLINE_MS = 2000;

export interface PlacingPorts {
  readonly inbound: InboundStore;
  readonly inlineMessages: Pick<InlineMessages, 'commitInline' | 'share' | 'commitTogether'>;
  readonly mailboxes: Mailboxes;
  readonly tracer: Tracer;
}

export interface AcceptedDelivery {
  readonly accountId: string;
  /** As the peer wrote it. */
  readonly address: string;
  readonly inboundId: string;
  /** Addresses elsewhere that get the message on behalf of the account. */
  readonly onward?: SentOnward;
  /** The mailbox was asked to store and place the message, and has not answered. */
  isTried?: boolean;
  /** The id of the placed email; null when it had been placed before, undefined while the mailbox has not answered. */
  emailId?: string | null;
  /** The fault that kept the mailbox from answering. */
  fault?: unknown;
}

/**
 * Gives the message inline to its mailboxes. Resolves when it is stored, with the placing that is still running, or with
 * undefined when it must be stored first. @throws StoreFault when it is not known whether the message is stored
 */
export function acceptedInline(
  ports: PlacingPorts,
  deliveries: readonly AcceptedDelivery[],
  content: BlobContent,
  envelope: InboundEnvelope,
): Promise<readonly Promise<void>[] | undefined> {
  const [delivery, ...others] = deliveries;
  if (delivery === undefined || others.length > 0) return takenByAny(ports, deliveries, content, envelope);
  return takenByOne(ports, delivery, content, envelope);
}

/** The mailbox stores the message for its account only. The id of the delivery is that of the command: together they are carried out once. */
async function takenByOne(
  { inlineMessages, mailboxes }: PlacingPorts,
  delivery: AcceptedDelivery,
  content: BlobContent,
  envelope: InboundEnvelope,
): Promise<readonly Promise<void>[] | undefined> {
  const message = { content, summary: envelope.summary };
  const ask = ([handle]: readonly MessageHandle[], how: MessageAsk) =>
    deliver(mailboxes, delivery, handle!, envelope, how);
  const outcome = await inlineMessages.commitInline(delivery.accountId, [message], ask, delivery.inboundId);
  if (outcome.answer?.reply === undefined) {
    delivery.isTried = outcome.isTried;
    return undefined;
  }
  delivery.emailId = outcome.answer.reply.emailId;
  return [];
}

/** The first mailbox stores the message for all accounts. Other nodes and later commits place it as soon as it is stored. */
async function takenByAny(
  ports: PlacingPorts,
  deliveries: readonly AcceptedDelivery[],
  content: BlobContent,
  envelope: InboundEnvelope,
): Promise<readonly Promise<void>[] | undefined> {
  const { inlineMessages, mailboxes } = ports;
  const shared = inlineMessages.share({ content, summary: envelope.summary }, envelope, deliveries.map(rowOf));
  if (shared === undefined) return takenElsewhere(ports, deliveries, content, envelope);
  const { message } = shared;
  const isStored = message.ended.catch(() => false);
  let fault: StoreFault | undefined;
  let waiting = deliveries.length;
  const placed = deliveries.map(async (delivery) => {
    const inlineMessage = shared.inlineMessages.get(delivery.inboundId);
    try {
      const handle = inlineMessage && { inlineId: inlineMessage.id };
      const outcome =
        handle &&
        (await answerOf([inlineMessage], (deadlineMs) =>
          deliver(mailboxes, delivery, handle, envelope, { deadlineMs }),
        ));
      if (outcome?.reply !== undefined) delivery.emailId = outcome.reply.emailId;
    } catch (error) {
      fault = error as StoreFault;
    }
    if (--waiting === 0) message.close(fault);
    if (delivery.emailId === undefined && (await isStored)) await place(mailboxes, delivery, content.hash, envelope);
  });
  return (await message.ended) ? placed : undefined;
}

/** None of the mailboxes is on this node: those of one other node get the message together. */
async function takenElsewhere(
  { inlineMessages, mailboxes }: PlacingPorts,
  deliveries: readonly AcceptedDelivery[],
  content: BlobContent,
  envelope: InboundEnvelope,
): Promise<readonly Promise<void>[] | undefined> {
  const byId = new Map(deliveries.map((delivery) => [delivery.inboundId, delivery]));
  const given = await inlineMessages.commitTogether(
    { content, summary: envelope.summary },
    envelope,
    deliveries.map(rowOf),
    ({ id }, handle, how) => deliver(mailboxes, byId.get(id)!, handle, envelope, how),
  );
  if (given === undefined) return undefined;
  const { answers, isStored } = given;
  for (const delivery of deliveries) delivery.isTried = true;
  const placed = deliveries.map(async (delivery) => {
    const reply = (await answers.get(delivery.inboundId))?.reply;
    if (reply !== undefined) delivery.emailId = reply.emailId;
    else if (await isStored) await place(mailboxes, delivery, content.hash, envelope);
  });
  return (await isStored) ? placed : undefined;
}

/** Stores the message with its inbound rows; resolves with the placing that then runs. @throws StoreFault when nothing was committed */
export async function spooled(
  { inbound, mailboxes, tracer }: PlacingPorts,
  deliveries: readonly AcceptedDelivery[],
  content: BlobContent,
  envelope: InboundEnvelope,
): Promise<readonly Promise<void>[]> {
  await spanned(tracer.start('spool'), () => inbound.spool(content, envelope, deliveries.map(rowOf)));
  return deliveries.map((delivery) => place(mailboxes, delivery, content.hash, envelope));
}

const rowOf = ({ accountId, address, inboundId: id, isTried, onward }: AcceptedDelivery): InboundDelivery => ({
  accountId,
  id,
  recipient: address,
  ...(isTried === true && { isTried }),
  ...(onward !== undefined && { onward }),
});

async function place(
  mailboxes: Mailboxes,
  delivery: AcceptedDelivery,
  blob: string,
  envelope: InboundEnvelope,
): Promise<void> {
  try {
    const handle = { blob, summary: envelope.summary };
    const { reply } = await deliver(mailboxes, delivery, handle, envelope, { deadlineMs: DELIVERY_DEADLINE_MS });
    if (reply !== undefined) delivery.emailId = reply.emailId;
  } catch (error) {
    delivery.fault = error;
  }
}

function deliver(
  mailboxes: Mailboxes,
  { accountId, address: recipient, inboundId, isTried, onward }: AcceptedDelivery,
  handle: MessageHandle,
  { receivedAt, sender, isJunk, isContentJunk, isAuthorProven, bounce }: InboundEnvelope,
  how: MessageAsk,
): Promise<Outcome<MailboxProtocol, 'deliver'>> {
  // Copied members come last: V8 takes a microsecond for each member that follows them (Node 20).
  const mail = {
    inboundId,
    receivedAt,
    recipient,
    ...handle,
    ...(sender !== undefined && { sender }),
    ...(isJunk === true && { isJunk, ...(isContentJunk === true && { isContentJunk }) }),
    ...(isAuthorProven === true && { isAuthorProven }),
    ...(bounce !== undefined && { bounce }),
    ...(isTried === true && { isTried }),
    ...(onward !== undefined && { onward: { ...onward, targets: [...onward.targets] } }),
  };
  return mailboxes.of(accountId).ask('deliver', mail, how);
}
