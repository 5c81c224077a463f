// The fields of a message that lists show, taken from its index. Each delivery carries a summary and each row of a list holds one, so its
// limits are tighter than those of the envelope, which is read one message at a time. The struct is the only declaration of the fields:
// nodes validate packets by it, and the columns of the table derive from it.
import { array, boolean, type Infer, integer, nullable, optional, string, type } from 'superstruct';
import { authorDomain } from './authentication/author-domain.js';
import type { MessageIndex } from './message-index.js';

/** A node passes on fields that it does not know. A new field is optional, because rows and nodes of an older version lack it. */
export const messageSummary = type({
  messageId: nullable(string()),
  inReplyTo: nullable(string()),
  references: array(string()),
  fromAddress: string(),
  /** True when the message names no author: `fromAddress` is then the sender of its envelope. */
  fromIsEnvelopeSender: optional(boolean()),
  /** True when the message begins with trace fields that Mansio's MX wrote, including the results of its checks. */
  hasAuthenticationResults: optional(boolean()),
  fromName: string(),
  subject: string(),
  preview: string(),
  size: integer(),
  hasAttachments: boolean(),
  attachmentCount: integer(),
});
export type MessageSummary = Infer<typeof messageSummary>;

/** A msg-id has at most as many octets as a line (RFC 5322 §2.1.1). */
const ID_OCTETS = 998;
const REFERENCES = 100;
/** The octets of all references together. */
const REFERENCES_OCTETS = 16 * 1024;
// The limits below are in characters.
const SUBJECT = 2_000;
const FROM_NAME = 300;
const FROM_ADDRESS = 320;

/**
 * The author is the first valid mailbox of From. Sender is never shown as the author: DMARC does not check it. `envelopeSender` is that of
 * incoming mail, '' for the null reverse-path; it is shown, and marked, when there is no author. `isAuthenticated`: the MX has checked the
 * message and written the results into it.
 */
export function summarize(index: MessageIndex, envelopeSender = '', isAuthenticated = false): MessageSummary {
  const { envelope } = index;
  const from = envelope.from.find(({ address }) => authorDomain(address) !== undefined);
  const isUnnamed = from === undefined && envelopeSender !== '';
  return {
    messageId: usable(envelope.messageId),
    inReplyTo: usable(envelope.inReplyTo),
    references: nearest(envelope.references),
    fromAddress: start(from?.address ?? envelopeSender, FROM_ADDRESS),
    ...(isUnnamed && { fromIsEnvelopeSender: true }),
    ...(isAuthenticated && { hasAuthenticationResults: true }),
    fromName: start(from?.name ?? '', FROM_NAME),
    subject: start(envelope.subject, SUBJECT),
    preview: index.preview,
    size: index.size,
    hasAttachments: index.attachments.length > 0,
    attachmentCount: index.attachments.length,
  };
}

/** An id is never cut: a part of an id is not an id. */
function usable(id: string | null): string | null {
  return id !== null && Buffer.byteLength(id) <= ID_OCTETS ? id : null;
}

/** Returns the first id, which is the start of the thread, and as many of the last ones, the nearest ancestors, as fit. */
function nearest(references: readonly string[]): string[] {
  const ids = references.filter((id) => usable(id) !== null);
  const [first, ...others] = ids;
  if (first === undefined) return [];
  let room = REFERENCES_OCTETS - Buffer.byteLength(first);
  let from = others.length;
  while (from > 0 && others.length - from < REFERENCES - 1) {
    room -= Buffer.byteLength(others[from - 1]!);
    if (room < 0) break;
    from--;
  }
  return from === 0 ? ids : [first, ...others.slice(from)];
}

/** Cuts the text without leaving half of a surrogate pair, which jsonb refuses. */
function start(text: string, characters: number): string {
  if (text.length <= characters) return text;
  const isPair = /[\uD800-\uDBFF]/.test(text[characters - 1]!);
  return text.slice(0, isPair ? characters - 1 : characters);
}
