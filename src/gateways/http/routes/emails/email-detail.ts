// One email in full: the mailbox provides its row, the index of the blob its parts, the decoder its bodies. Ids of recipients and
// attachments are not stored but derived from the email's id and the place in the message, so they stay the same as long as the message
// does.
import { createHash } from 'node:crypto';
import type { Infer } from 'superstruct';
import type { EmailDetail, emailHead } from '../../../../actors/mailbox/protocol.js';
import type { Verdicts } from '../../../../mail-format/authentication/authentication-results.js';
import type { Bodies } from '../../../../mail-format/decode/bodies.js';
import type { IndexedAddress, IndexedAttachment, MessageIndex } from '../../../../mail-format/message-index.js';
import { type attachment, type emailDetail, isoTime, type recipient, shown } from './email-shapes.js';

export type Detail = Infer<typeof emailDetail>;
type Head = keyof typeof emailHead;

/** The JSON of a detail. `content`: the result of `contentOf`. */
export function detailJson(email: EmailDetail, content: string): string {
  const {
    blob: _blob,
    inReplyTo: _inReplyTo,
    references: _references,
    hasAuthenticationResults: _has,
    blindRecipients: _blind,
    ...head
  } = email;
  const json: Pick<Detail, Head> = shown(head);
  return `${JSON.stringify(json).slice(0, -1)},${content.slice(1)}`;
}

export interface DetailParts {
  readonly bodies: Bodies;
  readonly headers: Detail['headers'];
  readonly verdicts: Verdicts;
  /** The parts are incomplete. */
  readonly isPartial: boolean;
}

/** The part of a detail that never changes while the email exists. */
export function contentOf(email: EmailDetail, index: MessageIndex, parts: DetailParts): Omit<Detail, Head> {
  const { bodies, headers, verdicts, isPartial } = parts;
  const { to, cc, bcc, replyTo, sentAt } = index.envelope;
  const { inReplyTo, references } = email;
  return {
    date: sentAt === null ? null : isoTime(sentAt),
    replyTo: replyTo
      .filter(({ address }) => address !== '')
      .map(({ name, address }) => ({ address, displayName: name })),
    headers,
    authentication: verdicts,
    toAddresses: plain(to),
    ccAddresses: plain(cc),
    textBody: bodies.text,
    htmlBody: bodies.html,
    inReplyTo: inReplyTo ?? '',
    references: references.join(' '),
    attachments: index.attachments.map((part) => attachmentOf(email.id, part)),
    recipients: [
      ...recipientsOf(email.id, 'To', to),
      ...recipientsOf(email.id, 'Cc', cc),
      ...recipientsOf(email.id, 'Bcc', withBlind(bcc, email)),
    ],
    ...(isPartial ? { isPartial: true } : {}),
  };
}

/**
 * Replaces the email's id in the ids of attachments of outbound mail: a draft's message changes, and an id that a client remembers must not
 * name another file later.
 */
export const versionOf = (outboundId: string, blob: string): string => `${outboundId}/${blob}`;

export const attachmentId = (emailId: string, section: string): string => derivedId(`${emailId}/attachment/${section}`);

export function attachmentOf(emailId: string, part: IndexedAttachment): Infer<typeof attachment> {
  return {
    id: attachmentId(emailId, part.section),
    fileName: part.fileName,
    contentType: part.contentType,
    size: part.size,
    sizeBytes: part.size,
    ...(part.contentId !== null && { contentId: part.contentId }),
    ...(part.charset !== undefined && { charset: part.charset }),
    ...(part.method !== undefined && { method: part.method }),
  };
}

/** Adds the blind recipients after the recipients that the message names. */
function withBlind(
  named: readonly IndexedAddress[],
  { blindRecipients = [] }: Pick<EmailDetail, 'blindRecipients'>,
): readonly IndexedAddress[] {
  const known = new Set(named.map(({ address }) => address.toLowerCase()));
  const others = blindRecipients.filter(({ address }) => {
    const isNew = !known.has(address.toLowerCase());
    known.add(address.toLowerCase());
    return isNew;
  });
  return [...named, ...others.map(({ address, displayName }) => ({ address, name: displayName ?? '' }))];
}

/** Omits the start of a group, which has no address (RFC 5322 §3.4). */
const plain = (addresses: readonly IndexedAddress[]): string[] =>
  addresses.map(({ address }) => address).filter((address) => address !== '');

type RecipientType = Infer<typeof recipient>['type'];

function recipientsOf(
  emailId: string,
  type: RecipientType,
  addresses: readonly IndexedAddress[],
): Infer<typeof recipient>[] {
  return addresses
    .map(({ name, address }, i) => ({
      id: derivedId(`${emailId}/${type}/${i}`),
      address,
      displayName: name,
      type,
    }))
    .filter(({ address }) => address !== '');
}

/** A version 8 UUID (RFC 9562 §5.8) of the text's SHA-256. */
export function derivedId(name: string): string {
  const octets = createHash('sha256').update(name).digest().subarray(0, 16);
  octets[6] = (octets[6]! & 0x0f) | 0x80;
  octets[8] = (octets[8]! & 0x3f) | 0x80;
  const hex = octets.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
