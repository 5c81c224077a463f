// Loaded into a node before it starts: collects all garbage whenever the node gets SIGUSR2, so that its resident memory is
// what it keeps. With BENCH_MEMORY_FILE the octets of the heap and of buffers are written to that file then.
import { renameSync, writeFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;
const file = process.env['BENCH_MEMORY_FILE'];
process.on('SIGUSR2', () => {
  collect();
  collect();
  if (file === undefined) return;
  const { heapUsed, external } = process.memoryUsage();
  writeFileSync(`${file}.new`, String(heapUsed + external));
  renameSync(`${file}.new`, file);
});
