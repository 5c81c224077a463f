// Reads the content of an attachment: the content of its part, or of a file within its part, without the transfer encoding.
import { decodeStream, sliceStream } from '../decode/transfer.js';
import type { IndexedAttachment, IndexedPart, MessageIndex } from '../message-index.js';
import { partOf } from '../parts.js';

/** Returns the part that has the attachment; undefined when the index does not have it. */
export function attachmentPart({ root }: MessageIndex, { section }: IndexedAttachment): IndexedPart | undefined {
  return partOf(root, section.replace(/\/.*$/, ''));
}

/** `octets` reads the octets [start, end) of the message. */
export function attachmentContent(
  { within }: IndexedAttachment,
  { encoding, bodyStart, bodyEnd }: IndexedPart,
  octets: (start: number, end: number) => AsyncIterable<Uint8Array>,
): AsyncIterable<Uint8Array> {
  const content = decodeStream(encoding, octets(bodyStart, bodyEnd));
  return within === undefined ? content : sliceStream(content, within);
}
