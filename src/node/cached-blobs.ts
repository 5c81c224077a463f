// A cached blob store: small blobs that this node has read before are read from its disk: the database sends a blob
// slower than a disk does, and twice as long.
import { join } from 'node:path';
import { BlobDiskCache } from '../spool/blob-disk-cache.js';
import type { BlobStore } from '../store/blobs.js';
import { shareOfMemory } from './processes/process-share.js';
import type { Resources } from './resources.js';

/** Of the file with copies of blobs that were read. */
const DISK_CACHE_OCTETS = 1024 * 1024 * 1024;
const CACHE_STOP_MS = 50;

/** One for all gateways of the node. Without a disk for it the node reads every blob from the database. */
export async function openCachedBlobs(
  blobs: BlobStore,
  { dataDirectory, lifecycle, log, processShare }: Resources,
): Promise<BlobStore> {
  try {
    const cache = await BlobDiskCache.open(
      join(dataDirectory.path, 'spool'),
      shareOfMemory(DISK_CACHE_OCTETS, processShare?.count ?? 1),
    );
    lifecycle.add('copies of blobs', () => cache.close(), CACHE_STOP_MS);
    return cachedBlobs(blobs, cache);
  } catch (err) {
    log.warn({ err }, 'there is no file for copies of blobs: all of them are read from the database');
    return blobs;
  }
}

/** The same store; `readAll` reads from the cache what is there, and leaves there what it reads. */
export function cachedBlobs(blobs: BlobStore, cache: BlobDiskCache): BlobStore {
  return {
    ...blobs,
    async readAll(hashes) {
      const found = await cache.read(hashes);
      if (found.size === hashes.length) return found;
      const missing = hashes.filter((hash) => !found.has(hash));
      if (missing.length === 0) return found;
      const read = await blobs.readAll(missing);
      cache.keep(read);
      return found.size === 0 ? read : new Map([...found, ...read]);
    },
  };
}
