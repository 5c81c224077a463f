// The mirrors of the folders that sessions of this node have selected, one per path. A mirror that no session has open is
// kept for a while, within a bound in octets, because programs close a folder and open it again. The owner is asked at the same time
// which folder has the path and what changed in the mirrored one, so that a SELECT takes one round trip to another node (decision 0084).
import { LRUCache } from 'lru-cache';
import type { Mailboxes } from '../../../actors/mailbox/protocol.js';
import { caseFolded } from '../../../mail-format/words/case-fold.js';
import { MailboxTree, systemReference, type TreeMailbox } from '../mailboxes/mailbox-tree.js';
import { AccountEvents } from './account-events.js';
import { MirroredFolder } from './mirrored-folder.js';

/** ms for which a mirror is kept after the last session has closed it. */
const KEPT_MS = 5 * 60_000;
const MOST_KEPT = 1000;
/** Memory of a mirror without its columns. */
const MIRROR_OCTETS = 2000;

interface OpenedFolder {
  readonly mailbox: TreeMailbox;
  /** Up to date at the time of the call. The caller must `close` it. */
  readonly mirror: MirroredFolder;
}

export interface FolderMirrors {
  /** Opens the folder that has the path; undefined when there is none. @throws ActorFault */
  open(accountId: string, path: string): Promise<OpenedFolder | undefined>;
  /** Returns the id of the folder that had the path here last, or the role of a system folder; undefined when nothing is known. */
  lastAt(accountId: string, path: string): string | undefined;
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

class SharedMirrors implements FolderMirrors {
  readonly #options: FolderMirrorsOptions;
  readonly events: AccountEvents;
  /** The mirror that the next session on a path shares. */
  readonly #byPath = new Map<string, MirroredFolder>();
  /** The number of sessions that have each mirror open. */
  readonly #sessions = new Map<MirroredFolder, number>();
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

  async open(accountId: string, path: string): Promise<OpenedFolder | undefined> {
    for (;;) {
      const opened = await this.#opened(accountId, path);
      if (opened !== 'another') return opened;
    }
  }

  lastAt(accountId: string, path: string): string | undefined {
    const key = keyOf(accountId, path);
    const { folderId } = this.#byPath.get(key) ?? this.#idle.peek(key) ?? {};
    return folderId || systemReference(path);
  }

  /** `another`: the mirrored folder is not, or no longer, the one that has the path. The mirror is closed unless it is returned. */
  async #opened(accountId: string, path: string): Promise<OpenedFolder | 'another' | undefined> {
    const mirror = this.#share(accountId, path);
    try {
      const asked = this.#treeNear(accountId, path);
      const [tree] = await Promise.all([asked, mirror.folderId === '' ? this.#begin(mirror, asked) : mirror.sync()]);
      const mailbox = tree.find(path);
      const { folder } = mailbox ?? {};
      if (folder !== undefined && folder.id === mirror.folderId && !mirror.isGone) return { mailbox: mailbox!, mirror };
      this.#forget(mirror);
      mirror.close();
      return folder && 'another';
    } catch (err) {
      mirror.close();
      throw err;
    }
  }

  /** Only the tree tells the id of a folder that is neither mirrored nor a system folder. */
  async #begin(mirror: MirroredFolder, asked: Promise<MailboxTree>): Promise<void> {
    const id = (await asked).find(mirror.path)?.folder?.id;
    if (id === undefined) return;
    if (mirror.folderId === '') mirror.folderId = id;
    await mirror.sync();
  }

  async #treeNear(accountId: string, path: string): Promise<MailboxTree> {
    const { reply } = await this.#options.mailboxes.of(accountId).ask('folders', { near: path });
    return new MailboxTree(reply!.folders);
  }

  #share(accountId: string, path: string): MirroredFolder {
    const key = keyOf(accountId, path);
    const known = this.#byPath.get(key);
    if (known !== undefined && !known.isGone) {
      this.#sessions.set(known, this.#sessions.get(known)! + 1);
      return known;
    }
    const { mailboxes, pageSize } = this.#options;
    let mirror = this.#idle.get(key);
    this.#idle.delete(key);
    const options = { mailboxes, pageSize, onClose: (it: MirroredFolder) => this.#release(it) };
    mirror ??= new MirroredFolder(accountId, path, systemReference(path) ?? '', options);
    this.#byPath.set(key, mirror);
    this.#sessions.set(mirror, 1);
    this.events.add(accountId, mirror);
    return mirror;
  }

  /** No further session shares the mirror. */
  #forget(mirror: MirroredFolder): void {
    const key = keyOf(mirror.accountId, mirror.path);
    if (this.#byPath.get(key) === mirror) this.#byPath.delete(key);
  }

  #release(mirror: MirroredFolder): void {
    const others = this.#sessions.get(mirror)! - 1;
    if (others > 0) {
      this.#sessions.set(mirror, others);
      return;
    }
    this.#sessions.delete(mirror);
    this.events.remove(mirror.accountId, mirror);
    mirror.unfollowed();
    const key = keyOf(mirror.accountId, mirror.path);
    const isShared = this.#byPath.get(key) === mirror;
    this.#forget(mirror);
    if (isShared && !mirror.isGone && mirror.isLoaded) this.#idle.set(key, mirror);
  }
}

const keyOf = (accountId: string, path: string): string => `${accountId} ${caseFolded(path)}`;
