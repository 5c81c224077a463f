// Preloaded into a node: it collects all garbage when the node gets SIGUSR2, so that its resident memory is what it keeps. With
// BENCH_MEMORY_FILE it also writes the octets of the heap and of buffers to that file.
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
