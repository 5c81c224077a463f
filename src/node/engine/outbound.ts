// The fifth step of the engine: outbound mail, on nodes with the role `outbound`.
import { OUTBOUND_ROLE } from '../../actors/delivery/delivery-placement.js';
import type { DeliveryQueue } from '../../actors/delivery/queue.js';
import { TlsTally } from '../../message-checks/feedback/own/tls-tally.js';
import { clock } from '../../store/clock.js';
import { postgresRelays } from '../../store/postgres/outbound/relays.js';
import { postgresSigningKeys } from '../../store/postgres/outbound/signing-keys.js';
import { postgresStsPolicies } from '../../store/postgres/outbound/sts-policies.js';
import type { ClusterAccess } from './cluster.js';
import { openQueue, type RemoteTransport } from './delivery-queue.js';
import type { EngineContext } from './engine-context.js';
import { type EngineMailboxes, retryOf } from './mailboxes.js';
import type { RemoteTransportStores } from './remote-transport.js';
import type { EngineStores } from './stores.js';

/** The transport for mail to remote domains; called only on nodes with the role `outbound`. */
export type OpenRemoteTransport = (stores: RemoteTransportStores) => Promise<RemoteTransport>;

/** Undefined without the role `outbound`. */
export interface EngineOutbound {
  readonly queue: DeliveryQueue | undefined;
  readonly relayLogins: RemoteTransport['relayLogins'] | undefined;
}

export async function startOutbound(
  context: EngineContext,
  { ownership, incarnation }: ClusterAccess,
  { blobs, outbound, ownTlsReports }: EngineStores,
  { mailboxes, hosted, queueWakeup }: EngineMailboxes,
  openRemote: OpenRemoteTransport,
): Promise<EngineOutbound> {
  const { config, log, lifecycle, node, observability } = context;
  if (!config.roles.has(OUTBOUND_ROLE)) return { queue: undefined, relayLogins: undefined };
  const { sql } = node;
  const tlsResults = tlsTally(context, ownTlsReports);
  const remote = await openRemote({
    blobs,
    stsPolicies: postgresStsPolicies(sql),
    relays: postgresRelays(sql),
    signingKeys: postgresSigningKeys(sql),
    tlsResults,
  });
  const queue = openQueue(config, log, lifecycle, observability.metrics, {
    store: outbound,
    blobs,
    mailboxes,
    hosted,
    ownership,
    queueWakeup,
    incarnation,
    retry: retryOf(config),
    remote,
  });
  return { queue, relayLogins: remote.relayLogins };
}

const COUNTS_MS = 500;

/** The counts are written after the transport, which adds to them, has closed. */
function tlsTally(
  { config, log, lifecycle }: EngineContext,
  store: EngineStores['ownTlsReports'],
): TlsTally | undefined {
  if (config.reports === 'off') return undefined;
  const tally = new TlsTally({ store, now: () => clock.now(), log });
  lifecycle.add('counts of TLS', () => tally.close(), COUNTS_MS, COUNTS_MS);
  return tally;
}
