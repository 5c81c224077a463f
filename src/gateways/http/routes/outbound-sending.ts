// From what a client gave to an email in the queue: whose address it may name, the message composed and stored, the sender's
// mailbox asked to queue it. The reply to a client is given only after the mailbox has committed it.
import { randomUUID } from 'node:crypto';
import type { Profiles } from '../../../actors/account/protocol.js';
import type { Addressee } from '../../../actors/mailbox/outbound-protocol.js';
import type { Mailboxes, MailboxProtocol } from '../../../actors/mailbox/protocol.js';
import type { Outcome } from '../../../actors/runtime/protocol.js';
import { canonicalAddress, parseAddress } from '../../../mail/address.js';
import type { IndexedAddress } from '../../../mail/message-index.js';
import { addressKey, LONGEST_DISPLAY_NAME, type OwnAddresses, type ThreadFields } from '../../../mail/reply.js';
import { summarize } from '../../../mail/summary.js';
import type { BlobStore } from '../../../store/blobs.js';
import { clock } from '../../../store/clock.js';
import { composeMessage, MessageTooLarge, type OutgoingAttachment } from '../../compose/message.js';
import type { BodyDecoder } from '../../decode/decoder.js';
import type { Spool } from '../../spool/spool.js';
import { Problem, unauthenticated } from '../problem.js';
import { isoTime } from './email-shapes.js';
import type { RecipientInput } from './outbound-shapes.js';

export interface OutboundSources {
  readonly mailboxes: Mailboxes;
  readonly blobs: BlobStore;
  readonly decoder: Pick<BodyDecoder, 'bodies'>;
  readonly profiles: Pick<Profiles, 'read'>;
  readonly spool: Pick<Spool, 'writer'>;
  /** Right side of message ids. */
  readonly hostname: string;
  /** Octets of a message. */
  readonly maxMessageSize: number;
}

/** An account as the sender of mail. */
export interface Sender {
  readonly accountId: string;
  /** Its own address. */
  readonly email: string;
  readonly displayName: string;
  readonly own: OwnAddresses;
}

/** @throws Problem 401 when the account was deleted while the request was under way. */
export async function senderOf({ profiles }: OutboundSources, accountId: string): Promise<Sender> {
  const profile = await profiles.read(accountId);
  if (profile === undefined) throw unauthenticated('invalid_token');
  const { email, displayName, additionalAddresses } = profile;
  const verified = additionalAddresses.filter(({ isVerified }) => isVerified).map(({ address }) => address);
  const own = new Set([email, ...verified].map((address) => canonicalAddress(address) ?? address));
  return { accountId, email, displayName, own };
}

/** The address as the envelope has it; undefined when the account may not send from it. */
export function ownAddress({ own }: Sender, address: string): string | undefined {
  const parsed = parseAddress(address);
  if (parsed === undefined || !own.has(canonicalAddress(address) ?? '')) return undefined;
  return `${parsed.localPart}@${parsed.domain}`;
}

export const NOT_OWN = "must be the account's address or one of its verified additional addresses";
export const NO_BODY = {
  textBody: ['textBody or htmlBody must be there'],
  htmlBody: ['textBody or htmlBody must be there'],
};

/** Whom a client named, in its order; an address that was named before is passed over. */
export function addresseesOf(recipients: readonly RecipientInput[]): Addressee[] {
  const found = new Map<string, Addressee>();
  for (const { address, displayName, type } of recipients) {
    const key = addressKey(address);
    if (found.has(key)) continue;
    const { domain } = parseAddress(address)!;
    found.set(key, { address, displayName: displayName || null, type, domain });
  }
  return [...found.values()];
}

/** What is to be sent. Texts and addresses are valid, `from` is one of the sender's own. */
export interface Letter extends ThreadFields {
  readonly from: string;
  readonly subject: string;
  readonly textBody: string | null;
  readonly htmlBody: string | null;
  readonly addressees: Addressee[];
  readonly attachments: readonly OutgoingAttachment[];
}

export const NO_THREAD: ThreadFields = { inReplyTo: null, references: [] };

/** Characters of both bodies that the mailbox keeps; those of more are read from the message when they are asked for. */
const KEPT_CHARACTERS = 128 * 1024;

/** `draft`: what the letter was made of, and when that was changed last. @throws Problem 413, SpoolFault, StoreFault */
export async function enqueue(
  sources: OutboundSources,
  sender: Sender,
  letter: Letter,
  draft: { readonly id: string; readonly updatedAt: number } | null,
): Promise<Outcome<MailboxProtocol, 'enqueue'>> {
  const { from, addressees, textBody, htmlBody } = letter;
  const composed = await compose(sources, sender, letter);
  try {
    await sources.blobs.put(composed);
    const summary = summarize(composed.index);
    const isKept = (textBody?.length ?? 0) + (htmlBody?.length ?? 0) <= KEPT_CHARACTERS;
    return await sources.mailboxes.of(sender.accountId).ask('enqueue', {
      draft,
      sender: from,
      blob: composed.hash,
      summary: { ...summary, references: [...summary.references] },
      content: isKept ? { textBody, htmlBody } : null,
      recipients: addressees,
    });
  } finally {
    composed.release();
  }
}

async function compose({ spool, hostname, maxMessageSize }: OutboundSources, sender: Sender, letter: Letter) {
  const { addressees, from, ...rest } = letter;
  const named = (type: Addressee['type']): IndexedAddress[] =>
    addressees
      .filter((one) => one.type === type)
      .map(({ address, displayName }) => ({ name: displayName ?? '', address }));
  try {
    return await composeMessage(
      {
        ...rest,
        messageId: `<${randomUUID()}@${hostname}>`,
        date: new Date(clock.now()),
        from: { name: oneLine(sender.displayName), address: from },
        to: named('To'),
        cc: named('Cc'),
      },
      spool.writer(),
      maxMessageSize,
    );
  } catch (error) {
    if (!(error instanceof MessageTooLarge)) throw error;
    throw new Problem(413, { detail: `The message would be larger than ${maxMessageSize} octets.` });
  }
}

export const sent = ({ id, createdAt }: { readonly id: string; readonly createdAt: number }) => ({
  status: 200 as const,
  json: { id, status: 'Queued' as const, createdAt: isoTime(createdAt) },
});

/** A login's provider may have given any name. */
const oneLine = (name: string): string =>
  name
    .replace(/[\p{Cc}\p{Cs}\u2028\u2029]+/gu, ' ')
    .trim()
    .slice(0, LONGEST_DISPLAY_NAME)
    .replace(/\p{Cs}/gu, '')
    .trim();
