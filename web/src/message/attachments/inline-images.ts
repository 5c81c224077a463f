// The images of a mail that are among its attachments, as `data:` URLs: the frame has no origin, so it can load neither the attachment nor
// a `blob:` URL of the page.
import type { Attachment, EmailDetail, MansioClient } from '../../../../src/client/index.js';
import { imageTypeOf } from './attachment-kind.js';
import { dataUrlOf } from './data-url.js';
import { inlineAttachments } from './inline-attachments.js';

/** One that cannot be read, or that is no image, is left out. */
export async function imagesByContentId(
  client: Pick<MansioClient, 'attachmentUrl' | 'blob'>,
  { id, attachments }: EmailDetail,
  contentIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const read = async ([contentId, attachment]: readonly [string, Attachment]) => {
    try {
      const file = await client.blob(client.attachmentUrl(id, attachment.id));
      const type = await imageTypeOf(file);
      return type === undefined ? [] : [[contentId, await dataUrlOf(new Blob([file], { type }))] as const];
    } catch {
      return [];
    }
  };
  const images = await Promise.all([...inlineAttachments(attachments, contentIds)].map(read));
  return new Map(images.flat());
}
