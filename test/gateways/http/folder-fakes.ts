// Folders of the fake mailboxes: enough of the mailbox's rules to see what the routes make of its replies.
import type { Folder, MailboxProtocol } from '../../../src/actors/mailbox/protocol.js';
import type { Payload } from '../../../src/actors/runtime/protocol.js';

type Of<N extends keyof MailboxProtocol['operations']> = Payload<MailboxProtocol, N>;
type Emails = readonly { readonly id: string; folder: string }[];

export const folderIdOf = (n: number) => `018f0000-0000-7000-b000-${String(n).padStart(12, '0')}`;
export const INBOX_ID = folderIdOf(1);
export const NO_FOLDER_ID = folderIdOf(999);
/** Names that the mailbox refuses. */
export const REFUSED_NAMES = { nameTooLong: 'too long', tooMany: 'one too many' } as const;

const ROLES = ['inbox', 'sent', 'junk'] as const;
const system = (): Folder[] =>
  ROLES.map((role, i) => ({
    id: folderIdOf(i + 1),
    path: role,
    name: role,
    role,
    parentId: null,
    total: 2,
    unread: 1,
    color: null,
    isSubscribed: true,
  }));

const kept = new WeakMap<object, Folder[]>();

function foldersOf(emails: Emails): Folder[] {
  const folders = kept.get(emails) ?? system();
  kept.set(emails, folders);
  return folders;
}

const isSystem = ({ role }: Folder) => role !== 'folder';

function faultOf(emails: Emails, name: string, parentId: string | null | undefined, id?: string): string | undefined {
  const folders = foldersOf(emails);
  if (typeof parentId === 'string' && !folders.some((folder) => folder.id === parentId)) return 'noSuchParent';
  if (id !== undefined && parentId === id) return 'intoItself';
  const refused = Object.entries(REFUSED_NAMES).find(([, text]) => text === name);
  if (refused !== undefined) return refused[0];
  return folders.some((folder) => folder.name === name && folder.id !== id) ? 'nameTaken' : undefined;
}

/** Emails of the fixtures are in a folder by its role, others by its id. */
const nameOf = (folder: string): string => ROLES[[1, 2, 3].findIndex((n) => folderIdOf(n) === folder)] ?? folder;

const isFolder = (emails: Emails, name: string): boolean =>
  foldersOf(emails).some(({ id, role }) => id === name || (role === name && role !== 'folder'));

export const folderAnswers = {
  nameOf,
  isFolder,
  answers: {
    folders: (emails: Emails) => ({ reply: { folders: foldersOf(emails) } }),
    createFolder: (emails: Emails, { name, parentId = null, role }: Of<'createFolder'>) => {
      const fault = faultOf(emails, name, parentId);
      if (fault !== undefined) return { refusal: fault };
      const folders = foldersOf(emails);
      const id = folderIdOf(folders.length + 1);
      const counts = { total: 0, unread: 0, color: null, isSubscribed: true };
      const folder = { id, path: name, name, role, parentId, ...counts };
      folders.push(folder);
      return { reply: folder };
    },
    renameFolder: (emails: Emails, { folderId, name, parentId, isSubscribed }: Of<'renameFolder'>) => {
      const folder = foldersOf(emails).find(({ id }) => id === folderId);
      if (folder === undefined) return { refusal: 'noSuchFolder' };
      if (isSystem(folder)) return { refusal: 'systemFolder' };
      const fault = faultOf(emails, name, parentId, folderId);
      if (fault !== undefined) return { refusal: fault };
      Object.assign(
        folder,
        { name },
        parentId !== undefined && { parentId },
        isSubscribed !== undefined && { isSubscribed },
      );
      return { reply: {} };
    },
    deleteFolder: (emails: Emails, { folderId }: Of<'deleteFolder'>) => {
      const folders = foldersOf(emails);
      const at = folders.findIndex(({ id }) => id === folderId);
      if (at < 0) return { refusal: 'noSuchFolder' };
      if (isSystem(folders[at]!)) return { refusal: 'systemFolder' };
      folders.splice(at, 1);
      return { reply: {} };
    },
    move: (emails: Emails, { selection, toFolderId, fromFolderId }: Of<'move'>) => {
      if (!isFolder(emails, toFolderId)) return { refusal: 'noSuchFolder' };
      if (fromFolderId !== undefined && !isFolder(emails, fromFolderId)) return { refusal: 'noSuchSource' };
      const ids = 'emailIds' in selection ? selection.emailIds : [];
      const moved = emails.filter(
        ({ id, folder }) =>
          ids.includes(id) && folder !== nameOf(toFolderId) && folder === nameOf(fromFolderId ?? folder),
      );
      for (const email of moved) email.folder = nameOf(toFolderId);
      return { reply: { count: moved.length, uidValidity: 1, from: [], to: [] } };
    },
  },
};
