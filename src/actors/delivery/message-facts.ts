// The facts of a message that local delivery needs, from its index: the summary, and the hosts and mailboxes that it has passed. Cached,
// because one email often goes to many mailboxes.
import { lruCache } from '../../concurrency/lru-cache.js';
import type { MessageIndex } from '../../mail-format/message-index.js';
import type { MessageSummary } from '../../mail-format/summary.js';
import { summarize } from '../../mail-format/summary.js';
import type { BlobStore } from '../../store/blobs.js';
import { StoreFault } from '../../store/errors.js';

export interface MessageFacts {
  readonly summary: MessageSummary;
  readonly receivedCount: number;
  readonly deliveredTo: readonly string[];
}

export interface MessageFactSource {
  /** Without `index`, it is read from the store. @throws StoreFault, also when there is no such blob */
  of(blob: string, index?: MessageIndex): Promise<MessageFacts>;
}

const REMEMBERED = 200;

export function messageFacts(blobs: Pick<BlobStore, 'index'>): MessageFactSource {
  const known = lruCache<string, MessageFacts>(REMEMBERED);
  return {
    async of(blob, given) {
      const remembered = known.get(blob);
      if (remembered !== undefined) return remembered;
      const index = given ?? (await blobs.index(blob));
      if (index === undefined) throw new StoreFault('store-failed', `blob ${blob} is not there`, { temporary: false });
      const summary = summarize(index);
      const { receivedCount, deliveredTo } = index;
      const facts = { summary: { ...summary, references: [...summary.references] }, receivedCount, deliveredTo };
      known.set(blob, facts);
      return facts;
    },
  };
}
