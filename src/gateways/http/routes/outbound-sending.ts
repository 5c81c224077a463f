// From what a client gave to an email in the queue: whose address it may name, the message composed and stored, the sender's
// mailbox asked to queue it. The reply to a client is given only after the mailbox has committed it.

import type { Profiles } from '../../../account/protocol.js';
import type { Addressee } from '../../../actors/mailbox/outbound/protocol.js';
import type { Mailboxes, MailboxProtocol } from '../../../actors/mailbox/protocol.js';
import type { Outcome, Payload } from '../../../actors/runtime/protocol.js';
import {
  composeMessage,
  type MessageToCompose,
  MessageTooLarge,
  type OutgoingAttachment,
  readdressMessage,
} from '../../../compose/message.js';
import type { BodyDecoder } from '../../../decode/decoder.js';
import { newId } from '../../../ids/new-id.js';
import { canonicalAddress, parseAddress } from '../../../mail/address.js';
import type { IndexedAddress, MessageIndex } from '../../../mail/message-index.js';
import { addressKey, LONGEST_DISPLAY_NAME, type OwnAddresses, type ThreadFields } from '../../../mail/reply.js';
import { summarize } from '../../../mail/summary.js';
import type { Spool, SpooledContent } from '../../../spool/spool.js';
import type { BlobStore } from '../../../store/blobs.js';
import { clock } from '../../../store/clock.js';
import { Problem, unauthenticated } from '../problem.js';
import type { UploadField } from '../uploads.js';
import { isoTime } from './email-shapes.js';
import type { RecipientInput } from './outbound-shapes.js';

export interface OutboundSources {
  readonly mailboxes: Mailboxes;
  readonly blobs: BlobStore;
  readonly decoder: Pick<BodyDecoder, 'bodies' | 'room'>;
  readonly profiles: Pick<Profiles, 'read'>;
  readonly spool: Pick<Spool, 'writer' | 'file'>;
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

/** Of the bodies of the routes that take attachments. */
export const LIMIT = 'The body may have as many octets as a message, and 4 MiB without the content of its attachments.';
export const uploads = ({ spool }: OutboundSources): UploadField => ({ list: 'attachments', field: 'content', spool });

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

/** Addresses are valid, `from` is one of the sender's own. */
interface Letterhead {
  readonly from: string;
  readonly subject: string;
  readonly addressees: Addressee[];
}

/** What is to be sent. Texts are valid. */
export interface Letter extends Letterhead, ThreadFields {
  readonly textBody: string | null;
  readonly htmlBody: string | null;
  readonly attachments: readonly OutgoingAttachment[];
}

/** A draft that is to be sent as it was composed. */
export interface ComposedLetter extends Letterhead {
  /** As the mailbox keeps them; null when it does not. */
  readonly bodies: Bodies | null;
  readonly blob: string;
  readonly index: MessageIndex;
}

type Bodies = Pick<Letter, 'textBody' | 'htmlBody'>;

export const NO_THREAD: ThreadFields = { inReplyTo: null, references: [] };

/** Characters of both bodies that the mailbox keeps; those of more are read from the message when they are asked for. */
const KEPT_CHARACTERS = 128 * 1024;

const keptOf = ({ textBody, htmlBody }: Bodies): Bodies | null =>
  (textBody?.length ?? 0) + (htmlBody?.length ?? 0) <= KEPT_CHARACTERS ? { textBody, htmlBody } : null;

/**
 * `draft`: what the letter was made of, and when that was changed last; `original`: what it replies to or forwards.
 * @throws Problem 413, SpoolFault, StoreFault
 */
export function enqueue(
  sources: OutboundSources,
  sender: Sender,
  letter: Letter | ComposedLetter,
  draft: { readonly id: string; readonly updatedAt: number } | null,
  original?: Payload<MailboxProtocol, 'enqueue'>['original'],
): Promise<Outcome<MailboxProtocol, 'enqueue'>> {
  return stored(sources, sender, letter, [], ({ hash, index }) => {
    const summary = summarize(index);
    return sources.mailboxes.of(sender.accountId).ask('enqueue', {
      draft,
      sender: letter.from,
      blob: hash,
      summary: { ...summary, references: [...summary.references] },
      content: 'index' in letter ? letter.bodies : keptOf(letter),
      recipients: letter.addressees,
      ...(original !== undefined && { original }),
    });
  });
}

/**
 * The draft composed, as the mailbox takes it: its bodies and attachments are in a blob, however large. What is kept of the
 * bodies beside it is as it was given. @throws Problem 413, SpoolFault, StoreFault, and what `save` throws
 */
export function saveDraft<T>(
  sources: OutboundSources,
  sender: Sender,
  letter: Letter,
  given: Bodies,
  save: (draft: Payload<MailboxProtocol, 'createDraft'>['draft']) => Promise<T>,
): Promise<T> {
  return stored(sources, sender, letter, namedAs('Bcc', letter), ({ hash, size }) =>
    save({
      sender: letter.from,
      subject: letter.subject,
      content: keptOf(given),
      recipients: letter.addressees,
      message: { blob: hash, size },
    }),
  );
}

/** Composes, stores and goes on. */
async function stored<T>(
  sources: OutboundSources,
  sender: Sender,
  letter: Letter | ComposedLetter,
  bcc: readonly IndexedAddress[],
  then: (content: SpooledContent) => Promise<T>,
): Promise<T> {
  const composed = await compose(sources, sender, letter, bcc);
  try {
    await sources.blobs.put(composed);
    return await then(composed);
  } finally {
    composed.release();
  }
}

async function compose(
  { blobs, spool, hostname, maxMessageSize }: OutboundSources,
  sender: Sender,
  letter: Letter | ComposedLetter,
  bcc: readonly IndexedAddress[],
): Promise<SpooledContent> {
  const header = {
    messageId: `<${newId()}@${hostname}>`,
    date: new Date(clock.now()),
    from: { name: oneLine(sender.displayName), address: letter.from },
    to: namedAs('To', letter),
    cc: namedAs('Cc', letter),
    bcc,
    subject: letter.subject,
  };
  const writer = spool.writer(sender.accountId);
  try {
    return await ('index' in letter
      ? readdressMessage(header, { blobs, blob: letter.blob, index: letter.index }, writer, maxMessageSize)
      : composeMessage(messageOf(letter, header), writer, maxMessageSize));
  } catch (error) {
    throw error instanceof MessageTooLarge ? messageTooLarge(maxMessageSize) : error;
  }
}

const messageOf = (
  { inReplyTo, references, textBody, htmlBody, attachments }: Letter,
  header: Omit<MessageToCompose, keyof Letter> & Pick<MessageToCompose, 'from' | 'subject'>,
): MessageToCompose => ({ ...header, inReplyTo, references, textBody, htmlBody, attachments });

const namedAs = (type: Addressee['type'], { addressees }: Letterhead): IndexedAddress[] =>
  addressees
    .filter((one) => one.type === type)
    .map(({ address, displayName }) => ({ name: displayName ?? '', address }));

export const messageTooLarge = (maxMessageSize: number): Problem =>
  new Problem(413, { detail: `The message would be larger than ${maxMessageSize} octets.` });

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
