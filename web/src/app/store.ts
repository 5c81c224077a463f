// What the page shows, as signals that the streams of the client feed. Views are functions of these signals; they change mail through
// `mail-actions.ts`, and only this folder has the client.
import { computed, effect, type ReadonlySignal, signal } from '@preact/signals';
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Observable, Subscription } from 'rxjs';
import {
  type ConnectionState,
  type Folder,
  type Label,
  type MansioClient,
  NetworkFault,
  type PreferenceChanges,
  type Preferences,
  type Profile,
  Refusal,
  type SignInProof,
} from '../../../src/client/index.js';
import { t } from '../i18n/t.js';
import { orderOf } from '../list/list-query.js';
import { ListStore } from '../list/list-store.js';
import { forgetSearches } from '../list/recent-searches.js';
import { sayFailed } from './failure.js';
import { PreferenceStore } from './preferences.js';
import { followPush } from './push-account.js';
import { reasonOf } from './reason.js';
import { isListRoute, type ListRoute } from './route.js';
import { route } from './router.js';
import { undo } from './undo.js';

/** `expected`: nobody knows yet, but the last visit of this browser was signed in. */
export type Access = 'unknown' | 'expected' | 'signedIn' | 'signedOut';

const MINUTE_MS = 60_000;
/** The page keeps the theme, so that its next load has the colours before the preferences are read. */
const THEME = 'mansio.theme';
/** The browser has this while it is signed in. */
const SIGNED_IN = 'mansio.signedIn';

export class Store {
  readonly client: MansioClient;
  readonly access = signal<Access>(localStorage.getItem(SIGNED_IN) === null ? 'unknown' : 'expected');
  readonly connection = signal<ConnectionState>('connecting');
  /** Nothing reaches the server, and the browser knows that it has no network. */
  readonly isOffline = computed(() => !this.#isOnline.value && this.connection.value !== 'live');
  /** What this browser has not kept cannot be shown now. */
  readonly isCutOff = computed(() => this.isOffline.value || this.connection.value === 'reconnecting');
  readonly profile = signal<Profile | undefined>(undefined);
  /** Nobody is signed in, because the session ended while the page was open. */
  readonly hasEnded = signal(false);
  readonly folders = signal<readonly Folder[]>([]);
  /** They are in their order; `folders` has what is unread in them. */
  readonly labels = signal<readonly Label[]>([]);
  readonly preferences: ReadonlySignal<Preferences | undefined>;
  /** The time of the reader, by the minute. */
  readonly now = signal(new Date());
  readonly list: ListStore;
  /** The id of the open email. */
  readonly openId = computed(() => (isListRoute(route.value) ? route.value.emailId : undefined));
  readonly #preferences: PreferenceStore;
  readonly #isOnline = signal(navigator.onLine);
  #subscriptions: Subscription[] = [];
  #known = () => {};
  /** The account whose things the page has, also after its session has ended. */
  #accountId: string | undefined;
  /** The page is loaded again for whoever signs in next. */
  #isSigningOut = false;

  constructor(client: MansioClient) {
    this.client = client;
    this.#preferences = new PreferenceStore(client);
    this.preferences = this.#preferences.shown;
    const defaultSort = computed(() => orderOf(this.preferences.value?.defaultSort));
    const areThreads = computed(() => this.preferences.value?.threads !== false);
    this.list = new ListStore(client, this.folders, defaultSort, areThreads);
    client.connection$.subscribe((state) => {
      this.connection.value = state;
      if (state === 'signedOut') this.#leave(this.#accountId !== undefined);
      // Another window has signed the browser in.
      if (state === 'live' && this.#subscriptions.length === 0 && this.access.peek() === 'signedOut') void this.start();
    });
    client.lateRefusals$.subscribe(({ error }) => undo.say(t('app.lateRefusal', { reason: reasonOf(error) })));
    for (const name of ['online', 'offline']) {
      addEventListener(name, () => {
        this.#isOnline.value = navigator.onLine;
      });
    }
    setInterval(() => {
      this.now.value = new Date();
    }, MINUTE_MS);
    effect(() => this.#showTheme());
    effect(() => {
      if (isListRoute(route.value)) this.list.show(route.value);
    });
  }

  /** Follows the account of whoever is signed in. Resolves when it is known who that is. */
  start(): Promise<void> {
    const known = new Promise<void>((resolve) => {
      this.#known = resolve;
    });
    this.#follow();
    return known;
  }

  #enter(profile: Profile): void {
    if (this.#accountId !== undefined && this.#accountId !== profile.id) {
      // Somebody else has signed in, here or in another window: nothing of this account stays.
      undo.dismiss();
      location.assign('/');
      return;
    }
    this.#accountId = profile.id;
    this.profile.value = profile;
    if (this.access.peek() !== 'signedIn') void followPush(this.client, profile.email);
    this.access.value = 'signedIn';
    this.hasEnded.value = false;
    localStorage.setItem(SIGNED_IN, '');
    this.#known();
  }

  /** @throws Refusal, NetworkFault */
  async signIn(proof: SignInProof): Promise<void> {
    await this.client.signIn(proof);
    await this.start();
  }

  /** Without an answer of the server the session goes on, and so does the page. */
  async signOut(): Promise<void> {
    const account = this.#accountId;
    // The end of this session is wanted.
    this.#accountId = undefined;
    this.#isSigningOut = true;
    try {
      await this.client.signOut();
    } catch (error) {
      // The session may be over already.
      if (!(error instanceof Refusal) || error.status !== 401) {
        this.#isSigningOut = false;
        this.#accountId = account;
        if (this.access.peek() === 'unknown') this.access.value = 'signedOut';
        sayFailed(error);
        return;
      }
    }
    this.#leave(false);
    // Whoever signs in next begins from nothing.
    location.replace('/');
  }

  /** The page follows the choice at once; resolves when the server has stored it. @throws Refusal, NetworkFault */
  prefer(choice: PreferenceChanges): Promise<void> {
    return this.#preferences.choose(choice);
  }

  /** @throws Refusal, NetworkFault */
  async resumeSending(): Promise<void> {
    await this.client.request('POST', '/api/profile/sending/resume');
    this.profile.value = await this.client.request('GET', '/api/profile');
  }

  /** @throws Refusal, NetworkFault */
  async rename(displayName: string): Promise<void> {
    await this.client.request('PUT', '/api/profile', { body: { displayName } });
    const profile = this.profile.peek();
    if (profile !== undefined) this.profile.value = { ...profile, displayName };
  }

  /** The folder or label with this id, or with this role of the system. */
  folder(idOrRole: string): Folder | undefined {
    return this.folders.value.find(({ id, role }) => id === idOrRole || role === idOrRole);
  }

  /** The folder that a list shows; undefined for searches. */
  folderOf(shown: ListRoute): Folder | undefined {
    if (shown.view === 'place') return this.folder(shown.place);
    return shown.view === 'search' ? undefined : this.folder(shown.id);
  }

  #follow(): void {
    for (const subscription of this.#subscriptions) subscription.unsubscribe();
    const into = <T>(stream$: Observable<T>, sink: { value: T | undefined }) =>
      stream$.subscribe({
        next: (value) => {
          sink.value = value;
        },
        // Streams end when the session does; the next sign-in follows again.
        error: (error: unknown) => {
          if (!(error instanceof Refusal) && !(error instanceof NetworkFault)) throw error;
        },
      });
    this.#subscriptions = [
      this.client.account$.subscribe({
        next: (profile) => this.#enter(profile),
        error: () => this.#leave(this.hasEnded.peek()),
      }),
      into(this.client.folders$, this.folders as { value: readonly Folder[] | undefined }),
      into(this.client.labels$, this.labels as { value: readonly Label[] | undefined }),
      into(this.client.preferences$, this.#preferences.stored),
    ];
    this.list.follow();
  }

  #leave(hasEnded: boolean): void {
    this.hasEnded.value = hasEnded;
    for (const subscription of this.#subscriptions) subscription.unsubscribe();
    this.#subscriptions = [];
    this.list.leave();
    if (this.access.peek() !== 'signedOut') void followPush(this.client, undefined);
    this.access.value = this.#isSigningOut ? 'unknown' : 'signedOut';
    localStorage.removeItem(SIGNED_IN);
    forgetSearches(localStorage);
    undo.dismiss();
    this.#known();
    this.profile.value = undefined;
    this.folders.value = [];
    this.labels.value = [];
    this.#preferences.forget();
  }

  #showTheme(): void {
    const theme = this.preferences.value?.theme ?? localStorage.getItem(THEME) ?? 'system';
    localStorage.setItem(THEME, theme);
    if (theme === 'system') delete document.documentElement.dataset['theme'];
    else document.documentElement.dataset['theme'] = theme;
  }
}

export const StoreContext = createContext<Store | undefined>(undefined);

export function useStore(): Store {
  const store = useContext(StoreContext);
  if (store === undefined) throw new Error('The view is not in the page.');
  return store;
}
