// The remote images of an email: their signed URLs at the image proxy.
import type { Mailboxes } from '../../../../actors/mailbox/protocol.js';
import { type BodyDecoder, bodyOctets } from '../../../../message-content/decode/decoder.js';
import { remoteImages } from '../../../../message-content/decode/remote-images.js';
import type { BlobStore } from '../../../../store/blobs.js';
import { idParameter, leaf } from '../../fields.js';
import type { ImageUrls } from '../../images/image-urls.js';
import { notFound, refused } from '../../problem.js';
import { defineRoute, READ, type Route } from '../../route.js';
import { rangesOf, viewerOf, withRoom } from './body-views.js';

export interface EmailImageSources {
  readonly mailboxes: Mailboxes;
  readonly blobs: Pick<BlobStore, 'index' | 'readRanges'>;
  readonly decoder: Pick<BodyDecoder, 'bodies' | 'room'>;
  readonly imageUrls: ImageUrls;
}

const proxiedImages = leaf<Readonly<Record<string, string>>>(
  'texts',
  (value) => (typeof value === 'object' && value !== null) || 'must be an object',
  { description: 'The URL of each image as `new URL(…).href` writes it, and the path and query that load it' },
);

export function emailImagesRoute(
  base: string,
  tags: readonly string[],
  { mailboxes, blobs, decoder, imageUrls }: EmailImageSources,
): Route {
  return defineRoute({
    method: 'POST',
    path: `${base}/{id}/images`,
    summary: 'The remote images of an email, as URLs of the image proxy',
    description:
      'An object that maps the URL of each image to `/api/image-proxy?…`, which loads it for an hour. Images are those of `img`, `source`, `input`, `background` and `url()` of styles, with http or https: the first 500 that have at most 2,048 characters. A URL without a scheme counts as https.',
    tags,
    access: READ,
    params: { id: idParameter() },
    replies: { 200: proxiedImages },
    handler: async (call) => {
      const { accountId } = call.principal;
      const outcome = await mailboxes.of(accountId).ask('detail', { emailId: call.params.id });
      if (outcome.reply === undefined) return refused(outcome.refusal);
      const { blob } = outcome.reply;
      const index = await blobs.index(blob);
      // The email may be deleted between the two reads, and its blob collected.
      if (index === undefined) return notFound();
      const viewer = viewerOf(call);
      return withRoom(decoder, bodyOctets(index), viewer, async () => {
        const { html } = await decoder.bodies(index, rangesOf(blobs, blob), viewer);
        const found = (await remoteImages(html)).map((url) => [url, imageUrls.signed(accountId, url)]);
        return { status: 200 as const, json: Object.fromEntries(found) };
      });
    },
  });
}
