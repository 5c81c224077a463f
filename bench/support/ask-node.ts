// Child process of the cluster benchmark: the engine of a node without gateways, which asks its own or another node's mailboxes as ordered
// over IPC. Its environment configures it, like every node.
import { pino } from 'pino';
import { readConfig } from '../../src/node/config/config.js';
import { type EngineAdapters, startEngine } from '../../src/node/engine/engine.js';
import { Lifecycle } from '../../src/node/lifecycle.js';
import { openObservability } from '../../src/node/observability.js';
import { openResources } from '../../src/node/resources.js';
import { percentile } from './figures.js';

export interface AskTarget {
  readonly accountId: string;
  readonly emailId: string;
}

export interface AskOrder {
  readonly targets: readonly AskTarget[];
  readonly operation: 'query' | 'command';
  readonly inFlight: number;
  readonly milliseconds: number;
}

export interface AskReport {
  readonly asks: number;
  readonly seconds: number;
  readonly medianMs: number;
}

const STOP_MS = 5_000;
const YIELD_EVERY = 100;

const log = pino({ level: 'warn' });
const lifecycle = new Lifecycle(log);
const config = readConfig();
const resources = await openResources(config, log, lifecycle, new AbortController().signal);
const observability = await openObservability(resources);
const adapters: EngineAdapters = {
  texts: () => ({
    header: async () => Promise.reject(new Error('no filter is here')),
    text: async () => ({ text: '', extent: 'whole' }),
    longText: async () => ({ text: '', extent: 'whole' }),
    searchable: async (messages) => messages.map(() => ({ recipients: '', attachments: '', body: '' })),
    close: async () => {},
  }),
  remoteTransport: async () => ({
    deliver: () => Promise.reject(new Error('no mail leaves here')),
    close: async () => {},
    relayLogins: { refusing: 0 },
  }),
};
const { mailboxes } = await startEngine(config, log, lifecycle, resources, observability, adapters);

async function run({ targets, operation, inFlight, milliseconds }: AskOrder): Promise<AskReport> {
  const samples: number[] = [];
  let next = 0;
  const started = performance.now();
  const asker = async () => {
    for (let now = performance.now(); now - started < milliseconds; ) {
      const i = next++;
      const { accountId, emailId } = targets[i % targets.length]!;
      const mailbox = mailboxes.of(accountId);
      if (operation === 'query') await mailbox.ask('unreadCount', {});
      else {
        // Every round changes the state of the previous one.
        const isRead = Math.floor(i / targets.length) % 2 === 0;
        await mailbox.ask('setRead', { emailIds: [emailId], isRead });
      }
      const answered = performance.now();
      samples.push(answered - now);
      // Queries from memory are answered in one turn of the event loop, but heartbeats need turns too.
      if (i % YIELD_EVERY === 0) await new Promise(setImmediate);
      now = performance.now();
    }
  };
  await Promise.all(Array.from({ length: inFlight }, asker));
  const seconds = (performance.now() - started) / 1000;
  return { asks: samples.length, seconds, medianMs: percentile(samples, 0.5) };
}

process.on('message', async (order: AskOrder) => {
  process.send?.(await run(order));
});
process.on('disconnect', async () => {
  await lifecycle.stop(STOP_MS);
  process.exit(0);
});
process.send?.('ready');
