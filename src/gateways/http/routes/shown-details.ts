// Details of emails as JSON: what of them never changes is made once, for messages that are not large.
import type { EmailDetail } from '../../../actors/mailbox/protocol.js';
import type { BodyDecoder, Viewer } from '../../../decode/decoder.js';
import type { MessageIndex } from '../../../mail/message-index.js';
import type { BlobStore } from '../../../store/blobs.js';
import { contentOf, detailJson } from './email-detail.js';
import type { EncodedContent, EncodedContents } from './encoded-contents.js';
import { rangesOf } from './shown-bodies.js';
import { shownHeader, shownVerdicts } from './shown-header.js';

export interface DetailSources {
  readonly blobs: BlobStore;
  readonly decoder: Pick<BodyDecoder, 'bodies' | 'room'>;
  /** Of messages that were shown lately. */
  readonly contents: EncodedContents;
}

interface ShownDetail {
  readonly json: string;
  /** Characters of both bodies and of the header. */
  readonly characters: number;
}

const NO_BODIES = { text: '', html: '', partial: true };

/** Undefined when the message has to be read. */
export function knownDetail(
  { contents }: Pick<DetailSources, 'contents'>,
  email: EmailDetail,
  { accountId }: Viewer,
): ShownDetail | undefined {
  // Whom the message does not name is no part of what is kept of it.
  if (email.blindRecipients !== undefined) return undefined;
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
  const { hasAuthenticationResults } = email;
  const [bodies, header] = await Promise.all([
    decoder.bodies(index, rangesOf(blobs, email.blob), viewer),
    shownHeader(blobs, email.blob, index, { ...(hasAuthenticationResults && { hasAuthenticationResults }) }),
  ]);
  const { pairs: headers, verdicts } = header;
  const isPartial = bodies.partial || header.isCut;
  const text = JSON.stringify(contentOf(email, index, { bodies, headers, verdicts, isPartial }));
  const content = { text, characters: bodies.text.length + bodies.html.length + index.root.bodyStart };
  // What there was no time for there may be time for later.
  if (!bodies.partial && email.blindRecipients === undefined) contents.keep(viewer.accountId, email, content);
  return shownWith(email, content);
}

/** Without its bodies and headers, and marked as partial. @throws StoreFault */
export async function detailWithoutBodies(
  { blobs }: Pick<DetailSources, 'blobs'>,
  email: EmailDetail,
  index: MessageIndex,
): Promise<string> {
  const verdicts = await shownVerdicts(blobs, email, index);
  return detailJson(
    email,
    JSON.stringify(contentOf(email, index, { bodies: NO_BODIES, headers: [], verdicts, isPartial: true })),
  );
}

function shownWith(email: EmailDetail, { text, characters }: EncodedContent): ShownDetail {
  return { json: detailJson(email, text), characters };
}
