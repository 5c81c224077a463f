// Composition root: foundation → actors → gateways, stopped in reverse. Knows what a node is made of and nothing of how
// any of it works; who calls it (`cli/serve`) owns signals, output and exit codes.
import type { Logger } from 'pino';
import type { Config } from './config.js';
import type { Demo } from './demo.js';
import { layFoundation } from './foundation.js';
import { Lifecycle } from './lifecycle.js';
import { postgresDirectory } from './store/postgres/directory.js';
import { postgresLeases } from './store/postgres/leases.js';

/** Names of the contract's ready line; only those that are open. */
export type Listeners = Readonly<Partial<Record<'http' | 'mx', string>>>;

export interface RunningNode {
  readonly nodeId: string;
  readonly listeners: Listeners;
  /** What the demo's banner shows; undefined when this is no demo. */
  readonly demo: Demo | undefined;
  /** Drains and stops everything within 10 s; never fails, false when something had to be left as it was. */
  stop(): Promise<boolean>;
}

const STOP_MS = 9500;

/** Everything that was started is stopped again when it fails. @throws what `start-failure` explains, or a bug */
export async function startNode(
  config: Config,
  log: Logger,
  signal = new AbortController().signal,
): Promise<RunningNode> {
  const lifecycle = new Lifecycle(log);
  try {
    return await assemble(config, log, lifecycle, signal);
  } catch (error) {
    await lifecycle.stop(STOP_MS);
    throw error;
  }
}

async function assemble(config: Config, log: Logger, lifecycle: Lifecycle, signal: AbortSignal): Promise<RunningNode> {
  if (config.unknown.length > 0) log.warn({ variables: config.unknown }, 'variables that mean nothing to this version');
  const { sql, nodeId } = await layFoundation(config, log, lifecycle, signal);

  // Store: the ports the actors write through.
  const shards = await postgresLeases(sql).shardCount(config.shards);
  if (shards !== config.shards) log.warn({ shards, configured: config.shards }, 'MANSIO_SHARDS is fixed by the store');
  const directoryStore = postgresDirectory(sql, shards);
  for (const name of config.hostedDomains) await directoryStore.addDomain(name);

  // JOIN actors: transport, shard leases, mailbox host, then the directory; each followed by its stop, for example
  //   lifecycle.add('shard leases', () => ownership.stop(), 500);
  //   const directory = await createDirectory({ store: directoryStore, mailboxes, unknownRecipients, log, … });
  //   lifecycle.add('directory', () => directory.close());
  signal.throwIfAborted();

  // JOIN demo, when config.demo:
  //   await prepareDemo({ dataDirectory, directory: directoryStore, authenticate: directory.authenticate,
  //     mintKey: () => newApiKey(randomBytes) });
  const demo: Demo | undefined = undefined;

  // JOIN gateways, last to start and so first to stop: HTTP with the hub when config.roles has 'api', MX when it has 'mx',
  // each adding its stop to `lifecycle` and its address to `listeners`. A listen that fails throws
  //   listenFailure(error, 'HTTP', 'MANSIO_HTTP_PORT', config.bind, config.httpPort).
  const listeners: Listeners = {};
  signal.throwIfAborted();

  return { nodeId, listeners, demo, stop: () => lifecycle.stop(STOP_MS) };
}
