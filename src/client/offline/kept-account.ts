// What a client keeps of one account in its storage. Nothing of it is used before it is known whose it is: the server says who is signed in,
// or, while it does not answer, the storage does. It is removed when the session ends, and when somebody else signs in. Keys begin with the
// account: a window that has not heard of another sign-in writes nothing that the other one reads.
import { defer, Subject } from 'rxjs';
import type { Profile } from '../generated/rest.js';
import type { RefreshedOptions } from '../refreshed.js';
import { type ClientStorage, DOUBT, type StoredValue } from './client-storage.js';

/** How many values of a group are kept. */
const MOST = { followed: 10, lists: 30, emails: 100, actions: 10_000 } as const;
type Group = keyof typeof MOST;

/** The owner and the doubt. */
const MOST_OF_ACCOUNT = 2;
const OWNER = { group: DOUBT.group, key: 'owner' } as const;
/** A storage that does not say what earlier clients have left holds up nothing for longer. ms */
const TAKE_OVER_MS = 2_000;
/** A session that is not used ends after this time. */
const LONGEST_MS = 30 * 24 * 3_600_000;

interface Owner {
  readonly profile: Profile;
  /** When the server said so last. ms since the epoch */
  readonly at: number;
}

export class KeptAccount {
  /** Emits when it is known whose values are used. */
  readonly opened$ = new Subject<void>();
  /** Somebody else is signed in than before, without a sign-in of this client: nothing that is still to be sent may go. */
  readonly changed$ = new Subject<void>();
  /** What earlier clients of the account have not sent, in their order; first of all once, also when that is nothing. */
  readonly taken$ = new Subject<readonly StoredValue[]>();
  readonly #storage: ClientStorage | undefined;
  /** The address of the account whose values are used; undefined while that is not known. */
  #account: string | undefined;
  /** The id of the account that the server has named. */
  #accountId: string | undefined;
  /** The server has said who is signed in. */
  #isConfirmed = false;
  /** Rises with each word of the server: what it overtakes has no effect. */
  #epoch = 0;
  #opened = deferred();
  #stopTaking = () => {};
  /** One after the other, so that nothing is written after everything was removed. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(storage?: ClientStorage) {
    this.#storage = storage;
  }

  /** The id of the account that is signed in, as the server said last; undefined before. */
  get accountId(): string | undefined {
    return this.#accountId;
  }

  /** False for a client without a storage. */
  get isUsed(): boolean {
    return this.#storage !== undefined;
  }

  /** The server does not answer: the profile of whoever the storage names, whose values are used from now on; undefined for nobody. */
  async assume(): Promise<Profile | undefined> {
    if (this.#storage === undefined || this.#account !== undefined) return undefined;
    const epoch = this.#epoch;
    const owner = await this.#owner();
    const isDoubtful = (await this.#do((storage) => storage.read(DOUBT.group, DOUBT.key))) !== undefined;
    if (epoch !== this.#epoch || this.#account !== undefined || owner === undefined || isDoubtful) return undefined;
    if (Date.now() - owner.at > LONGEST_MS) {
      await this.clear();
      return undefined;
    }
    await this.#open(owner.profile);
    return owner.profile;
  }

  /** The server says who is signed in. */
  async confirm(profile: Profile): Promise<void> {
    const epoch = ++this.#epoch;
    if (this.#account !== undefined && this.#account !== profile.email) {
      this.changed$.next();
      this.#leave();
    }
    this.#accountId = profile.id;
    if (this.#storage === undefined) {
      this.#account = profile.email;
      return;
    }
    const before = (await this.#owner())?.profile.email;
    if (epoch !== this.#epoch) return;
    // Another window may have removed what was before, and what it has kept since stays.
    if (before !== undefined && before !== profile.email) void this.#do((storage) => storage.clear());
    this.#isConfirmed = true;
    const owner: Owner = { profile, at: Date.now() };
    void this.#do((storage) => storage.write(OWNER.group, OWNER.key, owner, MOST_OF_ACCOUNT));
    void this.#do((storage) => storage.remove(DOUBT.group, DOUBT.key));
    if (this.#account === undefined) await this.#open(profile);
  }

  /**
   * A value of the account, as soon as it is known whose account it is and what is still to be sent: that was done after the value was
   * written. Without a storage it never comes.
   */
  async value<T>(group: Group, key: string): Promise<T | undefined> {
    await this.#opened.promise;
    const account = this.#account;
    if (account === undefined) return undefined;
    return (await this.#do((storage) => storage.read(group, prefixOf(account) + key))) as T | undefined;
  }

  /** A value that is kept when it is read, and shown from the storage until then. */
  followed<T>(key: string, read: () => Promise<T>): Pick<RefreshedOptions<T>, 'read' | 'earlier$'> {
    return {
      earlier$: defer(() => this.value<T>('followed', key)),
      read: async () => {
        const value = await read();
        this.write('followed', key, value);
        return value;
      },
    };
  }

  /** What the server has told is kept once it has told whose it is; what is still to be sent, as soon as the account is known. */
  write(group: Group, key: string, value: unknown): void {
    const account = this.#account;
    if (account === undefined || !(this.#isConfirmed || group === 'actions')) return;
    void this.#do(async (storage) => {
      // Another window may have ended the session, or somebody else has signed in there.
      if ((await ownerIn(storage))?.profile.email === account)
        await storage.write(group, prefixOf(account) + key, value, MOST[group]);
    });
  }

  remove(group: Group, key: string): void {
    const account = this.#account;
    if (account !== undefined) void this.#do((storage) => storage.remove(group, prefixOf(account) + key));
  }

  /** The session has ended, or somebody else signs in. Resolves when everything is removed, unless it is already somebody else's. */
  clear(): Promise<unknown> {
    this.#epoch++;
    const account = this.#account;
    this.#leave();
    return this.#do(async (storage) => {
      const owner = account === undefined ? undefined : (await ownerIn(storage))?.profile.email;
      if (owner === undefined || owner === account) await storage.clear();
    });
  }

  /** Nothing is used or kept any more, and everything stays for the next client. */
  close(): void {
    this.#epoch++;
    this.#leave();
  }

  async #open({ email }: Profile): Promise<void> {
    const opened = this.#opened;
    this.#account = email;
    this.opened$.next();
    const patience = setTimeout(opened.resolve, TAKE_OVER_MS);
    const open = () => {
      clearTimeout(patience);
      opened.resolve();
    };
    await this.#do(async (storage) => {
      // The session may have ended since.
      if (this.#opened !== opened) return open();
      this.#stopTaking = storage.takeOver('actions' satisfies Group, (values) => {
        if (this.#opened === opened) this.taken$.next(valuesOf(email, values));
        open();
      });
    });
  }

  #leave(): void {
    this.#stopTaking();
    this.#stopTaking = () => {};
    if (this.#account !== undefined) this.#opened = deferred();
    this.#account = undefined;
    this.#accountId = undefined;
    this.#isConfirmed = false;
  }

  #owner(): Promise<Owner | undefined> {
    return this.#do(ownerIn);
  }

  /** A storage that fails keeps nothing, and the client works as without one. */
  #do<T>(run: (storage: ClientStorage) => Promise<T>): Promise<T | undefined> {
    const storage = this.#storage;
    if (storage === undefined) return Promise.resolve(undefined);
    const done = this.#last.then(() => run(storage)).catch(() => undefined);
    this.#last = done;
    return done;
  }
}

function ownerIn(storage: ClientStorage): Promise<Owner | undefined> {
  return storage.read(OWNER.group, OWNER.key) as Promise<Owner | undefined>;
}

/** Addresses of accounts have no space. */
const prefixOf = (account: string): string => `${account} `;

/** The values of one account, by the keys that it knows. */
function valuesOf(account: string, values: readonly StoredValue[]): readonly StoredValue[] {
  const prefix = prefixOf(account);
  return values.flatMap(({ key, value }) => (key.startsWith(prefix) ? [{ key: key.slice(prefix.length), value }] : []));
}

interface Deferred {
  readonly promise: Promise<void>;
  readonly resolve: () => void;
}

function deferred(): Deferred {
  let resolve = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
