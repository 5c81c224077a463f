// What an outbound email or a draft consists of: its bodies and recipients as they were given where the mailbox has them, else
// as its message has them, and its attachments.
import type { MailboxProtocol } from '../../../actors/mailbox/protocol.js';
import type { Reply } from '../../../actors/runtime/protocol.js';
import type { Viewer } from '../../../decode/decoder.js';
import type { IndexedAddress } from '../../../mail/message-index.js';
import type { RecipientType } from '../../../mail/outbound-status.js';
import { LONGEST_DISPLAY_NAME } from '../../../mail/reply.js';
import type { BlobStore } from '../../../store/blobs.js';
import { attachmentOf, derivedId, versionOf } from './email-detail.js';
import { type OutboundSources, oneLine } from './outbound-sending.js';
import type { Content } from './outbound-shapes.js';
import { rangesOf } from './shown-bodies.js';

type Outbound = Reply<MailboxProtocol, 'outbound'>;

/** A draft without recipients has those that its message names: a mail program wrote them, and addresses may be none. */
export async function withRecipients(blobs: Pick<BlobStore, 'index'>, outbound: Outbound): Promise<Outbound> {
  const { id, status, blob, recipients } = outbound.email;
  if (status !== 'Draft' || blob === null || recipients.length > 0) return outbound;
  const envelope = (await blobs.index(blob))?.envelope;
  if (envelope === undefined) return outbound;
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
  const { to, cc, bcc } = envelope;
  const all = [...named('To', to), ...named('Cc', cc), ...named('Bcc', bcc)];
  return { ...outbound, email: { ...outbound.email, recipients: all } };
}

/** For a reply made within `withRoom`, unless the mailbox has the bodies, as it has those of drafts. Undefined when the message is gone. @throws StoreFault, DecodingAbandoned */
export async function contentOf(
  { blobs, decoder }: Pick<OutboundSources, 'blobs' | 'decoder'>,
  { email, content }: Outbound,
  viewer: Viewer,
): Promise<Content | undefined> {
  const { id, blob } = email;
  if (blob === null) return { textBody: null, htmlBody: null, ...content, attachments: [] };
  const index = await blobs.index(blob);
  if (index === undefined) return undefined;
  const attachments = index.attachments.map((part) => attachmentOf(versionOf(id, blob), part));
  if (content !== null) return { ...content, attachments };
  const { text, html, partial } = await decoder.bodies(index, rangesOf(blobs, blob), viewer);
  return { textBody: text || null, htmlBody: html || null, attachments, ...(partial && { isPartial: true }) };
}
