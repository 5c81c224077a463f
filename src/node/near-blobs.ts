// A store of blobs whose small ones are read near at hand when this node has read them before: the database sends a blob
// slower than a disk does, and twice as long.
import type { BlobRing } from '../spool/blob-ring.js';
import type { BlobStore } from '../store/blobs.js';

/** The same store; `readAll` reads from the ring what is there, and leaves there what it reads. */
export function nearBlobs(blobs: BlobStore, ring: BlobRing): BlobStore {
  return {
    ...blobs,
    async readAll(hashes) {
      const near = await ring.read(hashes);
      const missing = hashes.filter((hash) => !near.has(hash));
      if (missing.length === 0) return near;
      const read = await blobs.readAll(missing);
      ring.keep(read);
      return near.size === 0 ? read : new Map([...near, ...read]);
    },
  };
}
