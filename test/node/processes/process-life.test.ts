// Tests what a parent learns about the end of a process, also when the system first broke the channel between them or started no
// process at all.
import cluster from 'node:cluster';
import { readFileSync } from 'node:fs';
import type { StartMessage } from '../../../src/node/processes/messages.js';
import { NeverReady, ProcessLife } from '../../../src/node/processes/process-life.js';
import test from '../../support/test.js';

const START: StartMessage = {
  kind: 'start',
  nodeId: 'n.1',
  dataDir: '/nowhere/1',
  ports: {},
  processShare: { number: 1, count: 2, directory: '/nowhere', httpPort: undefined, acmePort: undefined },
};

const SILENT = ['-e', 'setInterval(() => {}, 1000)'];

/** Starts a process that sends nothing. */
function begin(settings: Readonly<Record<string, unknown>> = {}): ProcessLife {
  cluster.setupPrimary({ exec: '/dev/null', args: [], execArgv: SILENT, cwd: process.cwd(), ...settings });
  return new ProcessLife(START, () => {});
}

/** Blocks the event loop, so that this process does not hear of the end. */
function awaitDeath(pid: number): void {
  const until = performance.now() + 20_000;
  while (!/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8')))
    if (performance.now() > until) throw new Error(`process ${pid} does not end`);
}

const onLinux = process.platform === 'linux' ? test.serial : test.serial.skip;

onLinux(
  'a connection that is handed to a process which has just been killed harms nobody but the process',
  async (t) => {
    const life = begin();
    const worker = Object.values(cluster.workers ?? {}).find((each) => each?.process.pid === life.pid);
    life.kill();
    awaitDeath(life.pid);
    const broken = new Promise((resolve) => worker!.once('error', resolve));
    // The cluster module writes in this way, without a callback for the failure.
    worker!.process.send({ cmd: 'NODE_CLUSTER', act: 'newconn' });
    t.like(await broken, { code: 'EPIPE' });
    t.deepEqual(await life.ended, { code: null, signal: 'SIGKILL', failure: undefined });
    await t.throwsAsync(life.ready, { instanceOf: NeverReady });
  },
);

test.serial('a process that the system does not make has ended, with the reason', async (t) => {
  const life = begin({ cwd: '/nowhere' });
  t.like(await life.ended, { code: null, signal: null, failure: { isTemporary: false, isFinal: false } });
  t.regex((await life.ended).failure!.message!, /can be made.*ENOENT/);
  await t.throwsAsync(life.ready, { instanceOf: NeverReady });
  t.deepEqual(await life.stop(false, 100), await life.ended);
});
