// The IMAP listeners of a node, with STARTTLS and with TLS from the start. They share one cache of messages and one set of folder mirrors.
// `listeners` opens and stops them.
import { totalmem } from 'node:os';
import type { ImapContext } from '../../gateways/imap/context.js';
import { DEFAULT_LIMITS } from '../../gateways/imap/limits.js';
import { memoryLimiters } from '../../gateways/imap/memory-limiters.js';
import { createMessageSource } from '../../gateways/imap/messages/message-source.js';
import { NO_METER } from '../../gateways/imap/meter.js';
import { FolderResults } from '../../gateways/imap/search/folder-results.js';
import { startImap } from '../../gateways/imap/server.js';
import { createFolderMirrors } from '../../gateways/imap/view/folder-mirrors.js';
import type { Spool } from '../../message-content/spool/spool.js';
import { connectionLimiters } from '../../net/tcp/connection-limits.js';
import type { TcpListener } from '../../net/tcp/tcp-listener.js';
import { TrustedNetworks } from '../../net/tcp/trusted-networks.js';
import type { BlobStore } from '../../store/blobs.js';
import type { Config } from '../config/config.js';
import type { ListenerPort } from '../config/values.js';
import type { Engine } from '../engine/engine.js';
import type { Observability } from '../observability.js';
import { limitsOf, shareOfMemory } from '../processes/process-share.js';
import type { Resources } from '../resources.js';
import { version } from '../version.js';
import type { CredentialChecks } from './credential-checks.js';
import { onlyOpen, openListener, type StopListener } from './open-listener.js';

/** The open listeners by their names in the ready line. */
export type ImapListeners = Readonly<Partial<Record<'imap' | 'imaps', TcpListener>>>;

/** The octets of cached headers, MIME indexes and rendered envelopes: a share of the memory, within limits. */
const MESSAGE_CACHE = { share: 1 / 64, least: 64 * 1024 * 1024, most: 256 * 1024 * 1024 };
/** The octets of cached orders, threads and joined texts of folders. */
const SEARCH_RESULT_OCTETS = 48 * 1024 * 1024;

export async function openImap(
  config: Config,
  resources: Resources,
  engine: Engine,
  { metrics }: Observability,
  { signIn }: CredentialChecks,
  spool: Spool,
  blobs: BlobStore,
  stops: StopListener[],
): Promise<ImapListeners> {
  if (!config.roles.has('imap')) return {};
  const { bind, hostname, maxMessageSize, allowPlaintextAuth, imapPort, imapsPort } = config;
  const { certificates: tls } = resources.tls;
  const log = resources.log.child({ protocol: 'imap' });
  const { mailboxes, inlineMessages, folderMessages, quotas } = engine;
  const processes = resources.processShare?.count ?? 1;
  const limits = limitsOf(DEFAULT_LIMITS, processes);
  const context: ImapContext = {
    hostname,
    version,
    maxMessageSize,
    allowPlaintextAuth,
    signIn,
    mailboxes,
    inlineMessages,
    blobs,
    spool,
    messages: createMessageSource({ store: folderMessages, maxOctets: shareOfMemory(messageCacheOctets(), processes) }),
    searchResults: new FolderResults(shareOfMemory(SEARCH_RESULT_OCTETS, processes)),
    mirrors: createFolderMirrors({ mailboxes }),
    limits,
    memory: memoryLimiters(limits),
    meter: metrics?.imap ?? NO_METER,
    quotas,
  };
  const trusted = new TrustedNetworks(config.proxyNetworks);
  const limiters = connectionLimiters(context.limits);
  const openOn = (name: string, variable: string, wanted: ListenerPort, implicitTls: boolean) =>
    openListener({ name, variable, bind, port: wanted }, stops, (port) =>
      startImap({ bind, port, implicitTls, tls, trusted, context, limiters, log }),
    );
  const imap = await openOn('IMAP', 'MANSIO_IMAP_PORT', imapPort, false);
  const imaps = await openOn('IMAP with TLS', 'MANSIO_IMAPS_PORT', imapsPort, true);
  metrics?.watchConnections('imap', () => (imap?.connections ?? 0) + (imaps?.connections ?? 0));
  return onlyOpen({ imap, imaps });
}

/** Derived from the memory of the machine, or of the container where that is less. */
function messageCacheOctets(): number {
  const memory = Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY);
  const { share, least, most } = MESSAGE_CACHE;
  return Math.min(most, Math.max(least, Math.floor(memory * share)));
}
