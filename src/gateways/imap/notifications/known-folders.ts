// The folders of an account as a client knows them: the state that was last sent, plus the client's own changes. A
// client is not notified of its own changes (RFC 5465 §5). Concurrent changes of others remain a difference.

import { SEPARATOR } from '../mailboxes/mailbox-tree.js';
import type { FolderStatus } from '../responses/status.js';
import type { OwnChange } from '../session.js';
import type { Folders } from './folder-differences.js';

export class KnownFolders {
  #folders: Map<string, FolderStatus>;
  /** Paths of folders that the client has created, by id; the rest of their state is not known yet. */
  readonly #created = new Map<string, string>();

  constructor(folders: Folders) {
    this.#folders = new Map(folders);
  }

  get(id: string): FolderStatus | undefined {
    return this.#folders.get(id);
  }

  /** Called when all differences between the known state and this one have been sent. */
  sent(folders: Folders): void {
    this.#folders = new Map(folders);
    this.#created.clear();
  }

  caused(change: OwnChange): void {
    const known = this.#folders.get(change.folderId);
    switch (change.type) {
      case 'messages':
        if (known?.modseq === change.modseqBefore) this.#folders.set(known.id, { ...known, modseq: change.modseq });
        return;
      case 'created':
        this.#created.set(change.folderId, change.path);
        return;
      case 'deleted':
        this.#folders.delete(change.folderId);
        return;
      case 'renamed':
        if (known !== undefined) this.#rename(known.path, change.path);
        return;
      case 'subscribed':
        if (known !== undefined) this.#folders.set(known.id, { ...known, isSubscribed: change.isSubscribed });
    }
  }

  /** Returns the known state, to be compared with the present state. */
  before(present: Folders): Folders {
    for (const [id, path] of this.#created) {
      const folder = present.get(id);
      if (folder === undefined) continue;
      const isNew = folder.uidNext === 1;
      this.#folders.set(id, { ...folder, path, ...(!isNew && { uidNext: 1, total: 0, modseq: 0 }) });
    }
    this.#created.clear();
    return this.#folders;
  }

  /** Renames the folder and all folders below it. */
  #rename(from: string, to: string): void {
    for (const folder of this.#folders.values()) {
      const isBelow = folder.path.startsWith(`${from}${SEPARATOR}`);
      if (folder.path !== from && !isBelow) continue;
      this.#folders.set(folder.id, { ...folder, path: `${to}${folder.path.slice(from.length)}` });
    }
  }
}
