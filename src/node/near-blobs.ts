// A store of blobs whose small ones are read near at hand when this node has read them before: the database sends a blob
// slower than a disk does, and twice as long.
import { join } from 'node:path';
import { BlobRing } from '../spool/blob-ring.js';
import type { BlobStore } from '../store/blobs.js';
import { shareOfMemory } from './processes/process-share.js';
import type { Resources } from './resources.js';

/** Of the file with copies of blobs that were read. */
const BLOB_RING_OCTETS = 1024 * 1024 * 1024;
const RING_STOP_MS = 50;

/** One for all gateways of the node. Without a disk for it the node reads every blob from the database. */
export async function openNearBlobs(
  blobs: BlobStore,
  { dataDirectory, lifecycle, log, processShare }: Resources,
): Promise<BlobStore> {
  try {
    const ring = await BlobRing.open(
      join(dataDirectory.path, 'spool'),
      shareOfMemory(BLOB_RING_OCTETS, processShare?.count ?? 1),
    );
    lifecycle.add('copies of blobs', () => ring.close(), RING_STOP_MS);
    return nearBlobs(blobs, ring);
  } catch (err) {
    log.warn({ err }, 'there is no file for copies of blobs: all of them are read from the database');
    return blobs;
  }
}

/** The same store; `readAll` reads from the ring what is there, and leaves there what it reads. */
export function nearBlobs(blobs: BlobStore, ring: BlobRing): BlobStore {
  return {
    ...blobs,
    async readAll(hashes) {
      const near = await ring.read(hashes);
      if (near.size === hashes.length) return near;
      const missing = hashes.filter((hash) => !near.has(hash));
      if (missing.length === 0) return near;
      const read = await blobs.readAll(missing);
      ring.keep(read);
      return near.size === 0 ? read : new Map([...near, ...read]);
    },
  };
}
