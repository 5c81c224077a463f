// The transport to other servers: the SMTP client, with signatures of the sender's domain. It knows this node's own MX port, once that is
// open, so that it does not send to itself.

import type { Logger } from 'pino';
import { atMost } from '../../concurrency/time-bounds.js';
import type { Dns } from '../../net/dns/resolver.js';
import { createSmtpTransport } from '../../net/smtp-client/smtp-transport.js';
import type { TlsResults } from '../../net/smtp-client/tls-results.js';
import type { BlobStore } from '../../store/blobs.js';
import type { RelayStore } from '../../store/relays.js';
import type { SigningKeyStore } from '../../store/signing-keys.js';
import type { StsPolicyStore } from '../../store/sts-policies.js';
import type { Config } from '../config/config.js';
import type { Metrics } from '../metrics/metrics.js';
import type { RemoteTransport } from './delivery-queue.js';

export interface RemoteTransportParts {
  readonly config: Config;
  readonly nodeId: string;
  readonly log: Logger;
  readonly dns: Dns;
  readonly metrics: Metrics | undefined;
  /** Undefined while the node has no MX listener. */
  mxPort(): number | undefined;
}

export interface RemoteTransportStores {
  readonly blobs: BlobStore;
  readonly stsPolicies: StsPolicyStore;
  readonly relays: Pick<RelayStore, 'relayOf'>;
  readonly signingKeys: SigningKeyStore;
  /** Undefined where no reports are sent. */
  readonly tlsResults: TlsResults | undefined;
}

/** Short, because current transactions have already had the queue's grace. */
const CLOSING_MS = 250;
/** A look-up that no name server answers is not awaited, because nothing depends on it. */
const CLOSED_MS = 400;

export async function openRemoteTransport(
  { config, nodeId, log, dns, metrics, mxPort }: RemoteTransportParts,
  { blobs, stsPolicies, relays, signingKeys, tlsResults }: RemoteTransportStores,
): Promise<RemoteTransport> {
  const { hostname, bind, outboundPort: port, outboundAllowPrivate: allowPrivate, dkim, relayUrl } = config;
  // Only nodes that need the signer load it, because it is large.
  const { createSigner } = await import('../../message-checks/mailauth/signing.js');
  const transport = createSmtpTransport({
    dns,
    blobs,
    stsPolicies,
    relays: { store: relays, url: relayUrl },
    own: { nodeId, hostname, bind, mxPort },
    log,
    port,
    tlsResults,
    allowPrivate,
    sign: createSigner({ keys: signingKeys, fallback: dkim, log }),
    ...(metrics && { meter: metrics.smtpClient }),
  });
  return {
    deliver: (task) => transport.deliver(task),
    destinationOf: (mail) => transport.destinationOf(mail),
    relayLogins: transport.relayLogins,
    async close() {
      await atMost(transport.close(CLOSING_MS), CLOSED_MS);
    },
  };
}
