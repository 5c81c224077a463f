// Copies attachments of stored messages to a new one: they are streamed from slices of the stored blob, byte for byte. Embedded messages
// stay messages if they can be sent unchanged (RFC 2046 §5.2.1 forbids encoding them), otherwise they are sent as files.

import type { IndexedAttachment, IndexedPart, MessageIndex } from '../../mail-format/message-index.js';
import { attachmentContent, attachmentPart } from '../../mail-format/writing/attachment-content.js';
import type { BlobStore } from '../../store/blobs.js';
import type { OutgoingAttachment } from './message.js';

type Blobs = Pick<BlobStore, 'stream'>;

/** Matches media types except multiparts, which are not attachments. */
export const MEDIA_TYPE = /^(?!multipart\/)[\w!#$&^.+-]{1,100}\/[\w!#$&^.+-]{1,100}$/;
const TOKEN = /^[\w.:+-]{1,64}$/;

/** `text` has no angle brackets. */
export const isContentId = (text: string): boolean => /^[!-;=?-~]{1,250}$/.test(text);

/** RFC 5322 §2.1.1. */
const LONGEST_LINE = 998;
const LF = 0x0a;
const CR = 0x0d;

/** Returns all attachments of a message. @throws StoreFault */
export async function copiedAttachments(
  blobs: Blobs,
  blob: string,
  index: MessageIndex,
): Promise<readonly OutgoingAttachment[]> {
  const copies: OutgoingAttachment[] = [];
  for (const entry of index.attachments) {
    const part = attachmentPart(index, entry);
    if (part !== undefined) copies.push(await copiedAttachment(blobs, blob, entry, part));
  }
  return copies;
}

/** @throws StoreFault */
export async function copiedAttachment(
  blobs: Blobs,
  blob: string,
  entry: IndexedAttachment,
  part: IndexedPart,
): Promise<OutgoingAttachment> {
  const content = () => attachmentContent(entry, part, (start, end) => blobs.stream(blob, start, end));
  const contentId = entry.contentId !== null && isContentId(entry.contentId) ? entry.contentId : null;
  const inline = entry.inline && contentId !== null;
  const { fileName, contentType } = entry;
  return {
    fileName,
    contentId,
    inline,
    content,
    ...(await attachmentKind(contentType, entry.within === undefined ? part.params : {}, content)),
  };
}

/** Returns the whole message as an attachment. @throws StoreFault */
export async function messageAttachment(
  blobs: Blobs,
  blob: string,
  size: number,
  fileName: string,
): Promise<OutgoingAttachment> {
  const content = () => blobs.stream(blob, 0, size);
  return { fileName, contentId: null, inline: false, content, ...(await messageKind('message/rfc822', content)) };
}

type Kind = Pick<OutgoingAttachment, 'contentType' | 'encoding'>;
type Content = OutgoingAttachment['content'];

const AS_FILE: Kind = { contentType: 'application/octet-stream', encoding: 'base64' };

/** Decides how content of this media type is sent. @throws what `content` throws */
export async function attachmentKind(
  contentType: string,
  params: Readonly<Record<string, string>>,
  content: Content,
): Promise<Kind> {
  if (!MEDIA_TYPE.test(contentType)) return AS_FILE;
  if (contentType.startsWith('message/')) return messageKind(contentType, content);
  const kept = ['charset', 'method'].flatMap((name) => {
    const value = params[name];
    return value !== undefined && TOKEN.test(value) ? [`; ${name}=${value}`] : [];
  });
  return { contentType: contentType + (contentType.startsWith('text/') ? kept.join('') : ''), encoding: 'base64' };
}

const messageKind = async (contentType: string, content: Content): Promise<Kind> =>
  (await isSevenBit(content())) ? { contentType, encoding: '7bit' } : AS_FILE;

/** Returns true when any server accepts these octets unchanged: ASCII in lines that end in CRLF and are not too long. */
async function isSevenBit(content: AsyncIterable<Uint8Array>): Promise<boolean> {
  let line = 0;
  let before = LF;
  for await (const piece of content) {
    for (const octet of piece) {
      if (octet === 0 || octet > 0x7f) return false;
      if ((octet === LF) !== (before === CR)) return false;
      line = octet === LF ? 0 : line + 1;
      if (line > LONGEST_LINE + 1) return false;
      before = octet;
    }
  }
  return before !== CR;
}
