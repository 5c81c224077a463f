// Turns the input of a client into an email in the queue: checks the sender address, composes and stores the message, and asks the sender's
// mailbox to queue it. The client gets its reply only after the mailbox has committed.

import type { Preferences, Profiles } from '../../../../actors/account/protocol.js';
import type { Addressee } from '../../../../actors/mailbox/outbound/protocol.js';
import type { Mailboxes, MailboxProtocol } from '../../../../actors/mailbox/protocol.js';
import type { Outcome, Payload, Reply } from '../../../../actors/runtime/protocol.js';
import type { SendingStatus } from '../../../../actors/sending/protocol.js';
import { canonicalAddress, parseAddress } from '../../../../mail-format/address.js';
import type { HeaderPair } from '../../../../mail-format/header/header-pairs.js';
import type { IndexedAddress, MessageIndex } from '../../../../mail-format/message-index.js';
import { summarize } from '../../../../mail-format/summary.js';
import { addressKey, LONGEST_DISPLAY_NAME, type ThreadFields } from '../../../../mail-format/writing/reply.js';
import type { CheckChain } from '../../../../message-checks/check-chain.js';
import {
  composeMessage,
  type MessageToCompose,
  MessageTooLarge,
  type OutgoingAttachment,
  readdressMessage,
} from '../../../../message-content/compose/message.js';
import { UnencodableLine, withShortLines } from '../../../../message-content/compose/short-lines.js';
import type { BodyDecoder } from '../../../../message-content/decode/decoder.js';
import type { Spool, SpooledContent, SpoolWriter } from '../../../../message-content/spool/spool.js';
import type { BlobStore } from '../../../../store/blobs.js';
import { clock } from '../../../../store/clock.js';
import { newId } from '../../../../store/ids/new-id.js';
import type { InlineMessages } from '../../../../store/inline/inline-messages.js';
import type { UploadField } from '../../pipeline/uploads.js';
import { invalid, Problem } from '../../problem.js';
import { isoTime } from '../emails/email-shapes.js';
import { judge } from './outbound-checks.js';
import type { RecipientInput } from './outbound-shapes.js';
import { type Sender, senderOf } from './sender.js';
import { limitProblem } from './sending-problems.js';

export interface OutboundSources {
  readonly mailboxes: Mailboxes;
  readonly blobs: BlobStore;
  readonly inlineMessages: Pick<InlineMessages, 'commit'>;
  readonly decoder: Pick<BodyDecoder, 'bodies' | 'room'>;
  readonly profiles: Pick<Profiles, 'read' | 'maySendAs'>;
  readonly preferences: Pick<Preferences, 'read'>;
  readonly sending: Pick<SendingStatus, 'suspensionOf' | 'delayOf'>;
  readonly spool: Pick<Spool, 'writer' | 'file'>;
  /** Judge messages before they are queued, as at submission. */
  readonly contentChecks: Pick<CheckChain, 'judge'>;
  /** The right side of message ids. */
  readonly hostname: string;
  /** The largest message in octets. */
  readonly maxMessageSize: number;
}

/** Describes the bodies of the routes that accept attachments. */
export const LIMIT = 'The body may be as large as a message, and 4 MiB without the content of its attachments.';
/** Describes the hold of the routes that queue an email. */
export const HELD =
  'Nobody gets it before `sendAt`, or before the seconds of the preference `undoSendSeconds` are over; until then it can be cancelled.';
export const uploads = ({ spool }: OutboundSources): UploadField => ({ list: 'attachments', field: 'content', spool });

export const NO_BODY = {
  textBody: ['send textBody or htmlBody'],
  htmlBody: ['send textBody or htmlBody'],
};

/** The recipients that a client named, in its order; a repeated address is ignored. */
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

/** The addresses are valid, and `from` is one of the sender's own. */
interface OutgoingHeader {
  readonly from: string;
  readonly subject: string;
  readonly addressees: Addressee[];
}

/** An email to compose and send. Its texts are valid. */
export interface OutgoingEmail extends OutgoingHeader, ThreadFields, GivenFields {
  readonly textBody: string | null;
  readonly htmlBody: string | null;
  readonly attachments: readonly OutgoingAttachment[];
}

/** The header fields that a sender gives in addition to recipients and subject. */
export interface GivenFields {
  /** An address. */
  readonly replyTo: string | null;
  readonly headers: readonly HeaderPair[];
}

/** A draft that is sent as it was composed. */
export interface ComposedEmail extends OutgoingHeader, ThreadFields {
  /** The bodies that the mailbox stores; null when it does not. */
  readonly bodies: Bodies | null;
  readonly blob: string;
  readonly index: MessageIndex;
  /** True when this server composed it, false when a mail program did. */
  readonly isOwn: boolean;
}

type Bodies = Pick<OutgoingEmail, 'textBody' | 'htmlBody'>;

export const NO_THREAD: ThreadFields = { inReplyTo: null, references: [] };
export const NOTHING_GIVEN: GivenFields = { replyTo: null, headers: [] };

/** Converts the validated header members of a REST body. */
export function fieldsOf({
  replyTo,
  headers,
}: {
  readonly replyTo?: string | null | undefined;
  readonly headers?: readonly HeaderPair[] | null | undefined;
}): GivenFields & ThreadFields {
  const textOf = (field: string) => headers?.find(([name]) => name.toLowerCase() === field)?.[1].trim();
  return {
    replyTo: replyTo || null,
    headers: (headers ?? []).filter(([name]) => !/^(?:references|in-reply-to)$/i.test(name)),
    inReplyTo: textOf('in-reply-to') ?? null,
    references: textOf('references')?.split(/ +/) ?? [],
  };
}

/** The mailbox stores both bodies up to this many characters; longer bodies are read from the message on demand. */
const KEPT_CHARACTERS = 128 * 1024;

const keptOf = ({ textBody, htmlBody }: Bodies): Bodies | null =>
  (textBody?.length ?? 0) + (htmlBody?.length ?? 0) <= KEPT_CHARACTERS ? { textBody, htmlBody } : null;

interface Sending {
  /** The address of the client. */
  readonly remoteAddress: string;
  /** The value that the client gave. */
  readonly sendAt: string | null | undefined;
  /** The draft from which the email was made, and the time of its last change. */
  readonly draft?: { readonly id: string; readonly updatedAt: number };
  /** The email that this one replies to or forwards. */
  readonly original?: Payload<MailboxProtocol, 'enqueue'>['original'];
}

type Enqueued =
  | (Outcome<MailboxProtocol, 'enqueue'> & { readonly reply?: never })
  | { readonly reply: Reply<MailboxProtocol, 'enqueue'>; readonly heldUntil: number | undefined };

/** @throws Problem 400, 403, 413, 429, 503; SpoolFault, StoreFault */
export async function enqueue(
  sources: OutboundSources,
  sender: Sender,
  outgoing: OutgoingEmail | ComposedEmail,
  { remoteAddress, sendAt, draft, original }: Sending,
): Promise<Enqueued> {
  const heldUntil = await endOfHold(sources, sender, sendAt);
  const id = newId();
  const fields = { messageId: messageIdOf(id, sources), bcc: [], date: heldUntil ?? clock.now() };
  const queued = {
    draft: draft ?? null,
    sender: outgoing.from,
    content: 'index' in outgoing ? outgoing.bodies : keptOf(outgoing),
    recipients: outgoing.addressees,
    ...(original !== undefined && { original }),
  };
  const { accountId } = sender;
  const outcome = await composed(sources, sender, outgoing, fields, async (content) => {
    const { from, addressees } = outgoing;
    await judge(sources.contentChecks, content, { id, from, addressees, remoteAddress, sender });
    const summary = summarize(content.index);
    const mailbox = sources.mailboxes.of(accountId);
    const stored = async () => {
      await sources.blobs.put(content);
      return [{ blob: content.hash, summary }] as const;
    };
    if (heldUntil === undefined) {
      return sources.inlineMessages.commit(
        accountId,
        [{ content, summary }],
        ([handle], how) => mailbox.ask('enqueue', { ...handle!, ...queued }, how),
        stored,
      );
    }
    const [handle] = await stored();
    return mailbox.ask('holdOutbound', { ...handle, ...queued, heldUntil });
  });
  const { refusal } = outcome;
  if (refusal === 'sendingSuspended' || refusal === 'overLimit' || refusal === 'overMessageLimit')
    throw await limitProblem(sources.sending, accountId, refusal, outgoing.addressees.length);
  return outcome.reply === undefined ? outcome : { ...outcome, heldUntil };
}

/**
 * Makes an email due now. An email that is held for long is composed again, because its Date is the end of the hold. @throws Problem 413;
 * SpoolFault, StoreFault
 */
export async function sendNow(
  sources: OutboundSources,
  accountId: string,
  outboundId: string,
): Promise<Outcome<MailboxProtocol, 'retryOutbound'>> {
  const mailbox = sources.mailboxes.of(accountId);
  const { reply, refusal } = await mailbox.ask('outbound', { outboundId });
  if (reply === undefined) return { refusal };
  const { blob, messageId, sender: from, subject, inReplyTo, references, recipients, heldUntil } = reply.email;
  const now = clock.now();
  const isDatedAhead = heldUntil !== null && heldUntil >= now + DATED_AHEAD_MS;
  const index = isDatedAhead ? await sources.blobs.index(blob) : undefined;
  if (index === undefined || heldUntil === null || messageId === null)
    return mailbox.ask('retryOutbound', { outboundId });
  const sender = await senderOf(sources.profiles, accountId);
  const outgoing = {
    from,
    subject,
    addressees: addresseesOf(recipients),
    bodies: null,
    inReplyTo,
    references,
    blob,
    index,
    isOwn: true,
  };
  return stored(sources, sender, outgoing, { messageId, bcc: [], date: now }, ({ hash, index: dated }) =>
    mailbox.ask('retryOutbound', { outboundId, message: { heldUntil, blob: hash, summary: summaryOf(dated) } }),
  );
}

/** The Date of a message may be at most this far in the future. */
const DATED_AHEAD_MS = 60_000;
const LONGEST_HOLD_MS = 366 * 86_400_000;

/** The time until which the email is held; undefined when it is sent at once. @throws Problem 400 */
async function endOfHold(
  { preferences }: OutboundSources,
  { accountId }: Sender,
  sendAt: Sending['sendAt'],
): Promise<number | undefined> {
  const now = clock.now();
  if (sendAt === undefined || sendAt === null) {
    const seconds = (await preferences.read(accountId))?.undoSendSeconds ?? 0;
    return seconds === 0 ? undefined : now + 1_000 * seconds;
  }
  const at = Date.parse(sendAt);
  if (at > now + LONGEST_HOLD_MS) throw invalid({ sendAt: ['must be at most a year ahead'] });
  return at <= now ? undefined : at;
}

function summaryOf(index: MessageIndex) {
  const summary = summarize(index);
  return { ...summary, references: [...summary.references] };
}

const messageIdOf = (id: string, { hostname }: OutboundSources): string => `<${id}@${hostname}>`;

/**
 * Composes a draft for the mailbox: a blob contains its bodies and attachments, whatever their size, and the mailbox also stores the bodies
 * as given. `id`: the draft that is replaced. All messages of a draft share one Message-ID, which differs from that of the message that is
 * sent. @throws Problem 413, SpoolFault, StoreFault, and what `save` throws
 */
export function saveDraft<T>(
  sources: OutboundSources,
  sender: Sender,
  outgoing: OutgoingEmail,
  given: Bodies,
  id: string | undefined,
  save: (draft: Payload<MailboxProtocol, 'createDraft'>['draft']) => Promise<T>,
): Promise<T> {
  const messageId = messageIdOf(id ?? newId(), sources);
  const fields = { messageId, bcc: namedAs('Bcc', outgoing), date: clock.now() };
  return stored(sources, sender, outgoing, fields, ({ hash, size, index }) =>
    save({
      sender: outgoing.from,
      subject: outgoing.subject,
      content: keptOf(given),
      recipients: outgoing.addressees,
      message: { blob: hash, size, summary: summaryOf(index) },
    }),
  );
}

/** Fields that differ between a draft and the message that is sent. */
interface OwnFields extends Pick<MessageToCompose, 'messageId' | 'bcc'> {
  /** ms since the epoch. */
  readonly date: number;
}

/** Composes and stores the message, then calls `then`. */
function stored<T>(
  sources: OutboundSources,
  sender: Sender,
  outgoing: OutgoingEmail | ComposedEmail,
  fields: OwnFields,
  then: (content: SpooledContent) => Promise<T>,
): Promise<T> {
  return composed(sources, sender, outgoing, fields, async (content) => {
    await sources.blobs.put(content);
    return then(content);
  });
}

/** Composes the message, then calls `then`; the content exists until `then` ends. */
async function composed<T>(
  sources: OutboundSources,
  sender: Sender,
  outgoing: OutgoingEmail | ComposedEmail,
  fields: OwnFields,
  then: (content: SpooledContent) => Promise<T>,
): Promise<T> {
  const content = await compose(sources, sender, outgoing, fields);
  try {
    return await then(content);
  } finally {
    content.release();
  }
}

/** The display name of an address that is not the account's own one; without it that of the account. */
async function displayNameFor({ preferences }: OutboundSources, sender: Sender, address: string): Promise<string> {
  const from = canonicalAddress(address);
  if (from === canonicalAddress(sender.email)) return sender.displayName;
  const { identities = [] } = (await preferences.read(sender.accountId)) ?? {};
  return identities.find((one) => canonicalAddress(one.address) === from)?.displayName || sender.displayName;
}

async function compose(
  sources: OutboundSources,
  sender: Sender,
  outgoing: OutgoingEmail | ComposedEmail,
  fields: OwnFields,
): Promise<SpooledContent> {
  const { blobs, spool, maxMessageSize } = sources;
  const name = await displayNameFor(sources, sender, outgoing.from);
  const header = {
    ...fields,
    date: new Date(fields.date),
    from: { name: oneLine(name, LONGEST_DISPLAY_NAME), address: outgoing.from },
    to: namedAs('To', outgoing),
    cc: namedAs('Cc', outgoing),
    subject: outgoing.subject,
    inReplyTo: outgoing.inReplyTo,
    references: outgoing.references,
  };
  const newWriter = () => spool.writer(sender.accountId);
  try {
    if (!('index' in outgoing)) return await composeMessage(messageOf(outgoing, header), newWriter(), maxMessageSize);
    const message = { blobs, blob: outgoing.blob, index: outgoing.index, isOwn: outgoing.isOwn };
    return await shortened(await readdressMessage(header, message, newWriter(), maxMessageSize), newWriter);
  } catch (error) {
    throw error instanceof MessageTooLarge ? messageTooLarge(maxMessageSize) : error;
  }
}

/** Shortens long lines, which a message that a mail program wrote may contain. */
async function shortened(content: SpooledContent, newWriter: () => SpoolWriter): Promise<SpooledContent> {
  try {
    return await withShortLines(content, newWriter);
  } catch (error) {
    content.release();
    if (!(error instanceof UnencodableLine)) throw error;
    throw new Problem(400, {
      detail: 'A line of the header that cannot be folded, or of a signed part, has more than 998 octets.',
    });
  }
}

const messageOf = (
  { textBody, htmlBody, attachments, replyTo, headers }: OutgoingEmail,
  header: Omit<MessageToCompose, keyof Bodies | keyof GivenFields | 'attachments'>,
): MessageToCompose => ({ ...header, textBody, htmlBody, attachments, replyTo, headers });

const namedAs = (type: Addressee['type'], { addressees }: OutgoingHeader): IndexedAddress[] =>
  addressees
    .filter((one) => one.type === type)
    .map(({ address, displayName }) => ({ name: displayName ?? '', address }));

export const messageTooLarge = (maxMessageSize: number): Problem =>
  new Problem(413, { detail: `The message would be larger than ${maxMessageSize} octets.` });

export const sent = ({ reply: { id, createdAt }, heldUntil }: Extract<Enqueued, { readonly heldUntil: unknown }>) => ({
  status: 200 as const,
  json: {
    id,
    status: 'Queued' as const,
    createdAt: isoTime(createdAt),
    ...(heldUntil !== undefined && { sendAt: isoTime(heldUntil) }),
  },
});

/** Converts text of any origin, such as a login provider or a mail program, to one line of at most `most` characters. */
export const oneLine = (text: string, most: number): string =>
  text
    .replace(/[\p{Cc}\p{Cs}\u2028\u2029]+/gu, ' ')
    .trim()
    .slice(0, most)
    .replace(/\p{Cs}/gu, '')
    .trim();
