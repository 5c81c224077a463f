// The stored mail of an account, for an export: the emails of each folder with their flags. Emails are kept as columns, about
// forty octets each, so that a large mailbox fits into memory.
import { DELETED_FLAG, flagNames } from '../mail-format/flags.js';
import { uuidOctets, uuidText } from '../mail-format/ids.js';
import type { EmailPage, MailboxStore } from '../store/mailboxes.js';

const ID_OCTETS = 16;

export interface StoredPlacement {
  readonly emailId: string;
  readonly uid: number;
  /** Names of flags and keywords. */
  readonly flags: readonly string[];
}

export interface StoredFolder {
  readonly id: string;
  readonly path: string;
}

export type MailReading = Pick<MailboxStore, 'overview' | 'emails' | 'keywords' | 'placements' | 'exportRows'>;

export class StoredMail {
  readonly folders: readonly StoredFolder[];
  /** Number of placements in all folders. */
  readonly count: number;
  readonly #pages: readonly EmailPage[];
  readonly #keywords: ReadonlyMap<string, readonly string[]>;
  readonly #store: MailReading;
  readonly #accountId: string;

  private constructor(
    store: MailReading,
    accountId: string,
    folders: readonly (StoredFolder & { readonly total: number })[],
    pages: readonly EmailPage[],
    keywords: ReadonlyMap<string, readonly string[]>,
  ) {
    this.#store = store;
    this.#accountId = accountId;
    this.folders = folders;
    this.count = folders.reduce((sum, { total }) => sum + total, 0);
    this.#pages = pages;
    this.#keywords = keywords;
  }

  static async read(store: MailReading, accountId: string): Promise<StoredMail> {
    const { folders } = await store.overview(accountId);
    const pages: EmailPage[] = [];
    for await (const page of store.emails(accountId)) pages.push(page);
    const keywords = new Map<string, readonly string[]>();
    for (const { names, emailIds } of await store.keywords(accountId)) {
      for (let at = 0; at < emailIds.length; at += ID_OCTETS) keywords.set(uuidText(emailIds, at), names);
    }
    const shown = folders.map(({ id, name: path, total }) => ({ id, path, total }));
    return new StoredMail(store, accountId, shown, pages, keywords);
  }

  /** Yields pages of each folder by ascending UID; emails that arrived after the reading began are left out. */
  async *placements(): AsyncGenerator<
    { readonly folderId: string; readonly placed: readonly StoredPlacement[] },
    void
  > {
    for await (const { folderId, count, uids, emailIds, isDeleted } of this.#store.placements(this.#accountId)) {
      const placed: StoredPlacement[] = [];
      for (let i = 0; i < count; i++) {
        const emailId = uuidText(emailIds, i * ID_OCTETS);
        const bits = this.#flagsOf(emailId);
        if (bits === undefined) continue;
        const deleted = isDeleted[i] === 1 ? [DELETED_FLAG] : [];
        const flags = [...flagNames(bits), ...(this.#keywords.get(emailId) ?? []), ...deleted];
        placed.push({ emailId, uid: uids[i]!, flags });
      }
      yield { folderId, placed };
    }
  }

  /** Returns bits of `mail-format/flags`. */
  #flagsOf(emailId: string): number | undefined {
    const id = uuidOctets(emailId);
    for (const { ids, count, flags } of this.#pages) {
      const last = (count - 1) * ID_OCTETS;
      if (count === 0 || id.compare(ids, last, last + ID_OCTETS) > 0) continue;
      let low = 0;
      for (let high = count; low < high; ) {
        const middle = (low + high) >> 1;
        if (id.compare(ids, middle * ID_OCTETS, (middle + 1) * ID_OCTETS) > 0) low = middle + 1;
        else high = middle;
      }
      return id.compare(ids, low * ID_OCTETS, (low + 1) * ID_OCTETS) === 0 ? flags[low] : undefined;
    }
    return undefined;
  }
}
