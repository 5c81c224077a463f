// The structs of outbound mail in REST, for replies and for requests, and the conversion of the mailbox's replies to them.
import { coerce, type Infer, nullable, optional, type Struct } from 'superstruct';
import type { OutboundEmail } from '../../../../actors/mailbox/outbound/protocol.js';
import type { MailboxProtocol } from '../../../../actors/mailbox/protocol.js';
import type { AnyStruct, Reply } from '../../../../actors/runtime/protocol.js';
import { parseAddress } from '../../../../mail-format/address.js';
import { senderFieldsFault } from '../../../../mail-format/header/header-pairs.js';
import {
  OUTBOUND_STATUSES,
  OUTCOMES,
  RECIPIENT_STATUSES,
  RECIPIENT_TYPES,
} from '../../../../mail-format/outbound-status.js';
import { LONGEST_DISPLAY_NAME, LONGEST_SUBJECT } from '../../../../mail-format/writing/reply.js';
import { isContentId, MEDIA_TYPE } from '../../../../message-content/compose/copied-attachments.js';
import {
  atLeastOne,
  choice,
  closedRecord,
  EMAIL,
  flag,
  idParameter,
  leaf,
  list,
  record,
  shortList,
  text,
  timestamp,
  uuid,
  whole,
} from '../../fields.js';
import { named } from '../../openapi/json-schema.js';
import { Upload } from '../../pipeline/uploads.js';
import { attachment, headerPairList, isoTime, namedMailbox } from '../emails/email-shapes.js';
import { bulk, sendAt } from './send-options.js';

/** RFC 5321 §4.5.3.1.8: every server must accept this many. */
export const MOST_RECIPIENTS = 100;
const MOST_ATTACHMENTS = 100;
/** A list shows this many recipients of a draft. */
const MOST_SHOWN_RECIPIENTS = 20;
const LONGEST_FILE_NAME = 200;

const status = () => choice(...OUTBOUND_STATUSES);

const recipient = named(
  'OutboundRecipient',
  record({
    id: uuid(),
    address: text(),
    displayName: optional(text()),
    type: choice(...RECIPIENT_TYPES),
    status: choice(...RECIPIENT_STATUSES),
    deliveredAt: nullable(timestamp()),
    lastError: nullable(text({ description: 'The last answer that refused the message' })),
    statusCode: nullable(text({ description: 'Its enhanced status code (RFC 3463)', examples: ['5.1.1'] })),
  }),
);

const summary = {
  id: uuid(),
  fromAddress: text(),
  subject: text(),
  status: status(),
  createdAt: timestamp(),
  sendAt: nullable(timestamp({ description: 'When it is sent, while it waits for that time' })),
  sentAt: nullable(timestamp()),
  messageId: text({ description: 'Empty for a draft' }),
  inReplyTo: nullable(text()),
  references: nullable(text({ description: 'Message ids, separated by spaces' })),
  retryCount: whole(),
  nextRetryAt: nullable(timestamp({ description: 'When the next attempt is due, while one waits' })),
  lastError: nullable(text({ description: 'Error of the last delivery that failed' })),
  recipients: list(recipient),
};

const outboundItem = named('OutboundListItem', record(summary));

const content = {
  textBody: nullable(text()),
  htmlBody: nullable(text()),
  attachments: list(attachment),
  replyTo: nullable(text()),
  headers: headerPairList({ description: 'Fields that a sender may set, as the message has them' }),
  isPartial: optional(flag({ description: 'Present and true when a limit was hit: the bodies are not whole' })),
};
const contentShape = record(content);
/** The content of an outbound email without its header. */
export type Content = Infer<typeof contentShape>;

export const outboundDetail = named(
  'OutboundEmail',
  record({
    ...summary,
    ...content,
    sentEmailId: nullable(uuid({ description: 'Its copy in Sent; null when that was deleted, and for drafts' })),
    queuePosition: nullable(
      whole({
        description: 'How many emails are before it; null when it does not wait, or waits behind others of the account',
      }),
    ),
  }),
);

const draftFields = {
  id: uuid(),
  fromAddress: text(),
  subject: text(),
  createdAt: timestamp(),
  updatedAt: timestamp(),
};

export const draftDetail = named('Draft', record({ ...draftFields, ...content, recipients: list(recipient) }));

const pageOfItems = <S extends AnyStruct>(name: string, item: S) =>
  named(name, record({ items: list(item), totalCount: whole(), page: whole(), pageSize: whole() }));

export const outboundPage = pageOfItems('OutboundPage', outboundItem);
export const draftPage = pageOfItems(
  'DraftPage',
  named('DraftSummary', record({ ...draftFields, to: list(namedMailbox) })),
);

export const queued = named(
  'QueuedEmail',
  record({
    id: uuid(),
    status: choice('Queued'),
    createdAt: timestamp(),
    sendAt: optional(timestamp({ description: 'Present when it waits for this time: until then it can be undone' })),
  }),
  { description: 'It is in the queue, and its copy is in Sent' },
);

export const cancelled = named(
  'CancelledEmail',
  record({
    cancelled: flag({ description: 'False when a delivery is under way or over; `status` says which' }),
    status: status(),
    draftId: nullable(uuid({ description: 'Its id, when it was cancelled before its time: it is a draft again' })),
  }),
);

export const retried = named(
  'RetriedEmail',
  record({
    retried: flag({ description: 'False when it was sent, is a draft, or a delivery is under way' }),
    status: status(),
  }),
);

const attempt = named(
  'DeliveryAttempt',
  record({
    id: uuid(),
    at: timestamp(),
    durationMs: whole(),
    domain: text(),
    host: nullable(text({ description: 'Name of the MX host; null when there was none' })),
    remoteAddress: nullable(text()),
    tls: nullable(text({ examples: ['TLSv1.3 TLS_AES_256_GCM_SHA384 (verified)'] })),
    reply: text({ description: 'The reply that decided, or the error in place of a reply' }),
    recipients: list(record({ id: uuid(), outcome: choice(...OUTCOMES), statusCode: nullable(text()) })),
  }),
  { description: 'One host that was tried, for the recipients of one domain' },
);
export const timeline = list(attempt);

// Structs of requests. They refuse text that PostgreSQL does not accept: NUL, and half of a surrogate pair.

export const maybe = <T, S>(struct: Struct<T, S>) => optional(nullable(struct));

const prose = () =>
  leaf<string>('string', (value) => {
    if (typeof value !== 'string') return 'must be a string';
    return !/[\0\p{Cs}]/u.test(value) || 'must be text without NUL and lone surrogates';
  });

/** Text of one line, which may be blank. */
const line = (most: number) =>
  coerce(
    leaf<string>(
      'string',
      (value) => {
        if (typeof value !== 'string') return 'must be a string';
        if (/[\p{Cc}\p{Cs}\u2028\u2029]/u.test(value)) return 'must not hold control characters';
        return value.length <= most || `must have at most ${most} characters`;
      },
      { maxLength: most },
    ),
    text(),
    (value) => value.trim(),
  );

const address = (description: string) =>
  coerce(
    leaf<string>(
      'string',
      (value) => (typeof value === 'string' && parseAddress(value) !== undefined) || 'must be an email address',
      { ...EMAIL, description },
    ),
    text(),
    (value) => value.trim(),
  );

const file = () =>
  leaf<Upload>('file', (value) => (value instanceof Upload && value.isBase64) || 'must be base64', {
    description: 'The bytes of the file in base64',
  });

/** A media type, optionally with parameters. */
const mediaType = () =>
  coerce(
    leaf<string>(
      'string',
      (value) =>
        (typeof value === 'string' && /^[\t -~]{0,200}$/.test(value) && MEDIA_TYPE.test(value.split(';')[0]!.trim())) ||
        'must be a media type of one part',
      { examples: ['application/pdf'] },
    ),
    text(),
    // Browsers send this type for files that they do not know.
    (value) => value.trim() || 'application/octet-stream',
  );

const contentId = () =>
  coerce(
    leaf<string>(
      'string',
      (value) => (typeof value === 'string' && isContentId(value)) || 'must be a Content-ID, with or without <>',
      { examples: ['logo@example.test'] },
    ),
    text(),
    (value) => value.trim().replace(/^<(.*)>$/, '$1'),
  );

const recipientInput = named(
  'RecipientInput',
  closedRecord({
    address: address('An email address; a repeated one is ignored'),
    displayName: maybe(line(LONGEST_DISPLAY_NAME)),
    type: choice(...RECIPIENT_TYPES),
  }),
);
export type RecipientInput = Infer<typeof recipientInput>;

const recipientsInput = () => shortList(recipientInput, 1, MOST_RECIPIENTS);

const attachmentInput = named(
  'AttachmentInput',
  closedRecord({
    fileName: maybe(line(LONGEST_FILE_NAME)),
    contentType: maybe(mediaType()),
    content: maybe(file()),
    contentId: maybe(contentId()),
    emailId: maybe(idParameter()),
    attachmentId: maybe(idParameter()),
  }),
  {
    description:
      "Either a file, with `fileName` and `content`, or an attachment of one of the account's emails, drafts and outbound emails included, with `emailId` and `attachmentId`. One with a `contentId` is shown where the html names it (`cid:`)",
    anyOf: [{ required: ['fileName', 'content'] }, { required: ['emailId', 'attachmentId'] }],
  },
);
export type AttachmentInput = Infer<typeof attachmentInput>;

const attachments = maybe(shortList(attachmentInput, 0, MOST_ATTACHMENTS));

const OWN = "The account's address or one of its verified additional addresses";
const givenFields = {
  replyTo: maybe(address('An email address for replies')),
  headers: maybe(
    leaf<[name: string, value: string][]>('headerPairs', (value) => senderFieldsFault(value) ?? true, {
      description:
        'Names and values of other fields: `List-*`, `X-*`, `References`, `In-Reply-To`, `Auto-Submitted`, `Precedence`, `Importance`',
      examples: [[['List-Unsubscribe', '<https://example.org/leave>']]],
      maxItems: 50,
    }),
  ),
};
const given = { textBody: maybe(prose()), htmlBody: maybe(prose()), attachments };

const A_BODY = {
  description: 'At least one of `textBody` and `htmlBody` must be there, and not empty',
  ...atLeastOne('textBody', 'htmlBody'),
};

export const sendInput = named(
  'SendInput',
  closedRecord({
    fromAddress: address(OWN),
    subject: line(LONGEST_SUBJECT),
    ...given,
    ...givenFields,
    recipients: recipientsInput(),
    sendAt,
    bulk,
  }),
  A_BODY,
);

export const draftInput = named(
  'DraftInput',
  closedRecord({
    fromAddress: maybe(address(`${OWN}; the account's address when absent`)),
    subject: maybe(line(LONGEST_SUBJECT)),
    ...given,
    ...givenFields,
    recipients: maybe(shortList(recipientInput, 0, MOST_RECIPIENTS)),
  }),
);
export type DraftInput = Infer<typeof draftInput>;

export const replyInput = named('ReplyInput', closedRecord({ ...given, replyAll: maybe(flag()), sendAt }), A_BODY);

export const forwardInput = named(
  'ForwardInput',
  closedRecord({ textBody: given.textBody, recipients: recipientsInput(), attachments, sendAt }),
);

/** An outbound email as lists show it; the detail has more. */
export function itemOf(email: OutboundEmail): Infer<typeof outboundItem> {
  return {
    id: email.id,
    fromAddress: email.sender,
    subject: email.subject,
    status: email.status,
    createdAt: isoTime(email.createdAt),
    sendAt: timeOrNull(email.heldUntil),
    sentAt: timeOrNull(email.sentAt),
    messageId: email.messageId ?? '',
    inReplyTo: email.inReplyTo,
    references: email.references.length === 0 ? null : email.references.join(' '),
    retryCount: email.retryCount,
    nextRetryAt: timeOrNull(email.nextRetryAt),
    lastError: email.lastError,
    recipients: recipientsOf(email),
  };
}

function draftFieldsOf({ id, sender, subject, createdAt, updatedAt }: OutboundEmail) {
  return { id, fromAddress: sender, subject, createdAt: isoTime(createdAt), updatedAt: isoTime(updatedAt) };
}

export function draftSummaryOf(email: OutboundEmail) {
  const to = email.recipients.filter(({ type }) => type === 'To').slice(0, MOST_SHOWN_RECIPIENTS);
  return {
    ...draftFieldsOf(email),
    to: to.map(({ address, displayName }) => ({ address, displayName: displayName ?? '' })),
  };
}

export function draftOf(email: OutboundEmail, content: Content): Infer<typeof draftDetail> {
  return { ...draftFieldsOf(email), ...content, recipients: recipientsOf(email) };
}

export function attemptOf(of: Reply<MailboxProtocol, 'outboundTimeline'>['attempts'][number]): Infer<typeof attempt> {
  const { id, at, durationMs, domain, host, remoteAddress, tls, reply, recipients } = of;
  return {
    id,
    at: isoTime(at),
    durationMs: Math.round(durationMs),
    domain,
    host,
    remoteAddress,
    tls,
    reply,
    recipients: recipients.map(({ id, outcome, statusCode }) => ({ id, outcome, statusCode })),
  };
}

const recipientsOf = (email: OutboundEmail): Infer<typeof recipient>[] =>
  email.recipients.map(({ id, address, displayName, type, status, deliveredAt, lastError, statusCode }) => ({
    id,
    address,
    ...(displayName !== null && { displayName }),
    type,
    status,
    deliveredAt: timeOrNull(deliveredAt),
    lastError,
    statusCode,
  }));

const timeOrNull = (ms: number | null): string | null => (ms === null ? null : isoTime(ms));
