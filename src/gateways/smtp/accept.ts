// A received message becomes accepted mail (docs/interface/mail.md, "Durability"). Loops are refused, unknown addresses get
// unclaimed mailboxes, and the message is committed for all accounts or for none (delivery.ts). The commit is the promise: if a
// mailbox misses the deadline, its owner delivers from the stored row. So nothing after the commit leads to a refusal.

import {
  type Directory,
  existingUnclaimedIn,
  mailboxesOf,
  type Recipient,
  unclaimedIn,
} from '../../actors/directory/protocol.js';
import { atMost } from '../../concurrency/time-bounds.js';
import { isAuthorProven } from '../../mail-format/authentication/proven-author.js';
import { exceedsHopLimit, wasDeliveredTo } from '../../mail-format/loop.js';
import { BOUNCE_OCTETS, type Bounce, readBounce } from '../../mail-format/reports/bounce.js';
import { joinedOnward, type SentOnward } from '../../mail-format/sent-onward.js';
import { type MessageSummary, summarize } from '../../mail-format/summary.js';
import type { SpooledContent } from '../../message-content/spool/spool.js';
import { type AcceptedDelivery, acceptedInline, DELIVERY_DEADLINE_MS, type PlacingPorts, spooled } from './delivery.js';
import type { ReceivedMessage } from './mx-data.js';
import { SmtpRefused } from './replies.js';

/** Notes messages that may be reports of other servers about a hosted domain. */
export interface FeedbackIntake {
  /** `recipients`: as the peer wrote them. @throws StoreFault */
  note(message: ReceivedMessage, recipients: readonly string[]): Promise<void>;
}

export interface AcceptPorts extends PlacingPorts {
  readonly directory: Pick<Directory, 'openUnclaimed'>;
  readonly feedback?: FeedbackIntake | undefined;
}

/** The destination of a copy, or of several by an alias. */
export interface Destination {
  /** The answer of the directory at RCPT. */
  readonly recipient: Extract<Recipient, { kind: 'mailbox' | 'unclaimed' | 'several' }>;
  /** As the peer wrote it. */
  readonly address: string;
}

interface Transaction {
  /** The envelope sender; '' is the null sender. */
  readonly sender: string;
  /** The peer's address. */
  readonly remoteAddress: string;
  /** ms since the epoch. */
  readonly receivedAt: number;
  readonly newId: () => string;
}

export interface Acceptance {
  readonly summary: MessageSummary;
  /** One delivery per account, even if several of its addresses were named. */
  readonly deliveries: readonly AcceptedDelivery[];
}

/**
 * Commits the message, has the mailboxes place it and releases the content.
 * @throws SmtpRefused for a loop, or when an unknown address cannot get its mailbox after all; StoreFault when nothing was committed.
 */
export async function acceptMessage(
  ports: AcceptPorts,
  message: ReceivedMessage,
  destinations: readonly Destination[],
  { sender, remoteAddress, receivedAt, newId }: Transaction,
): Promise<Acceptance> {
  const { content, authenticated, judgement } = message;
  const deliveries: AcceptedDelivery[] = [];
  let placed: readonly Promise<void>[];
  const suspicion = suspicionOf({ authenticated, judgement });
  let summary: MessageSummary;
  try {
    refuseLoops(content, destinations);
    summary = summarize(content.index, sender, authenticated !== undefined);
    const bounce = await bounceIn(content, sender);
    // The bounce belongs to the thread of the message that it returns, whoever wrote the bounce.
    if (bounce !== undefined) summary = { ...summary, references: withLast(summary.references, bounce.messageId) };
    for (const located of await locate(ports.directory, destinations, content.size))
      deliveries.push(acceptedOf(located, newId()));
    // What is noted and not accepted then is forgotten.
    await ports.feedback?.note(
      message,
      destinations.map(({ address }) => address),
    );
    const { current: trace } = ports.tracer;
    const source = { remoteAddress, domains: [...(authenticated?.passed ?? [])] };
    const returned = bounce !== undefined && { bounce: { ...bounce, source } };
    const envelope = {
      receivedAt,
      summary,
      sender,
      ...suspicion,
      ...(isAuthorProven(authenticated, content.index) && { isAuthorProven: true }),
      ...returned,
      ...(trace === undefined ? {} : { trace }),
    };
    // A mailbox reads which email a bounce is about, so bounces are stored first.
    const isInline = bounce === undefined;
    placed =
      (isInline ? await acceptedInline(ports, deliveries, content, envelope) : undefined) ??
      (await spooled(ports, deliveries, content, envelope));
  } finally {
    content.release();
  }
  if (placed.length > 0) await atMost(Promise.all(placed), DELIVERY_DEADLINE_MS);
  return { summary, deliveries };
}

/** A list of allowed senders cannot excuse mail whose author DMARC does not confirm. */
function suspicionOf({ authenticated, judgement }: Pick<ReceivedMessage, 'authenticated' | 'judgement'>) {
  if (judgement.verdict !== 'junk') return {};
  const isAuthorInDoubt = judgement.by === 'dmarc' || authenticated?.summary['dmarc'] === 'fail';
  return isAuthorInDoubt ? { isJunk: true } : { isJunk: true, isContentJunk: true };
}

async function bounceIn(content: SpooledContent, sender: string): Promise<Bounce | undefined> {
  const { root } = content.index;
  if (sender !== '' && root.subtype !== 'report') return undefined;
  const pieces: Uint8Array[] = [];
  let octets = 0;
  for await (const piece of content.chunks()) {
    pieces.push(piece);
    octets += piece.length;
    if (octets >= BOUNCE_OCTETS) break;
  }
  return readBounce(Buffer.concat(pieces).subarray(0, BOUNCE_OCTETS), content.index, sender);
}

function withLast(references: readonly string[], id: string): string[] {
  return references.includes(id) ? [...references] : [...references, id];
}

const acceptedOf = ({ accountId, address, onward }: Located, inboundId: string): AcceptedDelivery => ({
  accountId,
  address,
  inboundId,
  ...(onward !== undefined && { onward }),
});

interface Located {
  readonly accountId: string;
  readonly address: string;
  readonly onward: SentOnward | undefined;
}

/** Returns each account of the destinations once, or refuses the message. */
async function locate(
  directory: Pick<Directory, 'openUnclaimed'>,
  destinations: readonly Destination[],
  octets: number,
): Promise<Iterable<Located>> {
  const recipients = destinations.map(({ recipient }) => recipient);
  const unknown = unclaimedIn(recipients);
  const existing = existingUnclaimedIn(recipients);
  const isUnclaimed = unknown.length + existing.length > 0;
  const opened = isUnclaimed ? await directory.openUnclaimed(unknown, octets, existing) : new Map<string, string>();
  if (opened === undefined) throw new SmtpRefused('cannotHold');
  const located = new Map<string, Located>();
  for (const { recipient, address } of destinations) {
    for (const mailbox of mailboxesOf(recipient)) {
      const accountId = mailbox.kind === 'mailbox' ? mailbox.accountId : opened.get(mailbox.address);
      if (accountId === undefined) throw new SmtpRefused('cannotHold');
      located.set(accountId, joined(located.get(accountId), { accountId, address, onward: mailbox.onward }));
    }
  }
  return located.values();
}

/** An account that several recipients lead to gets the message once, and sends it to the targets of all. */
function joined(known: Located | undefined, added: Located): Located {
  if (known === undefined) return added;
  const onward = joinedOnward(known.onward, added.onward);
  // The address of the first recipient that the account gets the message for.
  const { address } = known.onward?.isPlaced === false ? added : known;
  return { accountId: known.accountId, address, onward };
}

function refuseLoops({ index }: SpooledContent, destinations: readonly Destination[]): void {
  if (exceedsHopLimit(index)) throw new SmtpRefused('loop');
  if (destinations.some(({ address }) => wasDeliveredTo(index, address))) throw new SmtpRefused('loop');
}
