// Optimistic changes: overlays on what the server says, until the log has told the change or the server has refused it. They change emails
// of lists, the emails themselves, and the counts of lists.
import { Subject } from 'rxjs';
import type { ListQuery, ListView } from '../client-types.js';
import type { EmailListItem, Folder, LabelSummary, ThreadRowEmail } from '../generated/rest.js';
import { folderOf, isSearch } from '../lists/list-query.js';
import type { Change } from './change.js';

/** The fields of an email that actions change; list items and details have them. */
export interface Changeable {
  readonly id: string;
  readonly isRead: boolean;
  readonly isFlagged: boolean;
  readonly folderIds: readonly string[];
  readonly labels: readonly LabelSummary[];
}

export interface Overlay {
  readonly ids: Set<string>;
  readonly change: Change;
}

/** Finds a folder by id or role among those that are known. */
export type FolderFinder = (idOrRole: string) => Folder | undefined;

export class Overlays {
  readonly changed$ = new Subject<void>();
  readonly #byId = new Map<string, Overlay[]>();
  readonly #folder: FolderFinder;

  constructor(folder: FolderFinder) {
    this.#folder = folder;
  }

  add(overlay: Overlay): void {
    for (const id of overlay.ids) this.#byId.set(id, [...(this.#byId.get(id) ?? []), overlay]);
    this.changed$.next();
  }

  remove(overlay: Overlay): void {
    for (const id of overlay.ids) this.#drop(overlay, id);
    this.changed$.next();
  }

  /** Takes one email out of an overlay: something else has happened to it since. */
  release(overlay: Overlay, id: string): void {
    overlay.ids.delete(id);
    this.#drop(overlay, id);
    this.changed$.next();
  }

  #drop(overlay: Overlay, id: string): void {
    const rest = this.#byId.get(id)?.filter((one) => one !== overlay) ?? [];
    if (rest.length === 0) this.#byId.delete(id);
    else this.#byId.set(id, rest);
  }

  /** The email with all changes; undefined when it is deleted. */
  apply<E extends Changeable>(email: E): E | undefined {
    const overlays = this.#byId.get(email.id);
    if (overlays === undefined) return email;
    let changed: E | undefined = email;
    for (const { change } of overlays) if (changed !== undefined) changed = this.#changed(changed, change);
    return changed;
  }

  /** The list with all changes: emails that no longer belong to it are gone, and the counts fit. */
  over(query: ListQuery, view: ListView): ListView {
    if (this.#byId.size === 0 || !view.items.some((item) => this.#concerns(item))) return view;
    let { total, unread } = view;
    const items = view.items.flatMap((item) => {
      const changed = this.#item(query, item);
      if (changed === undefined) total--;
      unread += unreadIn(changed) - unreadIn(item);
      return changed === undefined ? [] : [changed];
    });
    return { ...view, total, unread, items };
  }

  #concerns({ id, thread }: EmailListItem): boolean {
    return this.#byId.has(id) || thread?.emails.some((email) => this.#byId.has(email.id)) === true;
  }

  /** Undefined when nothing of the item belongs to the list any more. */
  #item(query: ListQuery, item: EmailListItem): EmailListItem | undefined {
    if (!this.#concerns(item)) return item;
    const changed = item.thread === undefined ? this.apply(item) : this.#row(query, item, item.thread);
    return changed !== undefined && (changed === item || this.#belongs(query, changed)) ? changed : undefined;
  }

  /** The emails of the thread that are still in the folder make the row. Until the server says more, its text stays. */
  #row(query: ListQuery, item: EmailListItem, thread: NonNullable<EmailListItem['thread']>): EmailListItem | undefined {
    const emails = thread.emails.flatMap((email) => {
      const changed = this.apply(inThread(email, item.labels));
      return changed !== undefined && this.#isPlaced(query, changed.folderIds) ? [changed] : [];
    });
    if (emails.length === 0) return undefined;
    // Emails that the row does not name stay as they are.
    const isCut = thread.count > thread.emails.length;
    const isOtherUnread = isCut && !item.isRead && thread.emails.every(({ isRead }) => isRead);
    const isOtherFlagged = isCut && item.isFlagged && !thread.emails.some(({ isFlagged }) => isFlagged);
    const labels = new Map(emails.flatMap((email) => email.labels.map((label) => [label.id, label])));
    return {
      ...item,
      id: emails[0]!.id,
      isRead: !isOtherUnread && emails.every(({ isRead }) => isRead),
      isFlagged: isOtherFlagged || emails.some(({ isFlagged }) => isFlagged),
      folderIds: [...new Set(emails.flatMap(({ folderIds }) => folderIds))],
      labels: [...labels.values()],
      thread: { ...thread, count: thread.count - thread.emails.length + emails.length, emails },
    };
  }

  /** The email after one change; undefined when it is deleted. The same object when nothing is another. */
  #changed<E extends Changeable>(email: E, change: Change): E | undefined {
    switch (change.kind) {
      case 'mark':
        return email.isRead === change.isRead ? email : { ...email, isRead: change.isRead };
      case 'flag':
        return email.isFlagged === change.isFlagged ? email : { ...email, isFlagged: change.isFlagged };
      case 'delete':
        return undefined;
      case 'move':
        return this.#placed(email, this.#foldersAfter(email, change));
      case 'label':
        return this.#placed(email, [...new Set([...email.folderIds, change.labelId])]);
      case 'copy': {
        const target = this.#folder(change.to);
        return target === undefined ? email : this.#placed(email, [...new Set([...email.folderIds, target.id])]);
      }
      case 'unlabel':
        return this.#placed(
          email,
          orArchive(
            email.folderIds.filter((id) => id !== change.labelId),
            this.#folder,
          ),
        );
    }
  }

  #foldersAfter({ folderIds }: Changeable, { to, from }: Extract<Change, { kind: 'move' }>): readonly string[] {
    const target = this.#folder(to);
    const source = from === undefined ? undefined : this.#folder(from);
    // Folders that are not known yet: the log says where the email is.
    if (target === undefined || (from !== undefined && source === undefined)) return folderIds;
    if (source !== undefined && !folderIds.includes(source.id)) return folderIds;
    const stay = folderIds.filter((id) => {
      if (source !== undefined) return id !== source.id;
      const role = this.#folder(id)?.role;
      if (target.role === 'label') return role !== 'inbox' && role !== 'trash' && role !== 'junk';
      return role === 'label' && target.role !== 'trash' && target.role !== 'junk';
    });
    return [...new Set([...stay, target.id])];
  }

  #placed<E extends Changeable>(email: E, folderIds: readonly string[]): E {
    const isSame = folderIds.length === email.folderIds.length && folderIds.every((id) => email.folderIds.includes(id));
    if (isSame) return email;
    const labels = folderIds.flatMap((id) => {
      const known = email.labels.find((label) => label.id === id);
      if (known !== undefined) return [known];
      const folder = this.#folder(id);
      return folder?.role === 'label' ? [{ id, name: folder.name, color: folder.color ?? '' }] : [];
    });
    return { ...email, folderIds, labels };
  }

  #belongs(query: ListQuery, { isRead, isFlagged, folderIds }: Changeable): boolean {
    if (query.isRead !== undefined && query.isRead !== isRead) return false;
    if (query.isFlagged !== undefined && query.isFlagged !== isFlagged) return false;
    return this.#isPlaced(query, folderIds);
  }

  #isPlaced(query: ListQuery, folderIds: readonly string[]): boolean {
    if (query.label?.split(',').some((id) => !folderIds.includes(id)) === true) return false;
    const name = folderOf(query);
    if (name !== undefined) {
      const folder = this.#folder(name);
      return folder === undefined || folderIds.includes(folder.id);
    }
    // A search of everything leaves out trash and junk.
    if (!isSearch(query) || query.anywhere === true) return true;
    return folderIds.some((id) => !['trash', 'junk'].includes(this.#folder(id)?.role ?? ''));
  }
}

/** An email of a thread's row. `labels`: those of the row. */
export function inThread(email: ThreadRowEmail, labels: readonly LabelSummary[]): Changeable {
  return { ...email, labels: labels.filter(({ id }) => email.folderIds.includes(id)) };
}

function unreadIn(item: EmailListItem | undefined): number {
  if (item === undefined) return 0;
  const emails = item.thread?.emails ?? [item];
  return emails.filter(({ isRead }) => !isRead).length;
}

/** An email without another place goes to Archive. */
function orArchive(folderIds: readonly string[], folder: FolderFinder): readonly string[] {
  const archive = folder('archive');
  return folderIds.length > 0 || archive === undefined ? folderIds : [archive.id];
}
