// Slots by a key, so that one record can be about all emails that a change leaves alike.

/** Lists of the slots that have the same key, in the order in which the keys were met first. */
export function grouped<K>(slots: readonly number[], keyOf: (slot: number) => K): Map<K, number[]> {
  const groups = new Map<K, number[]>();
  for (const slot of slots) {
    const key = keyOf(slot);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [slot]);
    else group.push(slot);
  }
  return groups;
}
