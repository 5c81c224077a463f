// The POP3 listeners of a node, with STLS and with TLS from the start. They share their connection limits. `listeners` opens and stops
// them.

import type { Pop3Context } from '../../gateways/pop3/context.js';
import { DEFAULT_LIMITS } from '../../gateways/pop3/limits.js';
import { NO_METER } from '../../gateways/pop3/meter.js';
import { startPop3 } from '../../gateways/pop3/server.js';
import { connectionLimiters } from '../../net/tcp/connection-limits.js';
import type { TcpListener } from '../../net/tcp/tcp-listener.js';
import { TrustedNetworks } from '../../net/tcp/trusted-networks.js';
import type { BlobStore } from '../../store/blobs.js';
import type { Config } from '../config/config.js';
import type { ListenerPort } from '../config/values.js';
import type { Engine } from '../engine/engine.js';
import type { Observability } from '../observability.js';
import { limitsOf } from '../processes/process-share.js';
import type { Resources } from '../resources.js';
import { version } from '../version.js';
import type { CredentialChecks } from './credential-checks.js';
import { onlyOpen, openListener, type StopListener } from './open-listener.js';

/** The open listeners by their names in the ready line. */
export type Pop3Listeners = Readonly<Partial<Record<'pop3' | 'pop3s', TcpListener>>>;

export async function openPop3(
  config: Config,
  resources: Resources,
  engine: Engine,
  { metrics }: Observability,
  { signIn }: CredentialChecks,
  blobs: BlobStore,
  stops: StopListener[],
): Promise<Pop3Listeners> {
  if (!config.roles.has('pop3')) return {};
  const { bind, hostname, allowPlaintextAuth, pop3Port, pop3sPort } = config;
  const { certificates: tls } = resources.tls;
  const log = resources.log.child({ protocol: 'pop3' });
  const { mailboxes, folderMessages: messages } = engine;
  const context: Pop3Context = {
    hostname,
    version,
    allowPlaintextAuth,
    signIn,
    mailboxes,
    messages,
    blobs,
    limits: limitsOf(DEFAULT_LIMITS, resources.processShare?.count ?? 1),
    meter: metrics?.pop3 ?? NO_METER,
  };
  const trusted = new TrustedNetworks(config.proxyNetworks);
  const limiters = connectionLimiters(context.limits);
  const openOn = (name: string, variable: string, wanted: ListenerPort, implicitTls: boolean) =>
    openListener({ name, variable, bind, port: wanted }, stops, (port) =>
      startPop3({ bind, port, implicitTls, tls, trusted, context, limiters, log }),
    );
  const pop3 = await openOn('POP3', 'MANSIO_POP3_PORT', pop3Port, false);
  const pop3s = await openOn('POP3 with TLS', 'MANSIO_POP3S_PORT', pop3sPort, true);
  metrics?.watchConnections('pop3', () => (pop3?.connections ?? 0) + (pop3s?.connections ?? 0));
  return onlyOpen({ pop3, pop3s });
}
