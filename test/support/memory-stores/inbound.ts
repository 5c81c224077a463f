// Accepted mail that waits for its mailbox, in memory.
import type { BlobStore } from '../../../src/store/blobs.js';
import { StoreFault } from '../../../src/store/errors.js';
import type { InboundStore } from '../../../src/store/inbound.js';
import { compare, type MemoryTables, storedJson } from './tables.js';

export function memoryInbound(tables: MemoryTables, blobs: Pick<BlobStore, 'put'>): InboundStore {
  return {
    async spool(content, envelope, deliveries) {
      if (deliveries.some(({ accountId }) => !tables.accounts.has(accountId))) {
        throw new StoreFault('store-conflict', 'an account of the message was deleted meanwhile', { temporary: true });
      }
      await blobs.put(content);
      const at = Date.now();
      // The commit of a mailbox may have added the rows of tried deliveries.
      for (const delivery of deliveries.filter(({ id }) => !tables.inbound.has(id)))
        tables.inbound.set(delivery.id, { ...delivery, blob: content.hash, envelope: storedJson(envelope), at });
    },
    async overdue(shards, minAgeMs, limit, except) {
      const before = Date.now() - minAgeMs;
      return [...tables.inbound.values()]
        .filter(({ accountId, at }) => {
          const account = tables.accounts.get(accountId);
          return account !== undefined && shards.includes(account.shard) && at < before && !except.includes(accountId);
        })
        .sort((a, b) => a.at - b.at || compare(a.id, b.id))
        .slice(0, limit)
        .map(({ at: _at, ...row }) => row);
    },
    async end({ id }) {
      tables.inbound.delete(id);
    },
  };
}
