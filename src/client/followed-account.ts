// What the client follows of an account besides its mail: folders, labels and preferences. After another sign-in there is a new one, so
// that nobody sees what belongs to the account before.
import { type Observable, Subject, type Subscription } from 'rxjs';
import { Folders } from './folders.js';
import type { Folder, Label, PreferenceChanges, Preferences } from './generated/rest.js';
import type { HubLink } from './hub/hub-link.js';
import type { Lists } from './lists/lists.js';
import { refreshed } from './refreshed.js';
import type { Rest } from './rest.js';

export class FollowedAccount {
  readonly folders: Folders;
  readonly labels$: Observable<readonly Label[]>;
  readonly preferences$: Observable<Preferences>;
  readonly #ended$ = new Subject<void>();
  #kept: Subscription | undefined;

  constructor(rest: Rest, link: HubLink, lists: Lists) {
    this.folders = new Folders(rest, link, this.#ended$, (folder) => lists.countsOf(folder));
    this.labels$ = refreshed<readonly Label[]>(link, {
      end$: this.#ended$,
      read: () => rest.request('GET', '/api/labels'),
      changes$: rest.changesOf('/api/labels'),
      touch({ type }) {
        if (type.startsWith('Label')) return 'readSoon';
        return /^Email(Placed|Unplaced|Deleted)/.test(type) ? 'read' : undefined;
      },
    });
    this.preferences$ = refreshed<Preferences>(link, {
      end$: this.#ended$,
      read: () => rest.request('GET', '/api/preferences'),
      touch: (event, newest) => (event.type === 'PreferencesChanged' ? withChosen(newest, event.payload) : undefined),
    });
  }

  find(idOrRole: string): Folder | undefined {
    return this.folders.find(idOrRole);
  }

  get keepsFolders(): boolean {
    return this.#kept !== undefined;
  }

  /** Lists and actions need to know the folders from now on. */
  keepFolders(): void {
    this.#kept ??= this.folders.folders$.subscribe({
      error: () => {
        this.#kept = undefined;
      },
    });
  }

  end(): void {
    this.#ended$.next();
    this.#kept?.unsubscribe();
  }
}

function withChosen(preferences: Preferences, chosen: PreferenceChanges): Preferences {
  const values = Object.entries(chosen).filter(([, value]) => value !== undefined);
  return { ...preferences, ...Object.fromEntries(values) };
}
