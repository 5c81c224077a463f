// Composition root: starts resources → engine → listeners, and stops them in reverse order. It knows the parts of a node, but not how
// they work; its caller (`cli/serve`) owns signals, output and exit codes.
import { randomBytes } from 'node:crypto';
import type { Logger } from 'pino';
import { newApiKey } from '../actors/directory/api-key.js';
import { loadServerLibrary } from '../gateways/http/server/server-library.js';
import { createResolver } from '../net/dns/resolver.js';
import { postgresSigningKeys } from '../store/postgres/outbound/signing-keys.js';
import { openCertificates } from './certificates/open-certificates.js';
import type { Config } from './config/config.js';
import { type Demo, prepareDemo } from './demo.js';
import { drainNode } from './drain.js';
import { startDurableConsumers } from './engine/durable-consumers.js';
import { openEmailTexts } from './engine/email-texts.js';
import { type EngineAdapters, startEngine } from './engine/engine.js';
import { openRemoteTransport } from './engine/remote-transport.js';
import { warnOfPlaintext } from './health/backend-tls.js';
import { signingKeysOf, warnOfUnsigned } from './health/signing-check.js';
import { Lifecycle } from './lifecycle.js';
import { registration } from './listeners/connection-info.js';
import { adviseOfHttp } from './listeners/http-exposure.js';
import { type Listeners, openListeners, type Vitals } from './listeners/listeners.js';
import { openObservability } from './observability.js';
import type { ProcessShare } from './processes/process-share.js';
import { openResources } from './resources.js';

export interface RunningNode {
  readonly nodeId: string;
  readonly listeners: Listeners;
  /** The data for the demo's banner; undefined when this is not a demo. */
  readonly demo: Demo | undefined;
  /** Rejects when the node must not continue: the caller has to stop it. */
  readonly failed: Promise<never>;
  readonly vitals: Vitals;
  /** Drains and stops everything within 10 s. It never fails; false when a part did not stop cleanly in time. */
  stop(manner?: StopManner): Promise<boolean>;
}

export interface StopManner {
  /** Other processes continue to serve the same ports and accept the new connections. */
  readonly portsStay?: boolean;
  /** The stop waits for nobody: other nodes take the mailboxes over without a hand-over. */
  readonly atOnce?: boolean;
}

const STOP_MS = 9500;
/** The part of STOP_MS in which others take over the mailboxes. */
const DRAIN_MS = 3000;
/** The time that a drain needs to end, besides its waits. */
const DRAIN_END_MS = 100;

/** A start that fails stops everything that it has started. @throws what `start-failure` explains, or a bug */
export async function startNode(
  config: Config,
  log: Logger,
  signal = new AbortController().signal,
  processShare?: ProcessShare,
): Promise<RunningNode> {
  const lifecycle = new Lifecycle(log);
  try {
    return await assemble(config, log, lifecycle, signal, processShare);
  } catch (error) {
    await lifecycle.stop(STOP_MS);
    throw error;
  }
}

async function assemble(
  config: Config,
  log: Logger,
  lifecycle: Lifecycle,
  signal: AbortSignal,
  processShare: ProcessShare | undefined,
): Promise<RunningNode> {
  if (config.unknown.length > 0) log.warn({ variables: config.unknown }, 'variables that mean nothing to this version');
  if (processShare === undefined || processShare.number === 1) warnOfPlaintext(config, log);
  // The library is loaded first, so that nothing is created on a platform where the node cannot start.
  await loadServerLibrary();
  const resources = await openResources(config, log, lifecycle, signal, processShare);
  const { nodeId, dataDirectory } = resources;
  const observability = await openObservability(resources);
  const dns = createResolver({ servers: config.outboundDns });
  let mxPort: number | undefined;
  const adapters: EngineAdapters = {
    texts: openEmailTexts,
    remoteTransport: (stores) =>
      openRemoteTransport({ config, nodeId, log, dns, metrics: observability.metrics, mxPort: () => mxPort }, stores),
  };
  const engine = await startEngine(config, log, lifecycle, resources, observability, adapters);
  signal.throwIfAborted();
  if (config.roles.has('mailbox')) await startDurableConsumers(config, log, lifecycle, engine, dns);
  signal.throwIfAborted();
  const { accounts: directory } = engine;
  const authenticate = (apiKey: string) => engine.directory.authenticate(apiKey);
  const mintKey = () => newApiKey(randomBytes);
  // One process prepares the demo for all of them.
  const isFirst = processShare === undefined || processShare.number === 1;
  const { sessions } = engine.accountStores;
  const demo =
    config.demo && isFirst
      ? await prepareDemo({ dataDirectory, directory, authenticate, mintKey, sessions, random: randomBytes })
      : undefined;
  const checksDns = config.dns === config.outboundDns ? dns : createResolver({ servers: config.dns });
  const acme = await openCertificates(config, resources, checksDns, observability.metrics);
  const { certificates } = resources.tls;
  observability.metrics?.watchCertificates({ presented: () => certificates.presented, acme: () => acme?.status });
  const resolvers = { outgoing: dns, checks: checksDns };
  const { listeners, vitals, beginDrain } = await openListeners(
    config,
    resources,
    engine,
    observability,
    resolvers,
    acme,
  );
  const signing = signingKeysOf(config, postgresSigningKeys(resources.sql));
  if (isFirst && signing !== undefined) await warnOfUnsigned(signing, log);
  if (isFirst && listeners.http !== undefined) adviseOfHttp(config, listeners, log);
  await engine.ownership.announce(registration(config, listeners));
  if (listeners.mx !== undefined) mxPort = Number(listeners.mx.replace(/^.*:/, ''));
  signal.throwIfAborted();
  // Draining is the first step of the stop: clients are still served while others take over the mailboxes.
  const { ownership, queue, failed } = engine;
  let manner: StopManner = {};
  const drain = async (boundMs: number) => {
    if (manner.atOnce === true) return;
    const beginDrainOfAll = () => {
      queue?.beginDrain();
      beginDrain(manner.portsStay === true);
    };
    const withinMs = Math.max(0, Math.min(DRAIN_MS, boundMs - DRAIN_END_MS));
    await drainNode({ ownership, beginDrain: beginDrainOfAll, withinMs });
  };
  lifecycle.add('drain', drain, DRAIN_MS);
  const stop = (chosen: StopManner = {}) => {
    manner = chosen;
    return lifecycle.stop(STOP_MS);
  };
  return { nodeId, listeners, demo, failed, vitals, stop };
}
