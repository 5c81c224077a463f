// `npm run bench [name …]` runs benchmarks and prints the machine and each figure with its unit.
import { machine } from './support/machine.js';

const BENCHES: Readonly<Record<string, () => Promise<{ run(args: readonly string[]): Promise<void> }>>> = {
  ingest: () => import('./ingest.js'),
  cold: () => import('./cold.js'),
  mailbox: () => import('./mailbox.js'),
  realtime: () => import('./realtime.js'),
  rest: () => import('./rest.js'),
  indexing: () => import('./indexing.js'),
  junk: () => import('./junk.js'),
  'word-index': () => import('./word-index.js'),
  imap: () => import('./imap.js'),
  'quiet-client': () => import('./quiet-client.js'),
  pop3: () => import('./pop3.js'),
  web: () => import('./web.js'),
  outbound: () => import('./outbound.js'),
  'outbound-shares': () => import('./outbound-shares.js'),
  cluster: () => import('./cluster.js'),
  processes: () => import('./processes.js'),
  scaling: () => import('./scaling.js'),
  warm: () => import('./warm.js'),
  soak: () => import('./soak.js'),
};

const [name, ...args] = process.argv.slice(2);
/** These run only when they are named, because they take many minutes. */
const LONG = new Set(['soak']);
const names = name === undefined ? Object.keys(BENCHES).filter((each) => !LONG.has(each)) : [name];
const unknown = names.filter((wanted) => BENCHES[wanted] === undefined);
if (unknown.length > 0) {
  process.stderr.write(`there is no benchmark ${unknown.join(', ')}; there are ${Object.keys(BENCHES).join(', ')}\n`);
  process.exit(1);
}
process.stdout.write(`${machine()}\n`);
for (const wanted of names) {
  process.stdout.write(`\n${wanted}\n`);
  await (await BENCHES[wanted]!()).run(args);
}
