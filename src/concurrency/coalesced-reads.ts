// Coalesces concurrent reads of the same key, for example when the clients of a node that is gone come to another one. Calls during a read
// share the next read, so a read always begins after its call.

export class CoalescedReads<T> {
  readonly #read: (key: string) => Promise<T>;
  /** Reads that have not begun. */
  readonly #next = new Map<string, Promise<T>>();
  readonly #last = new Map<string, Promise<T>>();

  constructor(read: (key: string) => Promise<T>) {
    this.#read = read;
  }

  of(key: string): Promise<T> {
    const waiting = this.#next.get(key);
    if (waiting !== undefined) return waiting;
    const begin = () => {
      this.#next.delete(key);
      return this.#read(key);
    };
    const read = (this.#last.get(key) ?? Promise.resolve()).then(begin, begin);
    this.#next.set(key, read);
    this.#last.set(key, read);
    const end = () => {
      if (this.#last.get(key) === read) this.#last.delete(key);
    };
    read.then(end, end);
    return read;
  }
}
