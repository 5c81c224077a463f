// The image proxy: loads an image of a mail for a reader, so that its server learns neither the reader's address nor when and with which
// program the mail is read. The signature in the URL is the credential, because a sandboxed frame sends no cookie; the request counts for
// the account that it names.
import { optional } from 'superstruct';
import type { Rates } from '../../../auth/rates.js';
import type { HeaderField } from '../exchange.js';
import { text } from '../fields.js';
import type { DownloadedImage, ImageDownloads, RefusedImage } from '../images/image-download.js';
import { IMAGE_PROXY, type ImageUrls } from '../images/image-urls.js';
import { Problem, tooMany, unavailable } from '../problem.js';
import { binary, defineRoute, type Route } from '../route.js';
import { INERT } from './emails/attachment-reply.js';

export interface ImageProxySources {
  readonly urls: ImageUrls;
  readonly downloads: ImageDownloads;
  readonly rates: Rates;
}

const FIELDS: readonly HeaderField[] = [
  INERT,
  ['Cache-Control', 'private, max-age=3600, immutable'],
  // The frame of a mail has an opaque origin, which is never the same origin.
  ['Cross-Origin-Resource-Policy', 'cross-origin'],
];

export function imageProxyRoute({ urls, downloads, rates }: ImageProxySources): Route {
  return defineRoute({
    method: 'GET',
    path: IMAGE_PROXY,
    summary: 'A remote image of an email',
    description:
      'The URLs come from `POST /api/emails/{id}/images` and are good for an hour; no other credential is needed. PNG, JPEG, GIF, WebP and AVIF by their content, at most 10 MiB, in at most 5 s. 403: the signature is wrong or too old, the address is private, the port is not 80 or 443, or it is no such image. 502: it is too large, too slow or not there.',
    tags: ['Emails'],
    access: 'public',
    rate: 'unlimited',
    query: {
      url: optional(text()),
      account: optional(text()),
      expires: optional(text({ description: 'In seconds since 1970' })),
      signature: optional(text()),
    },
    replies: { 200: binary('image/*') },
    problems: [403, 429, 502, 503],
    handler: async ({ query, remoteAddress, aborted }) => {
      const tally = rates.tally(remoteAddress);
      const image = urls.verified(query);
      const wait = image === undefined ? tally.countAnonymous('plain') : tally.account(image.accountId, 'images');
      if (wait > 0) return tooMany(wait);
      if (image === undefined) return new Problem(403, { detail: 'The signature is wrong or too old.' });
      const found = await downloads.download(image.accountId, image.url, aborted);
      return 'refusal' in found ? problemOf(found) : replyOf(found);
    },
  });
}

function replyOf({ type, pieces, octets, release }: DownloadedImage) {
  const headers: readonly HeaderField[] = [['Content-Type', type], ...FIELDS];
  const stream = { length: octets, chunks: each(pieces) };
  return { status: 200, headers, stream, finished: release } as const;
}

async function* each(pieces: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* pieces;
}

function problemOf({ refusal, detail }: RefusedImage): Problem {
  if (refusal === 'busy') return unavailable();
  return new Problem(refusal === 'refused' ? 403 : 502, { detail });
}
