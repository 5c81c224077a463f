// An attachment as REST shows it: a file name that is safe to save under, a media type that is safe to send, and the size after decoding.
import libmime from 'libmime';
import type { IndexedAttachment, IndexedPart } from '../message-index.js';
import { isMessage } from './content-fields.js';
import { safeName } from './file-name.js';
import type { PartBuilder } from './part-builder.js';

const TOKEN = /^[\w.:+-]{1,64}$/;

export function attachmentOf(part: IndexedPart, builder: PartBuilder): IndexedAttachment {
  return {
    section: part.section,
    fileName: fileName(part, builder.size?.fileName ?? ''),
    contentType: `${part.type}/${part.subtype}`,
    ...textParameters(part),
    size: builder.size?.finish() ?? part.bodyEnd - part.bodyStart,
    contentId: contentId(part.id ?? '') || null,
    inline: part.disposition === 'inline' || (part.disposition === null && part.id !== null),
  };
}

/** Returns the id in a Content-ID or a `start` parameter, which may have comments around its brackets, or no brackets. */
export function contentId(field: string): string {
  return (/<([^<>]*)>/.exec(field)?.[1] ?? field.replace(/^\s*<|>\s*$/g, '')).trim();
}

/** Returns the charset of a text and the method of an invitation (RFC 6047 §2.4). */
function textParameters({ type, subtype, params }: IndexedPart): Pick<IndexedAttachment, 'charset' | 'method'> {
  if (type !== 'text') return {};
  const charset = TOKEN.exec(params['charset'] ?? '')?.[0].toLowerCase();
  const method = subtype === 'calendar' ? TOKEN.exec(params['method'] ?? '')?.[0].toUpperCase() : undefined;
  return { ...(charset !== undefined && { charset }), ...(method !== undefined && { method }) };
}

/** `encoded` is the file name that the transfer encoding contains. */
function fileName(part: IndexedPart, encoded: string): string {
  return (
    safeName(part.dispositionParams['filename'] ?? '') ||
    safeName(part.params['name'] ?? '') ||
    safeName(encoded) ||
    generatedName(part)
  );
}

function generatedName(part: IndexedPart): string {
  const isReport = (part.type === 'message' && !isMessage(part)) || part.subtype === 'rfc822-headers';
  if (isReport) return `${part.subtype}-${part.section}.txt`;
  if (part.type === 'message') {
    const subject = safeName((part.envelope?.subject ?? '').slice(0, 100));
    return `${subject || `message-${part.section}`}.eml`;
  }
  return `attachment-${part.section}.${libmime.detectExtension(`${part.type}/${part.subtype}`)}`;
}
