// Details of emails as JSON: what of them never changes is made once, for messages that are not large.
import type { EmailDetail } from '../../../actors/mailbox/protocol.js';
import type { BodyDecoder, Viewer } from '../../../decode/decoder.js';
import type { MessageIndex } from '../../../mail/message-index.js';
import type { BlobStore } from '../../../store/blobs.js';
import { contentOf, detailJson } from './email-detail.js';
import type { EncodedContent, EncodedContents } from './encoded-contents.js';
import { rangesOf } from './shown-bodies.js';

export interface DetailSources {
  readonly blobs: BlobStore;
  readonly decoder: Pick<BodyDecoder, 'bodies' | 'room'>;
  /** Of messages that were shown lately. */
  readonly contents: EncodedContents;
}

interface ShownDetail {
  readonly json: string;
  /** Characters of both bodies. */
  readonly characters: number;
}

const NO_BODIES = { text: '', html: '', partial: true };

/** Undefined when the message has to be read. */
export function knownDetail(
  { contents }: Pick<DetailSources, 'contents'>,
  email: EmailDetail,
  { accountId }: Viewer,
): ShownDetail | undefined {
  const content = contents.of(accountId, email);
  return content && shownWith(email, content);
}

/** Reads the bodies. @throws what the decoder throws */
export async function readDetail(
  { blobs, decoder, contents }: DetailSources,
  email: EmailDetail,
  index: MessageIndex,
  viewer: Viewer,
): Promise<ShownDetail> {
  const bodies = await decoder.bodies(index, rangesOf(blobs, email.blob), viewer);
  const text = JSON.stringify(contentOf(email, index, bodies));
  const content = { text, characters: bodies.text.length + bodies.html.length };
  // What there was no time for there may be time for later.
  if (!bodies.partial) contents.keep(viewer.accountId, email, content);
  return shownWith(email, content);
}

/** Without its bodies, and marked as partial. */
export function detailWithoutBodies(email: EmailDetail, index: MessageIndex): string {
  return detailJson(email, JSON.stringify(contentOf(email, index, NO_BODIES)));
}

function shownWith(email: EmailDetail, { text, characters }: EncodedContent): ShownDetail {
  return { json: detailJson(email, text), characters };
}
