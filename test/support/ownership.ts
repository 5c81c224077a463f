// The ownership of a node that owns everything and never loses it, for tests of the code that uses it.
import { NEVER } from 'rxjs';
import type { Ownership } from '../../src/actors/runtime/ownership/ownership.js';

export type FixedOwnership = Pick<Ownership, 'shards' | 'owned' | 'epochOf' | 'recheck' | 'missing' | 'relocations$'>;

export function fixedOwnership(shards = 1, epochOf: Ownership['epochOf'] = () => 1): FixedOwnership {
  const owned = Array.from({ length: shards }, (_, shard) => shard);
  return { shards, owned, epochOf, recheck: () => {}, missing: () => {}, relocations$: NEVER };
}
