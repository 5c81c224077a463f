// The storage of the client in IndexedDB. Each window holds a lock with a name of its own, so the others know when it has ended, and take
// over what it has not sent.
import type { ClientStorage, StoredValue } from '../../../src/client/index.js';
import { Entries, type Entry, ofGroup } from './entries.js';

const LOCK = 'mansio-client-';

export class IndexedStorage implements ClientStorage {
  readonly #entries = new Entries();
  readonly #owner = crypto.randomUUID();
  /** Windows whose end is waited for. */
  readonly #awaited = new Set<string>();
  #held: Promise<void> | undefined;

  async read(group: string, key: string): Promise<unknown> {
    const entry = await this.#entries.run(
      'readonly',
      (entries) => entries.get([group, key]) as IDBRequest<Entry | undefined>,
    );
    return entry?.value;
  }

  async write(group: string, key: string, value: unknown, most: number): Promise<void> {
    await this.#hold();
    await this.#entries.put({ group, key, value, at: Date.now(), owner: this.#owner }, most);
  }

  async remove(group: string, key: string): Promise<void> {
    await this.#entries.run('readwrite', (entries) => entries.delete([group, key]));
  }

  async clear(): Promise<void> {
    await this.#entries.run('readwrite', (entries) => entries.clear());
  }

  takeOver(group: string, taken: (values: readonly StoredValue[]) => void): () => void {
    let isStopped = false;
    const claim = async (owner: string) => {
      const values = isStopped ? [] : await this.#claim(group, owner);
      if (values.length > 0) taken(values);
    };
    const look = async () => {
      for (const owner of await this.#owners(group)) this.#afterEnd(owner, () => claim(owner));
    };
    const onReturn = () => void look();
    const begin = async () => {
      const left: StoredValue[] = [];
      for (const owner of await this.#owners(group))
        await navigator.locks.request(LOCK + owner, { ifAvailable: true }, async (lock) => {
          if (lock !== null && !isStopped) left.push(...(await this.#claim(group, owner)));
        });
      return left.sort((a, b) => (a.key < b.key ? -1 : 1));
    };
    void begin()
      .catch(() => [])
      .then(taken)
      .then(onReturn);
    // Windows that were opened after this one may have ended since.
    addEventListener('online', onReturn);
    document.addEventListener('visibilitychange', onReturn);
    return () => {
      isStopped = true;
      removeEventListener('online', onReturn);
      document.removeEventListener('visibilitychange', onReturn);
    };
  }

  /** The lock goes with the window. */
  #hold(): Promise<void> {
    this.#held ??= new Promise((held) => {
      void navigator.locks.request(LOCK + this.#owner, () => {
        held();
        return new Promise(() => {});
      });
    });
    return this.#held;
  }

  #afterEnd(owner: string, run: () => Promise<void>): void {
    if (this.#awaited.has(owner)) return;
    this.#awaited.add(owner);
    const over = () => this.#awaited.delete(owner);
    navigator.locks.request(LOCK + owner, run).then(over, over);
  }

  /** The other windows that have written values of the group. */
  async #owners(group: string): Promise<ReadonlySet<string>> {
    const all = this.#entries.run('readonly', (entries) => entries.getAll(ofGroup(group)) as IDBRequest<Entry[]>);
    const owners = new Set((await all.catch(() => [])).map(({ owner }) => owner));
    owners.delete(this.#owner);
    return owners;
  }

  /** The values of a window that has ended: each is given to one window alone. */
  async #claim(group: string, owner: string): Promise<readonly StoredValue[]> {
    await this.#hold();
    const claimed: StoredValue[] = [];
    await this.#entries.run('readwrite', (entries) => {
      const all = entries.getAll(ofGroup(group)) as IDBRequest<Entry[]>;
      all.onsuccess = () => {
        for (const entry of all.result) {
          if (entry.owner !== owner) continue;
          entries.put({ ...entry, owner: this.#owner });
          claimed.push({ key: entry.key, value: entry.value });
        }
      };
      return all;
    });
    return claimed;
  }
}
