// The engine of a node: its actors and their dependencies, started in five steps. It knows the ports of the store and no gateway; gateways
// get only `Engine`.
import { randomBytes } from 'node:crypto';
import type { Logger } from 'pino';
import { createAccountApi } from '../../actors/account/account-api.js';
import type { AccountApi } from '../../actors/account/protocol.js';
import type { Mailboxes } from '../../actors/mailbox/protocol.js';
import type { Transport } from '../../actors/runtime/transport/transport.js';
import { clock } from '../../store/clock.js';
import { newId } from '../../store/ids/new-id.js';
import type { Config } from '../config/config.js';
import type { DailyDoctor } from '../doctor/daily-doctor.js';
import type { Lifecycle } from '../lifecycle.js';
import type { Observability } from '../observability.js';
import { automaticMail } from './automatic-mail.js';
import { startBackground } from './background.js';
import { type ClusterAccess, joinCluster } from './cluster.js';
import type { EngineContext } from './engine-context.js';
import { type EngineMailboxes, startMailboxes } from './mailboxes.js';
import { type EngineOutbound, type OpenRemoteTransport, startOutbound } from './outbound.js';
import { type EngineStores, type OpenTexts, openStores } from './stores.js';

export interface Engine
  extends Pick<ClusterAccess, 'ownership' | 'failed'>,
    EngineOutbound,
    Pick<EngineMailboxes, 'directory' | 'inlineMessages' | 'consumers' | 'quotas' | 'sending'>,
    Pick<
      EngineStores,
      | 'accounts'
      | 'accountStores'
      | 'arrivedReports'
      | 'ownReports'
      | 'blobs'
      | 'exports'
      | 'folderMessages'
      | 'inbound'
      | 'settings'
    > {
  readonly mailboxes: Mailboxes;
  readonly accountApi: AccountApi;
  /** The daily run of the checks of `mansio doctor`. */
  readonly doctor: DailyDoctor | undefined;
  readonly commits: Pick<EngineStores['commits'], 'failing'>;
  readonly revocations: Pick<EngineStores['revocations'], 'period'>;
  /** The bus for notices and requests between nodes. */
  readonly bus: Pick<Transport, 'publish' | 'subscribe' | 'request' | 'respond'>;
}

/** The parts of gateways that the engine uses; it creates them when it needs them. */
export interface EngineAdapters {
  readonly texts: OpenTexts;
  readonly remoteTransport: OpenRemoteTransport;
}

export async function startEngine(
  config: Config,
  log: Logger,
  lifecycle: Lifecycle,
  node: EngineContext['node'],
  observability: Observability,
  open: EngineAdapters,
): Promise<Engine> {
  const context: EngineContext = { config, log, lifecycle, node, observability };
  const cluster = await joinCluster(context);
  const stores = await openStores(context, cluster, open.texts);
  const actors = await startMailboxes(context, cluster, stores);
  const background = await startBackground(context, cluster, stores, actors);
  const { transport, ownership, failed } = cluster;
  const { host, consumers } = actors;
  const { merging } = stores.search;
  observability.metrics?.watchEngine({ ...background, consumers, host, ownership, transport, merging });
  const outbound = await startOutbound(context, cluster, stores, actors, open.remoteTransport);
  const accountApi = accountApiOf(config, stores, actors);
  const { doctor } = background;
  return { ...stores, ...actors, ...outbound, accountApi, doctor, ownership, bus: transport, failed };
}

function accountApiOf(
  { publicUrl, hostname }: Config,
  { accounts, accountStores, blobs }: EngineStores,
  actors: EngineMailboxes,
): AccountApi {
  const { mailboxes, keyUses, consumers } = actors;
  return createAccountApi({
    directory: accounts,
    senders: actors.directory,
    verification: { publicUrl, hostname, newId, send: automaticMail(blobs, mailboxes) },
    ...accountStores,
    mailboxes,
    consumersChanged: (accountId) => consumers.changed(accountId),
    keyUses,
    random: randomBytes,
    time: () => clock.now(),
  });
}
