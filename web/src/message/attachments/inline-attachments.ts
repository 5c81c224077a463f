// Which attachments of a mail its HTML shows as images, by their Content-ID, within bounds of number and size.
import type { Attachment } from '../../../../src/client/index.js';

const MOST_BYTES_EACH = 5_000_000;
const MOST_BYTES = 15_000_000;
const MOST_IMAGES = 60;

/** The attachments that the HTML names, of a size that can be shown. */
export function inlineAttachments(
  attachments: readonly Attachment[],
  contentIds: readonly string[],
): ReadonlyMap<string, Attachment> {
  const found = new Map<string, Attachment>();
  let bytes = 0;
  for (const contentId of contentIds) {
    const attachment = attachments.find(
      (one) => one.contentId !== undefined && bare(one.contentId) === bare(contentId),
    );
    if (attachment === undefined || attachment.sizeBytes > MOST_BYTES_EACH) continue;
    bytes += attachment.sizeBytes;
    if (bytes > MOST_BYTES || found.size === MOST_IMAGES) break;
    found.set(contentId, attachment);
  }
  return found;
}

const bare = (contentId: string): string => contentId.replace(/^<(.*)>$/, '$1');
