// Bytes of an email: an attachment, decoded, and the whole message as it was received. Both stream from the blob at the
// client's pace. They are strangers' bytes on our origin, so nothing may run or sniff them.
import type { Mailboxes } from '../../../actors/mailbox/protocol.js';
import { decodeStream } from '../../../mail/decode/transfer.js';
import { partOf } from '../../../mail/parts.js';
import type { BlobStore } from '../../../store/blobs.js';
import { attachmentDisposition } from '../content-disposition.js';
import type { HeaderField } from '../exchange.js';
import { idParameter } from '../fields.js';
import { notFound, refused } from '../problem.js';
import { entityTag } from '../revalidation.js';
import { binary, defineRoute, EMPTY, READ, type Route } from '../route.js';
import { attachmentId } from './email-detail.js';

const FILE_NAME = { 'Content-Disposition': 'attachment, with a file name (RFC 6266)' };
const INERT: HeaderField = ['Content-Security-Policy', "sandbox; default-src 'none'"];
/** The bytes never change; whether they are still the account's to see is asked each time. */
const ASKED_EACH_TIME: HeaderField = ['Cache-Control', 'private, no-cache'];
const MEDIA_TYPE = /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+$/;

export function contentRoutes(
  base: string,
  tags: readonly string[],
  { mailboxes, blobs }: { readonly mailboxes: Mailboxes; readonly blobs: BlobStore },
): readonly Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: `${base}/{id}/attachments/{attachmentId}`,
      summary: 'An attachment, decoded',
      description:
        'Sent with the media type it came with, to be saved and not shown: `attachment`, sandboxed, not sniffed.',
      tags,
      access: READ,
      params: { id: idParameter(), attachmentId: idParameter() },
      replies: { 200: binary('*/*', FILE_NAME), 304: EMPTY },
      handler: async ({ principal, params }) => {
        const outcome = await mailboxes.of(principal.accountId).ask('detail', { emailId: params.id });
        if (outcome.reply === undefined) return refused(outcome.refusal);
        const { id, blob } = outcome.reply;
        const index = await blobs.index(blob);
        const found = index?.attachments.find((entry) => attachmentId(id, entry) === params.attachmentId);
        const part = index && found && partOf(index.root, found.section);
        if (found === undefined || part === undefined) return notFound();
        const raw = blobs.stream(blob, part.bodyStart, part.bodyEnd);
        return {
          status: 200,
          headers: [
            INERT,
            ASKED_EACH_TIME,
            entityTag(blob, found.section),
            ['Content-Type', MEDIA_TYPE.test(found.contentType) ? found.contentType : 'application/octet-stream'],
            ['Content-Disposition', attachmentDisposition(found.fileName)],
          ],
          stream: { length: found.size, chunks: decodeStream(part.encoding, raw) },
        };
      },
    }),
    defineRoute({
      method: 'GET',
      path: `${base}/{id}/export/eml`,
      summary: 'The message as it was received',
      tags,
      access: READ,
      params: { id: idParameter() },
      replies: { 200: binary('message/rfc822', FILE_NAME), 304: EMPTY },
      handler: async ({ principal, params }) => {
        const outcome = await mailboxes.of(principal.accountId).ask('detail', { emailId: params.id });
        if (outcome.reply === undefined) return refused(outcome.refusal);
        const { blob, sizeBytes, subject } = outcome.reply;
        const name = subject.trim() === '' ? 'message' : Array.from(subject.trim()).slice(0, 100).join('');
        return {
          status: 200,
          headers: [
            INERT,
            ASKED_EACH_TIME,
            entityTag(blob),
            ['Content-Type', 'message/rfc822'],
            ['Content-Disposition', attachmentDisposition(`${name}.eml`)],
          ],
          stream: { length: sizeBytes, chunks: blobs.stream(blob, 0, sizeBytes) },
        };
      },
    }),
  ];
}
