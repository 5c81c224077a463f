// A cached blob store: small blobs that this node has already read are read from its disk. The database takes longer than a disk to send a
// blob.
import { join } from 'node:path';
import { BlobDiskCache } from '../../message-content/spool/blob-disk-cache.js';
import type { BlobStore } from '../../store/blobs.js';
import { shareOfMemory } from '../processes/process-share.js';
import type { Resources } from '../resources.js';

/** The size of the file with copies of blobs that were read. */
const DISK_CACHE_OCTETS = 1024 * 1024 * 1024;
const CACHE_STOP_MS = 50;

/** One store for all gateways of the node. When the disk cannot be used, the node reads every blob from the database. */
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

/** The same store, except that `readAll` reads cached blobs from the disk, and adds the others to the cache. */
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
