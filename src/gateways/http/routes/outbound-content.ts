// What an outbound email or a draft consists of: its bodies as they were given where the mailbox has them, else as its message
// has them, and its attachments.
import type { MailboxProtocol } from '../../../actors/mailbox/protocol.js';
import type { Reply } from '../../../actors/runtime/protocol.js';
import type { Viewer } from '../../../decode/decoder.js';
import { attachmentOf, versionOf } from './email-detail.js';
import type { OutboundSources } from './outbound-sending.js';
import type { Content } from './outbound-shapes.js';
import { rangesOf } from './shown-bodies.js';

type Outbound = Reply<MailboxProtocol, 'outbound'>;

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
