// The order of the test files of a run. Files that start clusters are spread among the others: several clusters at once take more processor
// time than there is, wait longer for each other's leases, and have more mail meanwhile.

/** The environment variable with the name of a file that has the order: a JSON array of absolute paths. */
export const TEST_ORDER = 'TEST_ORDER';

/** The last cluster begins when this part of the files has begun, so that none runs alone at the end. */
const SPREAD_OVER = 0.85;

/** Returns `heavy` spread evenly among `light`; both keep their order. */
export function spread(heavy: readonly string[], light: readonly string[]): readonly string[] {
  const step = heavy.length === 0 ? 0 : Math.floor((light.length * SPREAD_OVER) / heavy.length);
  const order: string[] = [];
  let next = 0;
  for (const file of heavy) {
    order.push(file, ...light.slice(next, next + step));
    next += step;
  }
  return [...order, ...light.slice(next)];
}
