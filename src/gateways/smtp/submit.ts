// A received submission becomes outgoing mail (docs/interface/mail.md, "Submission"): the sender's mailbox queues it in one
// commit with the copy in Sent, which also stores the bytes of a small message. The commit is the promise; the queue delivers.

import type { Addressee } from '../../actors/mailbox/outbound/protocol.js';
import type { Mailboxes } from '../../actors/mailbox/protocol.js';
import { ActorFault } from '../../actors/runtime/errors.js';
import { type SendingStatus, suspensionText } from '../../actors/sending/protocol.js';
import { type Address, parseAddress } from '../../mail-format/address.js';
import { exceedsHopLimit } from '../../mail-format/loop.js';
import type { IndexedAddress } from '../../mail-format/message-index.js';
import type { DsnRequest, RecipientDsnRequest } from '../../mail-format/reports/dsn-request.js';
import { summarize } from '../../mail-format/summary.js';
import type { SpooledContent } from '../../message-content/spool/spool.js';
import type { BlobStore } from '../../store/blobs.js';
import type { InlineMessages } from '../../store/inline/inline-messages.js';
import { SmtpRefused } from './replies.js';

/** In ms. The client waits for minutes (RFC 5321 §4.5.3.2.6); giving up early may queue the message twice. */
const DEADLINE_MS = 30_000;
/** Characters of a display name: a thousand recipients must fit into one packet. */
const LONGEST_NAME = 100;

export interface SubmitPorts {
  readonly blobs: Pick<BlobStore, 'put'>;
  readonly inlineMessages: Pick<InlineMessages, 'commit'>;
  readonly mailboxes: Mailboxes;
  readonly sending: Pick<SendingStatus, 'suspensionOf' | 'delayOf'>;
}

export interface Queued {
  /** The id of the outbound email. */
  readonly id: string;
  readonly messageId: string | null;
  readonly recipients: readonly string[];
}

export interface SubmittedEnvelope {
  readonly sender: string;
  /** Valid addresses, and the notifications that the sender requests for each. */
  readonly recipients: readonly {
    readonly address: string;
    readonly dsn: RecipientDsnRequest | undefined | null;
  }[];
  readonly dsn: DsnRequest | undefined | null;
}

/** @throws SmtpRefused for a loop, a full mailbox of the sender, a limit or a suspension; StoreFault or ActorFault when the message is not queued */
export async function submitMessage(
  { blobs, inlineMessages, mailboxes, sending }: SubmitPorts,
  accountId: string,
  { sender, recipients, dsn }: SubmittedEnvelope,
  content: SpooledContent,
): Promise<Queued> {
  if (exceedsHopLimit(content.index)) throw new SmtpRefused('loop');
  const summary = summarize(content.index);
  const outgoing = {
    draft: null,
    sender,
    content: null,
    isSubmission: true,
    recipients: addressees(recipients, content),
    ...(dsn && { dsn }),
  };
  const { reply, refusal } = await inlineMessages.commit(
    accountId,
    [{ content, summary }],
    ([handle], how) =>
      mailboxes.of(accountId).ask('enqueue', { ...handle!, ...outgoing }, { deadlineMs: DEADLINE_MS, ...how }),
    async () => {
      await blobs.put(content);
      return [{ blob: content.hash, summary }];
    },
  );
  if (refusal === 'overQuota') throw new SmtpRefused('overQuota');
  if (refusal === 'sendingSuspended') throw new SmtpRefused(refusal, await suspensionOf(sending, accountId));
  if (refusal === 'overLimit' || refusal === 'overMessageLimit')
    throw new SmtpRefused(refusal, (await sending.delayOf(accountId, recipients.length)).detail);
  // Other refusals exist for drafts only.
  if (reply === undefined) throw new ActorFault('failed', `a submission was refused: ${refusal}`);
  return { id: reply.id, messageId: summary.messageId, recipients: recipients.map(({ address }) => address) };
}

/** The text of the reply to a suspended account; undefined when it is not suspended (any more). @throws StoreFault */
export async function suspensionOf(
  sending: Pick<SendingStatus, 'suspensionOf'>,
  accountId: string,
): Promise<string | undefined> {
  const suspension = await sending.suspensionOf(accountId);
  return suspension === null ? undefined : suspensionText(suspension);
}

/** Returns the addressees in the order of the envelope; those that the header does not name are blind copies. */
function addressees(recipients: SubmittedEnvelope['recipients'], { index: { envelope } }: SpooledContent): Addressee[] {
  const named = new Map<string, { type: 'To' | 'Cc'; name: string }>();
  const note = (type: 'To' | 'Cc') => (mailbox: IndexedAddress) => {
    const address = parseAddress(mailbox.address);
    if (address !== undefined && !named.has(keyOf(address))) named.set(keyOf(address), { type, name: mailbox.name });
  };
  envelope.to.forEach(note('To'));
  envelope.cc.forEach(note('Cc'));
  return recipients.flatMap(({ address, dsn }) => {
    const parsed = parseAddress(address);
    if (parsed === undefined) return [];
    const { type, name } = named.get(keyOf(parsed)) ?? { type: 'Bcc' as const, name: '' };
    const displayName = [...name].slice(0, LONGEST_NAME).join('') || null;
    const asked = dsn && { dsn: { notify: dsn.notify && [...dsn.notify], orcpt: dsn.orcpt } };
    return [{ address, displayName, type, domain: parsed.domain, ...asked }];
  });
}

function keyOf({ localPart, domain }: Address): string {
  return `${localPart.toLowerCase()}@${domain}`;
}
