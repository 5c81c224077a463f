// What the client follows of an account besides its mail: who it is, folders, labels and preferences. After another sign-in there is a new one, so
// that nobody sees what belongs to the account before.
import { ignoreElements, merge, type Observable, ReplaySubject, Subject, type Subscription, tap, timer } from 'rxjs';
import { Folders } from './folders.js';
import type { Folder, Label, PreferenceChanges, Preferences, Profile, Session } from './generated/rest.js';
import type { HubLink } from './hub/hub-link.js';
import type { Lists } from './lists/lists.js';
import type { KeptAccount } from './offline/kept-account.js';
import { refreshed } from './refreshed.js';
import { isPassing } from './refusal.js';
import type { Rest } from './rest.js';
import { FollowedSettings } from './settings.js';

/** People sign in and out one by one. ms */
const SESSIONS_LEAST_MS = 200;
/** After this time without an answer the storage says who is signed in. ms */
const PATIENCE_MS = 3_000;

export class FollowedAccount {
  /** As the server says, or the storage while it does not answer. */
  readonly account$: Observable<Profile>;
  readonly folders: Folders;
  readonly labels$: Observable<readonly Label[]>;
  readonly preferences$: Observable<Preferences>;
  readonly sessions$: Observable<readonly Session[]>;
  readonly settings: FollowedSettings;
  readonly #ended$ = new Subject<void>();
  readonly #storage: KeptAccount;
  #kept: Subscription | undefined;

  constructor(rest: Rest, link: HubLink, lists: Lists, storage: KeptAccount) {
    this.#storage = storage;
    this.account$ = accountOf(rest, link, storage, this.#ended$);
    this.folders = new Folders(rest, link, storage, this.#ended$, (folder) => lists.countsOf(folder));
    this.labels$ = refreshed<readonly Label[]>(link, {
      end$: this.#ended$,
      ...storage.followed('labels', () => rest.request('GET', '/api/labels')),
      changes$: rest.changesOf('/api/labels'),
      touch({ type }) {
        if (type.startsWith('Label')) return 'readSoon';
        return /^Email(Placed|Unplaced|Deleted)/.test(type) ? 'read' : undefined;
      },
    });
    this.preferences$ = refreshed<Preferences>(link, {
      end$: this.#ended$,
      ...storage.followed('preferences', () => rest.request('GET', '/api/preferences')),
      touch: (event, newest) => (event.type === 'PreferencesChanged' ? withChosen(newest, event.payload) : undefined),
    });
    this.settings = new FollowedSettings(rest, link, this.#ended$);
    this.sessions$ = refreshed<readonly Session[]>(link, {
      end$: this.#ended$,
      read: () => rest.request('GET', '/api/sessions'),
      changes$: rest.changesOf('/api/sessions/{id}'),
      also$: link.sessionsChanged$,
      leastMs: SESSIONS_LEAST_MS,
      touch: () => undefined,
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
    if (this.#kept !== undefined) return;
    this.#kept = this.folders.folders$.subscribe({
      error: () => {
        this.#kept = undefined;
      },
    });
    // What is kept is used when it is known whose it is.
    if (this.#storage.isUsed) this.#kept.add(this.account$.subscribe({ error: () => undefined }));
  }

  end(): void {
    this.#ended$.next();
    this.#kept?.unsubscribe();
  }
}

function accountOf(rest: Rest, link: HubLink, storage: KeptAccount, end$: Observable<void>): Observable<Profile> {
  const assumed$ = new ReplaySubject<Profile>(1);
  const assume = async () => {
    const profile = await storage.assume();
    if (profile !== undefined) assumed$.next(profile);
  };
  const impatience$ = timer(PATIENCE_MS).pipe(
    tap(() => void assume()),
    ignoreElements(),
  );
  return refreshed<Profile>(link, {
    end$,
    earlier$: merge(assumed$, impatience$),
    async read() {
      try {
        const profile = await rest.request('GET', '/api/profile');
        // The session may have ended after the server answered.
        if (link.state$.value !== 'signedOut') void storage.confirm(profile);
        return profile;
      } catch (error) {
        if (isPassing(error)) await assume();
        throw error;
      }
    },
    // An event tells whether it may send; the rest is read again with each connection.
    touch: ({ type }) => (type === 'SendingChanged' ? 'readSoon' : undefined),
  });
}

function withChosen(preferences: Preferences, chosen: PreferenceChanges): Preferences {
  const values = Object.entries(chosen).filter(([, value]) => value !== undefined);
  return { ...preferences, ...Object.fromEntries(values) };
}
