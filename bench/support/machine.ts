// Describes in one line the machine on which figures were measured.
import { availableParallelism, cpus, loadavg, release, type as system, totalmem } from 'node:os';

export function machine(): string {
  const model = cpus()[0]?.model ?? 'unknown processor';
  const memory = Math.round(totalmem() / 2 ** 30);
  return `${model}, ${availableParallelism()} cores, ${memory} GiB, ${system()} ${release()}, Node ${process.version}`;
}

/** Returns the numbers of runnable processes over the last 1, 5 and 15 minutes, which show the load of other programs. */
export function loadAverage(): string {
  return loadavg()
    .map((load) => load.toFixed(1))
    .join(' ');
}
