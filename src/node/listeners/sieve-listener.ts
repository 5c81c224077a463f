// The ManageSieve listener of a node, which the role `imap` opens. `listeners` opens and stops it.

import { KeyedLimiter } from '../../concurrency/keyed-limiter.js';
import { fixedShare } from '../../concurrency/share-policies.js';
import type { SieveContext } from '../../gateways/sieve/context.js';
import { DEFAULT_LIMITS } from '../../gateways/sieve/limits.js';
import { NO_METER } from '../../gateways/sieve/meter.js';
import { startSieve } from '../../gateways/sieve/server.js';
import { connectionLimiters } from '../../net/tcp/connection-limits.js';
import type { TcpListener } from '../../net/tcp/tcp-listener.js';
import { TrustedNetworks } from '../../net/tcp/trusted-networks.js';
import type { Config } from '../config/config.js';
import type { Engine } from '../engine/engine.js';
import type { Observability } from '../observability.js';
import { limitsOf } from '../processes/process-share.js';
import type { Resources } from '../resources.js';
import { version } from '../version.js';
import type { CredentialChecks } from './credential-checks.js';
import { onlyOpen, openListener, type StopListener } from './open-listener.js';

/** The open listener by its name in the ready line. */
export type SieveListeners = Readonly<Partial<Record<'sieve', TcpListener>>>;

export async function openSieve(
  config: Config,
  resources: Resources,
  engine: Engine,
  { metrics }: Observability,
  { signIn }: CredentialChecks,
  stops: StopListener[],
): Promise<SieveListeners> {
  if (!config.roles.has('imap')) return {};
  const { bind, hostname, allowPlaintextAuth, sievePort } = config;
  const { certificates: tls } = resources.tls;
  const log = resources.log.child({ protocol: 'sieve' });
  const limits = limitsOf(DEFAULT_LIMITS, resources.processShare?.count ?? 1);
  const { bufferedOctets: total, bufferedOctetsPerAccount: share } = limits;
  const context: SieveContext = {
    hostname,
    version,
    allowPlaintextAuth,
    signIn,
    mailboxes: engine.mailboxes,
    limits,
    memory: new KeyedLimiter(fixedShare({ total, share })),
    meter: metrics?.sieve ?? NO_METER,
  };
  const trusted = new TrustedNetworks(config.proxyNetworks);
  const limiters = connectionLimiters(limits);
  const wanted = { name: 'ManageSieve', variable: 'MANSIO_SIEVE_PORT', bind, port: sievePort };
  const sieve = await openListener(wanted, stops, (port) =>
    startSieve({ bind, port, implicitTls: false, tls, trusted, context, limiters, log }),
  );
  metrics?.watchConnections('sieve', () => sieve?.connections ?? 0);
  return onlyOpen({ sieve });
}
