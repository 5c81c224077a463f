// Details of emails as JSON. The part that never changes is encoded once and cached, unless the message is large.
import type { EmailDetail } from '../../../../actors/mailbox/protocol.js';
import type { MessageIndex } from '../../../../mail-format/message-index.js';
import type { BodyDecoder, Viewer } from '../../../../message-content/decode/decoder.js';
import type { BlobStore } from '../../../../store/blobs.js';
import { rangesOf } from './body-views.js';
import { contentOf, detailJson } from './email-detail.js';
import type { EncodedContent, EncodedContents } from './encoded-contents.js';
import { headerView, verdictsView } from './header-views.js';

export interface DetailSources {
  readonly blobs: BlobStore;
  readonly decoder: Pick<BodyDecoder, 'bodies' | 'room'>;
  /** The cached contents of messages that were shown recently. */
  readonly contents: EncodedContents;
}

interface DetailView {
  readonly json: string;
  /** The number of characters of both bodies and of the header. */
  readonly characters: number;
}

const NO_BODIES = { text: '', html: '', partial: true };

/** Returns a cached detail; undefined when the message has to be read. */
export function knownDetail(
  { contents }: Pick<DetailSources, 'contents'>,
  email: EmailDetail,
  { accountId }: Viewer,
): DetailView | undefined {
  // The cached content does not contain blind recipients, whom the message does not name.
  if (email.blindRecipients !== undefined) return undefined;
  const content = contents.of(accountId, email);
  return content && detailView(email, content);
}

/** Reads the bodies. @throws what the decoder throws */
export async function readDetail(
  { blobs, decoder, contents }: DetailSources,
  email: EmailDetail,
  index: MessageIndex,
  viewer: Viewer,
): Promise<DetailView> {
  const { hasAuthenticationResults } = email;
  const [bodies, header] = await Promise.all([
    decoder.bodies(index, rangesOf(blobs, email.blob), viewer),
    headerView(blobs, email.blob, index, { ...(hasAuthenticationResults && { hasAuthenticationResults }) }),
  ]);
  const { pairs: headers, verdicts } = header;
  const isPartial = bodies.partial || header.isCut;
  const text = JSON.stringify(contentOf(email, index, { bodies, headers, verdicts, isPartial }));
  const content = { text, characters: bodies.text.length + bodies.html.length + index.root.bodyStart };
  // A partial result is not cached: a later request may have time for the rest.
  if (!bodies.partial && email.blindRecipients === undefined) contents.keep(viewer.accountId, email, content);
  return detailView(email, content);
}

/** A detail without bodies and headers, marked as partial. @throws StoreFault */
export async function detailWithoutBodies(
  { blobs }: Pick<DetailSources, 'blobs'>,
  email: EmailDetail,
  index: MessageIndex,
): Promise<string> {
  const verdicts = await verdictsView(blobs, email, index);
  return detailJson(
    email,
    JSON.stringify(contentOf(email, index, { bodies: NO_BODIES, headers: [], verdicts, isPartial: true })),
  );
}

function detailView(email: EmailDetail, { text, characters }: EncodedContent): DetailView {
  return { json: detailJson(email, text), characters };
}
