// Coalesced reads: reads that many ask for at the same time, as when the clients of a node that has gone come to another one: whoever asks
// while a read of the same key is under way shares the read after it. So a read always begins after it was asked for.

export class CoalescedReads<T> {
  readonly #read: (key: string) => Promise<T>;
  /** Have not begun. */
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
