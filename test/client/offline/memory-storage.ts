// A storage of the client in memory, for tests: several clients share it as windows share a browser.
import type { ClientStorage, StoredValue } from '../../../src/client/offline/client-storage.js';

interface Entry {
  readonly value: string;
  owner: MemoryStorage;
}

export class MemoryStorage implements ClientStorage {
  readonly #groups: Map<string, Map<string, Entry>>;
  readonly #ended: Set<MemoryStorage>;
  /** The next calls fail, as those of a full disk. */
  isBroken = false;
  /** What earlier clients have left is told after this. */
  taking: Promise<unknown> | undefined;

  /** `before`: a storage of the same browser. */
  constructor(before?: MemoryStorage) {
    this.#groups = before === undefined ? new Map() : before.#groups;
    this.#ended = before === undefined ? new Set() : before.#ended;
  }

  /** The window of this storage is closed, or has crashed. */
  end(): void {
    this.#ended.add(this);
  }

  keys(group: string): readonly string[] {
    return [...(this.#groups.get(group)?.keys() ?? [])];
  }

  async read(group: string, key: string): Promise<unknown> {
    this.#check();
    const text = this.#groups.get(group)?.get(key)?.value;
    return text === undefined ? undefined : JSON.parse(text);
  }

  async write(group: string, key: string, value: unknown, most: number): Promise<void> {
    this.#check();
    const entries = this.#groups.get(group) ?? new Map<string, Entry>();
    this.#groups.set(group, entries);
    entries.delete(key);
    entries.set(key, { value: JSON.stringify(value), owner: this });
    for (const oldest of entries.keys()) if (entries.size > most) entries.delete(oldest);
  }

  async remove(group: string, key: string): Promise<void> {
    this.#check();
    this.#groups.get(group)?.delete(key);
  }

  async clear(): Promise<void> {
    this.#check();
    this.#groups.clear();
  }

  takeOver(group: string, taken: (values: readonly StoredValue[]) => void): () => void {
    const left = [...(this.#groups.get(group) ?? [])].filter(([, { owner }]) => this.#ended.has(owner));
    for (const [, entry] of left) entry.owner = this;
    const values = left.map(([key, { value }]) => ({ key, value: JSON.parse(value) as unknown }));
    const tell = () => taken(values.sort((a, b) => (a.key < b.key ? -1 : 1)));
    if (this.taking === undefined) tell();
    else void this.taking.then(tell);
    return () => {};
  }

  #check(): void {
    if (this.isBroken) throw new Error('QuotaExceededError');
  }
}
