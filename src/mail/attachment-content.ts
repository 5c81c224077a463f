// The content of an attachment of a message: that of its part, or of a file within its part, with the transfer encoding undone.
import { decodeStream, sliceStream } from './decode/transfer.js';
import type { IndexedAttachment, IndexedPart, MessageIndex } from './message-index.js';
import { partOf } from './parts.js';

/** The part that has the attachment; undefined when the index does not have it. */
export function attachmentPart({ root }: MessageIndex, { section }: IndexedAttachment): IndexedPart | undefined {
  return partOf(root, section.replace(/\/.*$/, ''));
}

/** `octets`: reads octets [start, end) of the message. */
export function attachmentContent(
  { within }: IndexedAttachment,
  { encoding, bodyStart, bodyEnd }: IndexedPart,
  octets: (start: number, end: number) => AsyncIterable<Uint8Array>,
): AsyncIterable<Uint8Array> {
  const content = decodeStream(encoding, octets(bodyStart, bodyEnd));
  return within === undefined ? content : sliceStream(content, within);
}
