// Loaded into a node before it starts: collects all garbage whenever the node gets SIGUSR2, so that its resident memory is
// what it keeps.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;
process.on('SIGUSR2', () => {
  collect();
  collect();
});
