// The courier for domains of elsewhere: the SMTP client, with signatures of the sender's domain. It knows this node's own
// MX port, once it is open, so as not to send to itself.

import type { Logger } from 'pino';
import { atMost } from '../bounds/time-bounds.js';
import type { Config } from '../config.js';
import type { Dns } from '../dns/resolver.js';
import { createSmtpCourier } from '../smtp-client/courier.js';
import type { BlobStore } from '../store/blobs.js';
import type { SigningKeyStore } from '../store/signing-keys.js';
import type { StsPolicyStore } from '../store/sts-policies.js';
import type { RemoteCourier } from './delivery-queue.js';
import type { Metrics } from './metrics/metrics.js';

export interface CourierParts {
  readonly config: Config;
  readonly log: Logger;
  readonly dns: Dns;
  readonly metrics: Metrics | undefined;
  /** Undefined while the node has no MX listener. */
  mxPort(): number | undefined;
}

export interface CourierStores {
  readonly blobs: BlobStore;
  readonly stsPolicies: StsPolicyStore;
  readonly signingKeys: SigningKeyStore;
}

/** Transactions under way have had the queue's grace by then. */
const CLOSING_MS = 250;
/** A look-up that no name server answers is not waited for: nothing hangs on it. */
const CLOSED_MS = 400;

export async function openRemoteCourier(
  { config, log, dns, metrics, mxPort }: CourierParts,
  { blobs, stsPolicies, signingKeys }: CourierStores,
): Promise<RemoteCourier> {
  const { hostname, bind, outboundPort: port, outboundAllowPrivate: allowPrivate, dkim } = config;
  // Loaded by those who need it: it is large.
  const { createSigner } = await import('../mailauth/signing.js');
  const courier = createSmtpCourier({
    dns,
    blobs,
    stsPolicies,
    own: { hostname, bind, mxPort },
    log,
    port,
    allowPrivate,
    sign: createSigner({ keys: signingKeys, fallback: dkim, log }),
    ...(metrics && { meter: metrics.courier }),
  });
  return {
    deliver: (task) => courier.deliver(task),
    async close() {
      await atMost(courier.close(CLOSING_MS), CLOSED_MS);
    },
  };
}
