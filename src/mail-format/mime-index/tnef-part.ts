// A TNEF part (winmail.dat) while its octets are read: its files become attachments, its texts may become the body.
import libmime from 'libmime';
import { decoderOf, type TransferDecoder } from '../decode/transfer.js';
import type { EnclosedText, IndexedAttachment } from '../message-index.js';
import { type TnefContents, type TnefFile, TnefReader, type TnefText } from '../tnef/reader.js';
import type { ContentFields } from './content-fields.js';
import { safeName } from './file-name.js';

const MEDIA_TYPE = /^[a-z\d][\w!#$&^.+-]{0,99}\/[a-z\d][\w!#$&^.+-]{0,99}$/;

export function isTnef({ type, subtype, params, dispositionParams }: ContentFields): boolean {
  if (type !== 'application') return false;
  const name = dispositionParams['filename'] ?? params['name'] ?? '';
  return subtype === 'ms-tnef' || subtype === 'vnd.ms-tnef' || name.toLowerCase() === 'winmail.dat';
}

export class TnefPart {
  readonly #decoder: TransferDecoder | undefined;
  readonly #reader: TnefReader;
  #contents: TnefContents | undefined;

  constructor(encoding: string, mostFiles: number) {
    this.#decoder = decoderOf(encoding);
    this.#reader = new TnefReader(mostFiles);
  }

  push(octets: Uint8Array): void {
    this.#reader.push(this.#decoder === undefined ? octets : this.#decoder.push(octets));
  }

  /** Called once, after the last octet. */
  finish(): void {
    if (this.#decoder !== undefined) this.#reader.push(this.#decoder.finish());
    this.#contents = this.#reader.finish();
  }

  get files(): readonly TnefFile[] {
    return this.#contents?.files ?? [];
  }

  get texts(): readonly TnefText[] {
    return this.#contents?.texts ?? [];
  }

  /** Returns the fields for the index; `section` is that of the part. */
  enclosed(section: string): { readonly enclosed?: readonly EnclosedText[] } {
    if (this.texts.length === 0) return {};
    return {
      enclosed: this.texts.map(({ subtype, charset, range }) => ({
        section: `${section}/${subtype}`,
        subtype,
        params: charset === '' ? {} : { charset },
        within: range,
      })),
    };
  }

  attachments(section: string): IndexedAttachment[] {
    return this.files.map((file, i) => attachmentOf(file, section, i + 1));
  }
}

function attachmentOf(
  { name, mediaType, contentId, range }: TnefFile,
  section: string,
  number: number,
): IndexedAttachment {
  const given = mediaType.toLowerCase();
  const contentType = MEDIA_TYPE.test(given) && !given.startsWith('multipart/') ? given : libmime.detectMimeType(name);
  return {
    section: `${section}/${number}`,
    fileName: safeName(name) || `attachment-${section}.${number}.${libmime.detectExtension(contentType)}`,
    contentType,
    size: range.end - range.start,
    contentId: contentId || null,
    inline: contentId !== '',
    within: range,
  };
}
