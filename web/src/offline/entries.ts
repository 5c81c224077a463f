// The entries that the page keeps in IndexedDB, for all windows of the browser and for the service worker. `indexed-storage.ts` makes the
// storage of the client of them.

export interface Entry {
  readonly group: string;
  readonly key: string;
  readonly value: unknown;
  /** When it was written. ms since the epoch */
  readonly at: number;
  /** The window that wrote it. */
  readonly owner: string;
}

const DATABASE = 'mansio-mail';
const VERSION = 1;
const ENTRIES = 'entries';
const BY_AGE = 'byAge';

export class Entries {
  #database: Promise<IDBDatabase> | undefined;

  /** Resolves with the result of the request when its transaction is complete. */
  async run<T>(mode: IDBTransactionMode, begin: (entries: IDBObjectStore) => IDBRequest<T>): Promise<T> {
    const database = await this.#open();
    return new Promise((resolve, reject) => {
      const transaction = database.transaction(ENTRIES, mode);
      const request = begin(transaction.objectStore(ENTRIES));
      transaction.oncomplete = () => resolve(request.result);
      transaction.onabort = () => reject(transaction.error);
      transaction.onerror = () => reject(transaction.error);
    });
  }

  /** Beyond `most` entries of the group, those go that were written longest ago. */
  async put(entry: Entry, most: number): Promise<void> {
    await this.run('readwrite', (entries) => {
      entries.put(entry);
      const count = entries.index(BY_AGE).count(ofGroup(entry.group));
      count.onsuccess = () => removeOldest(entries, entry.group, count.result - most);
      return count;
    });
  }

  #open(): Promise<IDBDatabase> {
    this.#database ??= new Promise<IDBDatabase>((resolve, reject) => {
      const request = indexedDB.open(DATABASE, VERSION);
      request.onupgradeneeded = () => {
        const entries = request.result.createObjectStore(ENTRIES, { keyPath: ['group', 'key'] });
        entries.createIndex(BY_AGE, ['group', 'at']);
      };
      request.onerror = () => reject(request.error);
      request.onsuccess = () => {
        // A later version of the page may change the form of the database while this one is open.
        request.result.onversionchange = () => request.result.close();
        resolve(request.result);
      };
    });
    return this.#database;
  }
}

/** The keys of a group, and its places in the order of age. */
export const ofGroup = (group: string): IDBKeyRange => IDBKeyRange.bound([group], [group, []]);

function removeOldest(entries: IDBObjectStore, group: string, surplus: number): void {
  if (surplus <= 0) return;
  let left = surplus;
  const cursor = entries.index(BY_AGE).openKeyCursor(ofGroup(group));
  cursor.onsuccess = () => {
    if (cursor.result === null || left-- <= 0) return;
    entries.delete(cursor.result.primaryKey);
    cursor.result.continue();
  };
}
