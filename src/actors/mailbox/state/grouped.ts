// Groups slots by a key, so that one record can describe all emails that get the same change.

/** Returns the lists of slots that have the same key, in the order in which the keys first occur. */
export function grouped<K>(slots: readonly number[], keyOf: (slot: number) => K): Map<K, number[]> {
  const groups = new Map<K, number[]>();
  let last: K | undefined;
  let group: number[] | undefined;
  for (const slot of slots) {
    const key = keyOf(slot);
    // Neighbours mostly have the same key.
    if (group === undefined || key !== last) {
      last = key;
      group = groups.get(key);
      if (group === undefined) {
        group = [];
        groups.set(key, group);
      }
    }
    group.push(slot);
  }
  return groups;
}
