// Folders with live counts. The log does not tell the counts of all folders, so they are read again when it tells of changes; the counts of
// a list that is followed, and of unread emails in the inbox, are known at once.
import { combineLatest, map, type Observable, Subject, startWith, tap } from 'rxjs';
import type { Folder } from './generated/rest.js';
import type { HubLink } from './hub/hub-link.js';
import type { FolderCounts } from './lists/lists.js';
import type { KeptAccount } from './offline/kept-account.js';
import { refreshed } from './refreshed.js';
import type { Rest } from './rest.js';

const CHANGING_FOLDERS = /^(Folder|Label)/;
const CHANGING_COUNTS = /^(NewEmail|Email|Draft)/;

export class Folders {
  readonly folders$: Observable<readonly Folder[]>;
  readonly #counted$ = new Subject<void>();
  #newest: readonly Folder[] = [];

  /** `countsOf`: the counts of a folder whose list is followed, by id or role. */
  constructor(
    rest: Rest,
    link: HubLink,
    kept: KeptAccount,
    end$: Observable<void>,
    countsOf: (folder: string) => FolderCounts | undefined,
  ) {
    const read$ = refreshed<readonly Folder[]>(link, {
      end$,
      ...kept.followed('folders', () => rest.request('GET', '/api/folders')),
      changes$: rest.changesOf('/api/folders', '/api/labels'),
      touch: ({ type, payload }, newest) => {
        if (CHANGING_FOLDERS.test(type)) return 'readSoon';
        if (type !== 'UnreadCountChanged') return CHANGING_COUNTS.test(type) ? 'read' : undefined;
        return newest.map((folder) => (folder.role === 'inbox' ? { ...folder, unread: payload } : folder));
      },
    }).pipe(tap((folders) => this.#set(folders)));
    this.folders$ = combineLatest([read$, this.#counted$.pipe(startWith(undefined))]).pipe(
      map(([folders]) =>
        folders.map((folder) => {
          const counts = countsOf(folder.id) ?? countsOf(folder.role);
          return counts === undefined ? folder : { ...folder, ...counts };
        }),
      ),
    );
  }

  /** The counts of a list have changed. */
  counted(): void {
    this.#counted$.next();
  }

  /** A folder that is known, by id or role. */
  find(idOrRole: string): Folder | undefined {
    return this.#newest.find(({ id, role }) => id === idOrRole || (role === idOrRole && isOfSystem(role)));
  }

  #set(folders: readonly Folder[]): void {
    this.#newest = folders;
  }
}

const isOfSystem = (role: Folder['role']): boolean => role !== 'label' && role !== 'folder';
