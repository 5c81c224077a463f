// Groups items by a key: slots, so that one record can describe all emails that get the same change.

/** Returns the lists of items that have the same key, in the order in which the keys first occur. */
export function grouped<K, Item>(items: readonly Item[], keyOf: (item: Item) => K): Map<K, Item[]> {
  const groups = new Map<K, Item[]>();
  let last: K | undefined;
  let group: Item[] | undefined;
  for (const item of items) {
    const key = keyOf(item);
    // Neighbours mostly have the same key.
    if (group === undefined || key !== last) {
      last = key;
      group = groups.get(key);
      if (group === undefined) {
        group = [];
        groups.set(key, group);
      }
    }
    group.push(item);
  }
  return groups;
}
