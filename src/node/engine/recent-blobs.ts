// Blobs that this node stored recently, in memory: delivery and search indexing read a message soon after it was stored, by a statement of
// its own or by the commit of a mailbox. The cache has only small blobs, within a limit; the store has all of them.
import { LRUCache } from 'lru-cache';
import type { MessageIndex } from '../../mail-format/message-index.js';
import type { BlobContent, BlobStore } from '../../store/blobs.js';
import type { SharedMessage } from '../../store/inline/shared-message.js';
import type { MailboxChange, MailboxStore } from '../../store/mailboxes.js';

interface RecentBlob {
  readonly index: MessageIndex;
  readonly bytes: Buffer;
}

/**
 * Larger blobs are read from the store again: octets that become old before they are dropped make V8 collect its whole heap in proportion
 * (docs/performance-notes.md, "Mail in").
 */
const SMALL_OCTETS = 16 * 1024;
const KEPT_OCTETS = 16 * 1024 * 1024;
/** The approximate memory of an index. */
const INDEX_OCTETS = 4_000;
/** A blob that nobody has read within this time does not wait because of load. */
const KEPT_MS = 60_000;

export interface RecentBlobs extends BlobStore {
  /** The same mailboxes, whose committed blobs are read from memory for a while after the commit. */
  keptBy<S extends Pick<MailboxStore, 'commit'>>(mailboxes: S): S;
}

/** The same store, which reads blobs from memory for a while after `put`. */
export function recentBlobs(blobs: BlobStore): RecentBlobs {
  const recent = new RecentBlobCache();
  return {
    ...blobs,
    async put(content) {
      // The bytes are read before the store gets the content, because they are released afterwards.
      const bytes = await bytesOf(content);
      await blobs.put(readFrom(content, bytes));
      recent.keep(content, bytes);
    },
    keptBy(mailboxes) {
      const commit = (change: MailboxChange) =>
        change.contents.length + change.shared.length === 0
          ? mailboxes.commit(change)
          : recent.commitContents(mailboxes, change);
      return { ...mailboxes, commit };
    },
    async index(hash) {
      return recent.get(hash)?.index ?? blobs.index(hash);
    },
    indexes: (hashes) =>
      recent.recentOrStored(
        hashes,
        ({ index }) => index,
        (wanted) => blobs.indexes(wanted),
      ),
    readAll: (hashes) =>
      recent.recentOrStored(
        hashes,
        ({ bytes }) => bytes,
        (wanted) => blobs.readAll(wanted),
      ),
    async read(hash, start, end) {
      const bytes = recent.get(hash)?.bytes;
      return bytes !== undefined && end <= bytes.length ? bytes.subarray(start, end) : blobs.read(hash, start, end);
    },
    async readRanges(hash, ranges, signal) {
      const bytes = recent.get(hash)?.bytes;
      if (bytes === undefined || (ranges.at(-1)?.end ?? 0) > bytes.length)
        return blobs.readRanges(hash, ranges, signal);
      return ranges.map(({ start, end }) => Uint8Array.prototype.slice.call(bytes, start, end));
    },
    stream(hash, start, end) {
      const bytes = recent.get(hash)?.bytes;
      return bytes !== undefined && end <= bytes.length
        ? streamOf(bytes.subarray(start, end))
        : blobs.stream(hash, start, end);
    },
  };
}

async function* streamOf(octets: Uint8Array): AsyncGenerator<Uint8Array> {
  if (octets.length > 0) yield octets;
}

class RecentBlobCache {
  readonly #recent = new LRUCache<string, RecentBlob>({
    maxSize: KEPT_OCTETS,
    sizeCalculation: ({ bytes }) => INDEX_OCTETS + bytes.length,
    ttl: KEPT_MS,
  });
  readonly #shared = new WeakMap<SharedMessage, Promise<Buffer | undefined>>();

  get(hash: string): RecentBlob | undefined {
    return this.#recent.get(hash);
  }

  keep({ hash, index }: BlobContent, bytes: Buffer | undefined): void {
    if (bytes !== undefined) this.#recent.set(hash, { index, bytes });
  }

  /** Returns the blobs that are in memory, and reads the others from the store in one query. */
  async recentOrStored<T>(
    hashes: readonly string[],
    of: (blob: RecentBlob) => T,
    ask: (hashes: readonly string[]) => Promise<ReadonlyMap<string, T>>,
  ): Promise<ReadonlyMap<string, T>> {
    const found = new Map<string, T>();
    for (const hash of hashes) {
      const blob = this.#recent.get(hash);
      if (blob !== undefined) found.set(hash, of(blob));
    }
    if (found.size === hashes.length) return found;
    const stored = await ask(hashes.filter((hash) => !found.has(hash)));
    return found.size === 0 ? stored : new Map([...found, ...stored]);
  }

  /** Commits, and keeps the contents that were committed. */
  async commitContents(
    mailboxes: Pick<MailboxStore, 'commit'>,
    change: MailboxChange,
  ): ReturnType<MailboxStore['commit']> {
    const own = await allOf(change.contents, bytesOf);
    const contents = change.contents.map((content, i) => readFrom(content, own[i]));
    const shared = await allOf(change.shared, ({ message }) => this.#bytesOfShared(message));
    const result = await mailboxes.commit({ ...change, contents });
    if (result.kind !== 'committed') return result;
    change.contents.forEach((content, i) => {
      this.keep(content, own[i]);
    });
    change.shared.forEach(({ message }, i) => {
      this.keep(message.content, shared[i]);
    });
    return result;
  }

  /** The first of the mailboxes that place the message reads it for all. */
  #bytesOfShared(message: SharedMessage): Promise<Buffer | undefined> | undefined {
    const known = this.#shared.get(message);
    if (known !== undefined || !message.isOpen) return known;
    const read = bytesOf(message.content);
    this.#shared.set(message, read);
    return read;
  }
}

/** Avoids Promise.all for one item or none, which is the usual case. */
async function allOf<T, R>(items: readonly T[], of: (item: T) => R | Promise<R>): Promise<readonly R[]> {
  const [item, ...others] = items;
  if (item === undefined) return [];
  return others.length === 0 ? [await of(item)] : Promise.all(items.map(of));
}

/** Undefined when the blob is too large. */
async function bytesOf(content: BlobContent): Promise<Buffer | undefined> {
  if (content.size > SMALL_OCTETS) return undefined;
  const pieces: Uint8Array[] = [];
  for await (const piece of content.chunks()) pieces.push(piece);
  return Buffer.concat(pieces);
}

function readFrom(content: BlobContent, bytes: Buffer | undefined): BlobContent {
  return bytes === undefined ? content : { ...content, chunks: () => [bytes] };
}
