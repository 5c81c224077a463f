// Where a client keeps what it has read and what it still has to do, between its runs. Pages give one over IndexedDB; a client without one
// keeps everything in memory.

export interface StoredValue {
  readonly key: string;
  readonly value: unknown;
}

/** Values are JSON. A rejection counts as if nothing were kept. */
export interface ClientStorage {
  /** Undefined when there is no such value. */
  read(group: string, key: string): Promise<unknown>;
  /** Keeps a value. Beyond `most` values of the group, those go that were written longest ago. */
  write(group: string, key: string, value: unknown, most: number): Promise<void>;
  remove(group: string, key: string): Promise<void>;
  /** Removes everything. */
  clear(): Promise<void>;
  /**
   * Calls `taken` with the values of a group that were written by clients which have ended, in the order of their keys: now, also when there
   * are none, and whenever another client ends. From then on they are this client's. Returns the function that ends it.
   */
  takeOver(group: string, taken: (values: readonly StoredValue[]) => void): () => void;
}

/**
 * The value that is written where somebody may sign in without the client's knowledge, such as by a link: from then on the server has to say
 * who is signed in before anything is used.
 */
export const DOUBT = { group: 'account', key: 'doubt' } as const;
