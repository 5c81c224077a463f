// Replies with an attachment of a stored message, streamed from the blob at the client's pace. Its bytes come from a stranger and are
// served from our origin, so browsers must not run or sniff them.
import { attachmentContent, attachmentPart } from '../../../../mail-format/writing/attachment-content.js';
import type { BlobStore } from '../../../../store/blobs.js';
import { attachmentDisposition } from '../../content-disposition.js';
import type { HeaderField, ReplyStream } from '../../exchange.js';
import { entityTag } from '../../pipeline/revalidation.js';
import { notFound, type Problem } from '../../problem.js';
import { binary, EMPTY } from '../../route.js';
import { attachmentId } from './email-detail.js';

export const FILE_NAME = { 'Content-Disposition': 'attachment, with a file name (RFC 6266)' };
export const INERT: HeaderField = ['Content-Security-Policy', "sandbox; default-src 'none'"];
/** The bytes never change, but each request checks whether the account may still see them. */
export const ASKED_EACH_TIME: HeaderField = ['Cache-Control', 'private, no-cache'];
const MEDIA_TYPE = /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+$/;
/**
 * Types that a browser would run or apply as a part of a page: the policy of a page allows scripts and styles of its own origin, and neither
 * `attachment` nor the sandbox counts for them. Under `nosniff` no other type is a script or a style sheet. What a page refers to is requested
 * without an Authorization field, so requests with one get these types too.
 */
const ACTIVE_TYPE = /^(?:text|application)\/(?:(?:x-)?(?:ecma|java|j|live)script[\d.]*|css)$/i;

/** The common part of every route that replies with an attachment. */
export const ATTACHMENT = {
  summary: 'An attachment, decoded',
  description:
    'The reply has the media type of the attachment, and headers that make browsers save it: `attachment`, sandboxed, `nosniff`. Without an Authorization field, scripts and style sheets have the type `application/octet-stream`.',
  replies: { 200: binary('*/*', FILE_NAME), 304: EMPTY },
} as const;

interface Owner {
  /** The id of the email, or the version of outbound mail. */
  readonly id: string;
  readonly blob: string;
}

interface Found {
  readonly status: 200;
  readonly headers: readonly HeaderField[];
  readonly stream: ReplyStream;
}

/** @throws StoreFault */
export async function attachmentReply(
  blobs: Pick<BlobStore, 'index' | 'stream'>,
  { id, blob }: Owner,
  wanted: string,
  { hasAuthorization }: { readonly hasAuthorization: boolean },
): Promise<Found | Problem> {
  const index = await blobs.index(blob);
  const found = index?.attachments.find((entry) => attachmentId(id, entry.section) === wanted);
  const part = index && found && attachmentPart(index, found);
  if (found === undefined || part === undefined) return notFound();
  const chunks = attachmentContent(found, part, (start, end) => blobs.stream(blob, start, end));
  return {
    status: 200,
    headers: [
      INERT,
      ASKED_EACH_TIME,
      entityTag(blob, found.section),
      ['Vary', 'Authorization'],
      ['Content-Type', servedType(found.contentType, hasAuthorization)],
      ['Content-Disposition', attachmentDisposition(found.fileName)],
    ],
    stream: { length: found.size, chunks },
  };
}

function servedType(contentType: string, mayBeActive: boolean): string {
  const isServed = MEDIA_TYPE.test(contentType) && (mayBeActive || !ACTIVE_TYPE.test(contentType));
  return isServed ? contentType : 'application/octet-stream';
}
