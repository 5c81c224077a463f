/** Splits the list where neighbours are not the same. */
export function runsOf<T>(list: readonly T[], areSame: (a: T, b: T) => boolean): T[][] {
  const runs: T[][] = [];
  for (const each of list) {
    const run = runs.at(-1);
    if (run !== undefined && areSame(run[0]!, each)) run.push(each);
    else runs.push([each]);
  }
  return runs;
}
