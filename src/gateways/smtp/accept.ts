// A received message becomes accepted mail (docs/interface/mail.md, "Durability"): loops are refused, unknown addresses get
// held mailboxes. A mailbox of this node stores and places the message by one commit. For any other the blob and one inbound row
// an account are committed, then the mailboxes are asked to place it. The commit is the promise; what a mailbox has not placed by
// the deadline, its owner delivers from the row. So after the commit nothing leads to a refusal any more.

import { type MessageOffers, OFFER_MS, type OfferedMessage } from '../../actors/mailbox/message-offers.js';
import type { Mailboxes, OfferedDelivery } from '../../actors/mailbox/protocol.js';
import { spanned, type Tracer } from '../../actors/runtime/tracing.js';
import { atMost } from '../../bounds/time-bounds.js';
import type { Directory, Recipient } from '../../directory/protocol.js';
import { hasCircled, wasDeliveredTo } from '../../mail/loop.js';
import { type MessageSummary, summarize } from '../../mail/summary.js';
import type { SpooledContent } from '../../spool/spool.js';
import type { InboundStore } from '../../store/inbound.js';
import type { ReceivedMessage } from './mx-data.js';
import { SmtpRefused } from './replies.js';

const DELIVERY_DEADLINE_MS = 2000;

export interface AcceptPorts {
  readonly inbound: InboundStore;
  readonly offers: Pick<MessageOffers, 'offer'>;
  readonly mailboxes: Mailboxes;
  readonly directory: Pick<Directory, 'hold'>;
  readonly tracer: Tracer;
}

/** Where one copy goes. */
export interface Destination {
  /** What the directory said at RCPT. */
  readonly recipient: Extract<Recipient, { kind: 'mailbox' | 'hold' }>;
  /** As the peer wrote it. */
  readonly address: string;
}

interface Transaction {
  /** Of the envelope; '' is the null one. */
  readonly sender: string;
  /** ms since the epoch. */
  readonly receivedAt: number;
  readonly newId: () => string;
}

interface Delivery {
  readonly accountId: string;
  /** As the peer wrote it. */
  readonly address: string;
  readonly inboundId: string;
  /** Of the placed email; null when it had been placed before, undefined when the mailbox has not answered. */
  emailId?: string | null;
  /** The fault that kept the mailbox from answering. */
  fault?: unknown;
}

export interface Acceptance {
  readonly summary: MessageSummary;
  /** One an account, however many of its addresses were named. */
  readonly deliveries: readonly Delivery[];
}

/**
 * Commits the message and has it placed; releases the content.
 * @throws SmtpRefused for a loop and when an unknown address cannot be held after all; StoreFault when nothing was committed.
 */
export async function acceptMessage(
  ports: AcceptPorts,
  { content, authenticated }: ReceivedMessage,
  destinations: readonly Destination[],
  { sender, receivedAt, newId }: Transaction,
): Promise<Acceptance> {
  const deliveries: Delivery[] = [];
  const suspicion = authenticated?.disposition === 'junk' ? { isJunk: true } : {};
  let summary: MessageSummary;
  try {
    refuseLoops(content, destinations);
    summary = summarize(content.index, sender);
    const accounts = new Set<string>();
    for (const { accountId, address } of await locate(ports.directory, destinations, content.size)) {
      if (accounts.has(accountId)) continue;
      accounts.add(accountId);
      deliveries.push({ accountId, address, inboundId: newId() });
    }
    const mail = { content, summary, receivedAt, ...suspicion };
    if (await isTaken(ports, deliveries, mail)) return { summary, deliveries };
    const rows = deliveries.map(({ accountId, inboundId }) => ({ accountId, id: inboundId }));
    const { current: trace } = ports.tracer;
    const envelope = { receivedAt, summary, ...suspicion, ...(trace === undefined ? {} : { trace }) };
    await spanned(ports.tracer.start('spool'), () => ports.inbound.spool(content, envelope, rows));
  } finally {
    content.release();
  }
  const { hash } = content;
  const placed = deliveries.map((delivery) =>
    place(ports.mailboxes, delivery, { blob: hash, receivedAt, ...suspicion }, summary),
  );
  await atMost(Promise.all(placed), DELIVERY_DEADLINE_MS);
  return { summary, deliveries };
}

/**
 * Offers a message for one account to its mailbox, when this node owns it: the commit of the mailbox stores the message. A message
 * for several accounts is stored first, so that all of them have it or none.
 * @throws StoreFault when it is not known whether the message is committed
 */
async function isTaken(
  { offers, mailboxes }: Pick<AcceptPorts, 'offers' | 'mailboxes'>,
  [delivery, ...others]: readonly Delivery[],
  mail: OfferedMessage,
): Promise<boolean> {
  if (delivery === undefined || others.length > 0) return false;
  const { accountId, inboundId: offerId } = delivery;
  const offer = offers.offer<OfferedDelivery>(accountId, offerId, mail);
  if (offer === undefined) return false;
  const asked = mailboxes.of(accountId).ask('deliverOffered', { offerId }, { deadlineMs: OFFER_MS });
  const taken = await offer.withdrawAfter(asked);
  if (taken === undefined) return false;
  delivery.emailId = taken.result.emailId;
  return true;
}

/** The accounts of the destinations; all of them have one, or the message is refused. */
async function locate(
  directory: Pick<Directory, 'hold'>,
  destinations: readonly Destination[],
  octets: number,
): Promise<readonly { readonly accountId: string; readonly address: string }[]> {
  const unknown = destinations.flatMap(({ recipient }) => (recipient.kind === 'hold' ? [recipient.address] : []));
  const existing = destinations.flatMap(({ recipient }) =>
    recipient.kind === 'hold' ? [] : (recipient.heldAddress ?? []),
  );
  const isHeld = unknown.length + existing.length > 0;
  const held = isHeld ? await directory.hold(unknown, octets, existing) : new Map<string, string>();
  if (held === undefined) throw new SmtpRefused('cannotHold');
  return destinations.map(({ recipient, address }) => {
    const accountId = recipient.kind === 'mailbox' ? recipient.accountId : held.get(recipient.address);
    if (accountId === undefined) throw new SmtpRefused('cannotHold');
    return { accountId, address };
  });
}

async function place(
  mailboxes: Mailboxes,
  delivery: Delivery,
  message: { readonly blob: string; readonly receivedAt: number; readonly isJunk?: boolean },
  summary: MessageSummary,
): Promise<void> {
  try {
    const outcome = await mailboxes.of(delivery.accountId).ask(
      'deliver',
      {
        inboundId: delivery.inboundId,
        ...message,
        summary,
      },
      { deadlineMs: DELIVERY_DEADLINE_MS },
    );
    if (outcome.reply !== undefined) delivery.emailId = outcome.reply.emailId;
  } catch (error) {
    delivery.fault = error;
  }
}

function refuseLoops({ index }: SpooledContent, destinations: readonly Destination[]): void {
  if (hasCircled(index)) throw new SmtpRefused('loop');
  if (destinations.some(({ address }) => wasDeliveredTo(index, address))) throw new SmtpRefused('loop');
}
