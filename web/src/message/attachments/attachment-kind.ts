// What kind of file an attachment is: its icon, and if the page can show it. The type that the sender names is not believed where it
// matters: an image is shown only when its first bytes are those of an image.
import type { Attachment } from '../../../../src/client/index.js';

type FileIcon = 'image' | 'calendar' | 'file-text' | 'music' | 'video' | 'mail' | 'file';
type View = 'image' | 'text' | 'pdf';

export interface Kind {
  readonly icon: FileIcon;
  /** How it is shown; undefined for a file that can only be saved. */
  readonly view?: View;
}

const ICONS: readonly (readonly [type: RegExp, icon: FileIcon])[] = [
  [/^image\//, 'image'],
  [/^text\/calendar$/, 'calendar'],
  [/^text\/|pdf|word|opendocument\.text/, 'file-text'],
  [/^audio\//, 'music'],
  [/^video\//, 'video'],
  [/^message\//, 'mail'],
];

export function kindOf({ contentType }: Pick<Attachment, 'contentType'>): Kind {
  const type = contentType.toLowerCase().split(';')[0]!.trim();
  const icon = ICONS.find(([pattern]) => pattern.test(type))?.[1] ?? 'file';
  const view = viewOf(type);
  return view === undefined ? { icon } : { icon, view };
}

function viewOf(type: string): View | undefined {
  if (/^image\/(?:png|jpe?g|gif|webp|avif)$/.test(type)) return 'image';
  if (type === 'application/pdf') return 'pdf';
  // What a text says is shown as text: of markup too.
  return /^text\/|^application\/json$/.test(type) ? 'text' : undefined;
}

const SIGNATURES: readonly (readonly [type: string, pattern: RegExp])[] = [
  ['image/png', /^.PNG\r\n.\n/s],
  ['image/jpeg', /^\xff\xd8\xff/],
  ['image/gif', /^GIF8[79]a/],
  ['image/webp', /^RIFF.{4}WEBP/s],
  ['image/avif', /^.{4}ftypavi[fs]/s],
];

const SIGNATURE_BYTES = 16;

/** The type of an image by its content; undefined for what is none. */
export async function imageTypeOf(file: Blob): Promise<string | undefined> {
  return imageType(new Uint8Array(await file.slice(0, SIGNATURE_BYTES).arrayBuffer()));
}

/** `start`: the first bytes. */
export function imageType(start: Uint8Array): string | undefined {
  const text = String.fromCharCode(...start.subarray(0, SIGNATURE_BYTES));
  return SIGNATURES.find(([, pattern]) => pattern.test(text))?.[0];
}
