// Gives tests of ownership a simulated cluster whose nodes have the shards that are theirs.
import type { ExecutionContext } from 'ava';
import { SimulatedCluster, TTL_MS } from '../../../support/cluster/simulated-cluster.js';

export const SHARDS = 16;
/** This is much longer than anything should take. */
export const PATIENCE_MS = 20 * TTL_MS;

export async function cluster(
  t: ExecutionContext,
  names: readonly string[],
  shards = SHARDS,
): Promise<SimulatedCluster> {
  const world = new SimulatedCluster(shards);
  t.teardown(() => world.end());
  for (const name of names) void world.join(name);
  t.true(await world.time.until(() => world.living.length === names.length && world.isConverged, PATIENCE_MS));
  return world;
}

/** Advances the time while the work runs. */
export async function passing<T>(world: SimulatedCluster, work: Promise<T>): Promise<T> {
  let done = false;
  const over = () => {
    done = true;
  };
  work.then(over, over);
  await world.time.until(() => done, PATIENCE_MS);
  return work;
}
