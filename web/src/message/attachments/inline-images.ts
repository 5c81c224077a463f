// The images of a mail that are among its attachments, as `data:` URLs: the frame has no origin, so it can load neither the attachment nor
// a `blob:` URL of the page.
import type { Attachment, EmailDetail, MansioClient } from '../../../../src/client/index.js';
import { imageType, SIGNATURE_BYTES } from './attachment-kind.js';
import { inlineAttachments } from './inline-attachments.js';

/** One that cannot be read, or that is no image, is left out. */
export async function imagesByContentId(
  client: Pick<MansioClient, 'attachmentUrl' | 'blob'>,
  { id, attachments }: EmailDetail,
  contentIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const read = async ([contentId, attachment]: readonly [string, Attachment]) => {
    try {
      const url = await dataUrl(await client.blob(client.attachmentUrl(id, attachment.id)));
      return url === undefined ? [] : [[contentId, url] as const];
    } catch {
      return [];
    }
  };
  const images = await Promise.all([...inlineAttachments(attachments, contentIds)].map(read));
  return new Map(images.flat());
}

async function dataUrl(file: Blob): Promise<string | undefined> {
  const type = imageType(new Uint8Array(await file.slice(0, SIGNATURE_BYTES).arrayBuffer()));
  if (type === undefined) return undefined;
  const reader = new FileReader();
  return new Promise((resolve, reject) => {
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(new Blob([file], { type }));
  });
}
