// The content of an outbound email or a draft: bodies and recipients as the client gave them where the mailbox stores them, otherwise as
// the message has them, and its attachments.
import type { OutboundEmail } from '../../../../actors/mailbox/outbound/protocol.js';
import type { MailboxProtocol } from '../../../../actors/mailbox/protocol.js';
import type { Reply } from '../../../../actors/runtime/protocol.js';
import { givenPairs } from '../../../../mail-format/header/header-pairs.js';
import type { IndexedAddress, MessageIndex } from '../../../../mail-format/message-index.js';
import type { RecipientType } from '../../../../mail-format/outbound-status.js';
import { LONGEST_DISPLAY_NAME } from '../../../../mail-format/writing/reply.js';
import type { Viewer } from '../../../../message-content/decode/decoder.js';
import type { BlobStore } from '../../../../store/blobs.js';
import { rangesOf } from '../emails/body-views.js';
import { attachmentOf, derivedId, versionOf } from '../emails/email-detail.js';
import { headerView } from '../emails/header-views.js';
import { type OutboundSources, oneLine } from './outbound-sending.js';
import type { Content } from './outbound-shapes.js';

type Stored = Reply<MailboxProtocol, 'outbound'>;
/** `isComposedHere`: this server composed the message, not a mail program. */
export type Outbound = Stored & { readonly isComposedHere: boolean };

/** A draft without stored recipients gets those that its message names: a mail program wrote them, and they may be invalid addresses. */
export async function withRecipients(blobs: Pick<BlobStore, 'index'>, outbound: Stored): Promise<Outbound> {
  const { email } = outbound;
  if (!lacksRecipients(email)) return { ...outbound, isComposedHere: true };
  const recipients = recipientsIn(email, await blobs.index(email.blob));
  // A draft from REST that has no recipients yet names none in its message.
  return { ...outbound, isComposedHere: recipients.length === 0, email: { ...email, recipients } };
}

/** Does the same for several emails. */
export async function allWithRecipients(
  blobs: Pick<BlobStore, 'indexes'>,
  emails: readonly OutboundEmail[],
): Promise<readonly OutboundEmail[]> {
  const hashes = emails.filter(lacksRecipients).map(({ blob }) => blob);
  if (hashes.length === 0) return emails;
  const indexes = await blobs.indexes(hashes);
  return emails.map((email) =>
    lacksRecipients(email) ? { ...email, recipients: recipientsIn(email, indexes.get(email.blob)) } : email,
  );
}

const lacksRecipients = ({ status, recipients }: OutboundEmail): boolean =>
  status === 'Draft' && recipients.length === 0;

function recipientsIn({ id, blob }: OutboundEmail, index: MessageIndex | undefined): OutboundEmail['recipients'] {
  if (index === undefined) return [];
  const named = (type: RecipientType, addresses: readonly IndexedAddress[]) =>
    addresses
      .filter(({ address }) => address !== '')
      .map(({ name, address }, i) => ({
        id: derivedId(`${versionOf(id, blob)}/${type}/${i}`),
        address,
        displayName: oneLine(name, LONGEST_DISPLAY_NAME) || null,
        type,
        status: 'Pending' as const,
        deliveredAt: null,
        lastError: null,
        statusCode: null,
      }));
  const { to, cc, bcc } = index.envelope;
  return [...named('To', to), ...named('Cc', cc), ...named('Bcc', bcc)];
}

/**
 * The content for a reply. It is called within `withRoom`, unless the mailbox stores the bodies, as it does for drafts. Undefined when the
 * message is gone. @throws StoreFault, DecodingAbandoned
 */
export async function contentOf(
  { blobs, decoder }: Pick<OutboundSources, 'blobs' | 'decoder'>,
  { email, content, isComposedHere }: Outbound,
  viewer: Viewer,
): Promise<Content | undefined> {
  const { id, blob } = email;
  const index = await blobs.index(blob);
  if (index === undefined) return undefined;
  const { pairs } = await headerView(blobs, blob, index);
  const rest = {
    attachments: index.attachments.map((part) => attachmentOf(versionOf(id, blob), part)),
    replyTo: index.envelope.replyTo[0]?.address || null,
    // The fields that a mail program adds for itself are not sent, so they are not shown.
    headers: givenPairs(pairs, isComposedHere),
  };
  if (content !== null) return { ...content, ...rest };
  const { text, html, partial } = await decoder.bodies(index, rangesOf(blobs, blob), viewer);
  return { textBody: text || null, htmlBody: html || null, ...rest, ...(partial && { isPartial: true }) };
}
