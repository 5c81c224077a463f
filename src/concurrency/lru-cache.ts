// Caches of many small entries. lru-cache allocates its arrays for all of `max` at once, some 45 octets per entry; the caches of a node
// may have more than a million entries together and are mostly empty. With `maxSize` its arrays grow with what is stored.
import { LRUCache } from 'lru-cache';

/** `most`: entries; the one that was used least recently leaves for another. */
export function lruCache<K extends object | string | number, V extends object | string | number | true>(
  most: number,
  options: Omit<LRUCache.Options<K, V, unknown>, 'max' | 'maxSize' | 'maxEntrySize' | 'sizeCalculation'> = {},
): LRUCache<K, V> {
  return new LRUCache<K, V>({ ...options, maxSize: most, sizeCalculation: () => 1 } as LRUCache.Options<K, V, unknown>);
}
