// The annotations of one mailbox: named values of its folders and of the whole account. Few mailboxes have any, and their size per account
// is bounded, so they are kept in memory.
import type { AnnotationRow } from '../../../store/mailbox-rows.js';

/** Approximate memory of an entry, apart from its name and value. */
const ENTRY_OCTETS = 100;

interface NamedValue {
  readonly name: string;
  /** Base64. */
  readonly value: string;
}

export class Annotations {
  /** Values by name, by folder; null is the account. */
  readonly #folders = new Map<string | null, Map<string, string>>();
  #octets = 0;

  /** Bytes of names and values, plus `ENTRY_OCTETS` per entry. */
  get octets(): number {
    return this.#octets;
  }

  copy(): Annotations {
    const copy = new Annotations();
    for (const [folderId, values] of this.#folders) copy.#folders.set(folderId, new Map(values));
    copy.#octets = this.#octets;
    return copy;
  }

  count(folderId: string | null): number {
    return this.#folders.get(folderId)?.size ?? 0;
  }

  has(folderId: string | null, name: string): boolean {
    return this.#folders.get(folderId)?.has(name) === true;
  }

  /** Base64; undefined when there is no such entry. */
  value(folderId: string | null, name: string): string | undefined {
    return this.#folders.get(folderId)?.get(name);
  }

  /** Sorted by name. */
  of(folderId: string | null): NamedValue[] {
    const values = [...(this.#folders.get(folderId) ?? [])].map(([name, value]) => ({ name, value }));
    return values.sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** null removes the entry. */
  set({ folderId, name, value }: AnnotationRow): void {
    let values = this.#folders.get(folderId);
    const before = values?.get(name);
    if (before !== undefined) this.#octets -= octetsOf(name, before);
    if (value === null) {
      values?.delete(name);
      if (values?.size === 0) this.#folders.delete(folderId);
      return;
    }
    if (values === undefined) {
      values = new Map();
      this.#folders.set(folderId, values);
    }
    values.set(name, value);
    this.#octets += octetsOf(name, value);
  }

  deleteFolder(folderId: string): void {
    for (const { name } of this.of(folderId)) this.set({ folderId, name, value: null });
  }
}

const octetsOf = (name: string, value: string): number =>
  ENTRY_OCTETS + name.length + Buffer.byteLength(value, 'base64');
