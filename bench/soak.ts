// Applies mixed load for a time (`npm run bench soak 20`: minutes, 20 by default) and measures the node's resident memory every minute, and
// how fast it grows when caches are full. For heap snapshots set BENCH_NODE_OPTIONS=--heapsnapshot-signal=SIGUSR2 and send the signal.
import { readFile } from 'node:fs/promises';
import { freePort } from '../dev/ports.js';
import { figure } from './support/figures.js';
import { startBenchNode } from './support/node.js';
import { SoakLoad } from './support/soak-load.js';
import { pause } from './support/write-probe.js';

const MINUTES = 20;
const ACCOUNTS = 40;
const MINUTE_MS = 60_000;
/** Memory should be stable after this time; in a short run after half of it. */
const WARM_MINUTES = 10;

interface Sample {
  readonly minute: number;
  readonly resident: number;
  readonly heap: number;
  readonly external: number;
}

export async function run([asked]: readonly string[]): Promise<void> {
  const minutes = Number(asked ?? MINUTES);
  if (!(minutes >= 1)) throw new Error(`minutes, not ${asked}`);
  const metricsPort = await freePort();
  const node = await startBenchNode({
    MANSIO_LOG_LEVEL: 'warn',
    MANSIO_MBOX_EXPORT_INTERVAL: '0',
    MANSIO_METRICS_PORT: String(metricsPort),
  });
  try {
    const accounts = await Promise.all(
      (await node.createAccounts(ACCOUNTS)).map(async (account) => ({
        ...account,
        key: await node.createKey(account.id),
      })),
    );
    process.stdout.write(`  node ${node.process.pid}\n`);
    const load = new SoakLoad(node, accounts);
    load.start();
    const samples: Sample[] = [];
    const started = performance.now();
    for (let minute = 1; minute <= minutes; minute++) {
      await pause(started + minute * MINUTE_MS - performance.now());
      const sample = { minute, ...(await memoryOf(node.process.pid!, metricsPort)) };
      samples.push(sample);
      const { heap, external } = sample;
      figure(`minute ${minute}`, sample.resident, 'MB', `heap ${heap.toFixed(1)}, external ${external.toFixed(1)}`);
    }
    await load.stop();
    for (const name of new Set([...Object.keys(load.done), ...Object.keys(load.failed)])) {
      const failed = load.failed[name] ?? 0;
      const note = failed === 0 ? '' : `${failed} failed, the last by: ${load.lastFault[name]}`;
      figure(name, (load.done[name] ?? 0) / minutes / 60, 'a second', note);
    }
    const warm = Math.min(WARM_MINUTES, Math.floor(minutes / 2));
    figure(`resident memory after minute ${warm}`, slope(samples.slice(warm - 1), 'resident'), 'MB a minute');
    figure(`heap after minute ${warm}`, slope(samples.slice(warm - 1), 'heap'), 'MB a minute');
  } finally {
    await node.stop();
  }
}

async function memoryOf(pid: number, metricsPort: number): Promise<Omit<Sample, 'minute'>> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  const metric = (name: string) => Number(new RegExp(`^mansio_nodejs_${name} (\\S+)$`, 'm').exec(text)?.[1]) / 2 ** 20;
  return {
    resident: Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024,
    heap: metric('heap_size_used_bytes'),
    external: metric('external_memory_bytes'),
  };
}

/** Returns the slope by least squares. */
function slope(samples: readonly Sample[], of: 'resident' | 'heap'): number {
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const minute = mean(samples.map((sample) => sample.minute));
  const value = mean(samples.map((sample) => sample[of]));
  const above = samples.reduce((sum, sample) => sum + (sample.minute - minute) * (sample[of] - value), 0);
  return above / samples.reduce((sum, sample) => sum + (sample.minute - minute) ** 2, 0);
}
