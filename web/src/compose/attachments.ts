// The files of a draft: which fit, how they are named for the server, and what the next save sends. A file travels once; later saves refer
// to it by its place in the stored draft.

/** A file that the server has: in the draft itself, or in an email that is forwarded or quoted. */
export interface StoredFile {
  readonly place: 'draft' | 'email';
  /** The id of the draft or the email. */
  readonly emailId: string;
  readonly attachmentId: string;
}

/** Where the content of a stored file is read. */
export const contentPath = ({ place, emailId, attachmentId }: StoredFile): string =>
  `/api/${place === 'draft' ? 'outbound' : 'emails'}/${emailId}/attachments/${attachmentId}`;

export interface DraftFile {
  /** Its name within the page. */
  readonly key: string;
  readonly fileName: string;
  readonly contentType: string;
  readonly size: number;
  /** Set for an image within the text. */
  readonly contentId: string | null;
  /** Null until it is uploaded. */
  readonly stored: StoredFile | null;
}

/** What base64 in lines of 76 characters adds. */
const ENCODED = 78 / 57;
/** Kept for header and text. */
const ROOM_FOR_TEXT = 64 * 1024;
const MOST_FILES = 100;

export type FileProblem = 'tooMany' | 'tooLarge';

/** Whether `file` still fits besides the others, in a message of at most `maxMessageSize` octets. */
export function fileProblem(
  file: { readonly size: number },
  others: readonly { readonly size: number }[],
  maxMessageSize: number,
): FileProblem | undefined {
  if (others.length >= MOST_FILES) return 'tooMany';
  return file.size > roomFor(others, maxMessageSize) ? 'tooLarge' : undefined;
}

/** How large another file may be. */
export function roomFor(others: readonly { readonly size: number }[], maxMessageSize: number): number {
  const taken = others.reduce((sum, { size }) => sum + size, 0);
  return Math.max(0, Math.floor((maxMessageSize - ROOM_FOR_TEXT) / ENCODED) - taken);
}

export type AttachmentInput =
  | { readonly fileName: string; readonly contentType: string; readonly content: string; readonly contentId?: string }
  | { readonly emailId: string; readonly attachmentId: string; readonly contentId?: string };

/** `contents`: base64 by key, of the files that are uploaded with this save; others wait. */
export function attachmentInputs(
  files: readonly DraftFile[],
  contents: ReadonlyMap<string, string>,
): readonly AttachmentInput[] {
  return files.flatMap(({ key, fileName, contentType, contentId, stored }): AttachmentInput[] => {
    const inline = contentId === null ? {} : { contentId };
    const content = contents.get(key);
    if (stored !== null) return [{ emailId: stored.emailId, attachmentId: stored.attachmentId, ...inline }];
    return content === undefined ? [] : [{ fileName: fileName || 'file', contentType, content, ...inline }];
  });
}

/**
 * The files that a save has sent, as the stored draft names them now. The message has its inline images first, which have their names; the
 * others are in the order of the save.
 */
export function storedAs(
  files: readonly DraftFile[],
  sent: readonly string[],
  draftId: string,
  listed: readonly Pick<StoredAttachment, 'id' | 'contentId'>[],
): readonly DraftFile[] {
  const wasSent = files.filter(({ key }) => sent.includes(key));
  const names = new Set(wasSent.flatMap(({ contentId }) => contentId ?? []));
  const byName = new Map(listed.map(({ id, contentId = '' }) => [contentId, id]));
  const others = listed.filter(({ contentId }) => contentId === undefined || !names.has(contentId));
  const inOrder = wasSent.filter(({ contentId }) => contentId === null).map(({ key }) => key);
  return files.map((file) => {
    const { key, contentId } = file;
    if (!sent.includes(key)) return file;
    const found = contentId === null ? others[inOrder.indexOf(key)]?.id : byName.get(contentId);
    return found === undefined ? file : { ...file, stored: { place: 'draft', emailId: draftId, attachmentId: found } };
  });
}

/**
 * The files of a window after another window has stored a version of its own: each is looked for in that version, and `lost` are those that
 * it does not have.
 */
export function foundIn(
  files: readonly DraftFile[],
  draft: { readonly id: string; readonly attachments: readonly StoredAttachment[] } | undefined,
): { readonly files: readonly DraftFile[]; readonly lost: readonly string[] } {
  const left = [...(draft?.attachments ?? [])];
  const lost: string[] = [];
  const found = files.flatMap((file): DraftFile[] => {
    if (file.stored?.place !== 'draft') return [file];
    const at = left.findIndex(
      (one) =>
        one.fileName === file.fileName &&
        one.sizeBytes === file.size &&
        one.contentId === (file.contentId ?? undefined),
    );
    const [one] = at < 0 ? [] : left.splice(at, 1);
    if (one === undefined || draft === undefined) {
      lost.push(file.fileName);
      return [];
    }
    return [{ ...file, stored: { place: 'draft', emailId: draft.id, attachmentId: one.id } }];
  });
  return { files: found, lost };
}

/** An attachment as a stored draft lists it. */
export interface StoredAttachment {
  readonly id: string;
  readonly fileName: string;
  readonly sizeBytes: number;
  readonly contentId?: string | undefined;
}

/** Images that are written into the text keep a name that no other part has. */
export const newContentId = (random: string): string => `${random}@mansio`;
