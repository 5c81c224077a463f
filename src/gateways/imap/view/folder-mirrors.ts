// The mirrors of the folders that sessions of this node have selected, one per folder. A mirror that no session has open is
// kept for a while, within a bound in octets, because programs close a folder and open it again.
import { LRUCache } from 'lru-cache';
import type { Mailboxes } from '../../../actors/mailbox/protocol.js';
import { AccountEvents } from './account-events.js';
import { MirroredFolder } from './mirrored-folder.js';

/** ms for which a mirror is kept after the last session has closed it. */
const KEPT_MS = 5 * 60_000;
const MOST_KEPT = 1000;
/** Memory of a mirror without its columns. */
const MIRROR_OCTETS = 2000;

export interface FolderMirrors {
  /**
   * Returns a mirror that is up to date at the time of the call; undefined when there is no such folder. The caller must `close` it.
   * @throws ActorFault
   */
  open(accountId: string, folderId: string): Promise<MirroredFolder | undefined>;
  /** Events of the accounts of this node's sessions. */
  readonly events: AccountEvents;
}

export interface FolderMirrorsOptions {
  readonly mailboxes: Mailboxes;
  /** Octets of the mirrors that no session has open. */
  readonly maxIdleOctets?: number;
  /** Messages per request to the owner; the owner's own bound when absent. */
  readonly pageSize?: number;
}

export const createFolderMirrors = (options: FolderMirrorsOptions): FolderMirrors => new SharedMirrors(options);

interface Shared {
  readonly mirror: MirroredFolder;
  sessions: number;
}

class SharedMirrors implements FolderMirrors {
  readonly #options: FolderMirrorsOptions;
  readonly events: AccountEvents;
  readonly #open = new Map<string, Shared>();
  readonly #idle: LRUCache<string, MirroredFolder>;

  constructor(options: FolderMirrorsOptions) {
    this.#options = options;
    this.events = new AccountEvents(options.mailboxes);
    this.#idle = new LRUCache({
      max: MOST_KEPT,
      maxSize: options.maxIdleOctets ?? 32 * 1024 * 1024,
      sizeCalculation: ({ octets }) => octets + MIRROR_OCTETS,
      ttl: KEPT_MS,
      ttlAutopurge: true,
    });
  }

  async open(accountId: string, folderId: string): Promise<MirroredFolder | undefined> {
    const mirror = await this.#opened(accountId, folderId);
    if (!mirror.isGone) return mirror;
    if (!mirror.isLoaded) return undefined;
    // The mirrored folder is gone; a new one may have the same id with other UIDs.
    const next = await this.#opened(accountId, folderId);
    return next.isGone ? undefined : next;
  }

  /** The mirror is already closed when this rejects or the folder is gone. */
  async #opened(accountId: string, folderId: string): Promise<MirroredFolder> {
    const shared = this.#share(accountId, folderId);
    shared.sessions++;
    try {
      await shared.mirror.sync();
    } catch (err) {
      shared.mirror.close();
      throw err;
    }
    if (shared.mirror.isGone) shared.mirror.close();
    return shared.mirror;
  }

  #share(accountId: string, folderId: string): Shared {
    const key = keyOf(accountId, folderId);
    const known = this.#open.get(key);
    if (known !== undefined && !known.mirror.isGone) return known;
    if (known !== undefined) this.events.remove(accountId, known.mirror);
    const { mailboxes, pageSize } = this.#options;
    let mirror = this.#idle.get(key);
    this.#idle.delete(key);
    mirror ??= new MirroredFolder(accountId, folderId, { mailboxes, pageSize, onClose: (it) => this.#release(it) });
    const shared = { mirror, sessions: 0 };
    this.#open.set(key, shared);
    this.events.add(accountId, mirror);
    return shared;
  }

  #release(mirror: MirroredFolder): void {
    const key = keyOf(mirror.accountId, mirror.folderId);
    const shared = this.#open.get(key);
    if (shared?.mirror !== mirror) return;
    if (--shared.sessions > 0) return;
    this.#open.delete(key);
    this.events.remove(mirror.accountId, mirror);
    mirror.unfollowed();
    if (!mirror.isGone && mirror.isLoaded) this.#idle.set(key, mirror);
  }
}

const keyOf = (accountId: string, folderId: string): string => `${accountId} ${folderId}`;
