// The listeners of a node: gateways put on the engine, each stopped before what it stands on. Clients are told to go (the
// hub) or finish what they began (HTTP, SMTP) while the engine still answers.
import { join } from 'node:path';
import type { Config } from './config.js';
import type { Engine } from './engine.js';
import type { Foundation } from './foundation.js';
import { BodyDecoder } from './gateways/decode/decoder.js';
import { createResolver } from './gateways/dns/resolver.js';
import { createCors } from './gateways/http/cors.js';
import { createPipeline } from './gateways/http/pipeline.js';
import { routeTable } from './gateways/http/route-table.js';
import type { ConnectionInfo } from './gateways/http/routes/connection-info.js';
import { startHttp } from './gateways/http/server.js';
import { createHub } from './gateways/hub/hub.js';
import { createTokenVerifier } from './gateways/oidc/token-verifier.js';
import { anonymousGuard } from './gateways/origin.js';
import { subscriptionCheck } from './gateways/push/subscription-check.js';
import { vapidKeys } from './gateways/push/vapid-keys.js';
import { Rates } from './gateways/rates.js';
import { startMx } from './gateways/smtp/mx.js';
import { prepareSpool, Spool } from './gateways/spool/spool.js';
import { TrustedNetworks } from './gateways/tcp/trusted-networks.js';
import { healthChecks } from './health-checks.js';
import type { Instruments } from './instruments.js';
import { exposition } from './metrics/exposition.js';
import type { Metrics } from './metrics/metrics.js';
import { listenFailure } from './start-failure.js';
import { version } from './version.js';

/** Names of the contract's ready line; only those that are open. */
export type Listeners = Readonly<Partial<Record<'http' | 'metrics' | 'mx', string>>>;

/** What requests and messages under way get when the node stops. */
const GRACE_MS = 3_000;
/** A scrape takes no longer. */
const METRICS_GRACE_MS = 500;
const HUB_PATH = '/hubs/email';

/** What every gateway with a port of its own gives. */
interface Listener {
  readonly address: string;
  beginDrain(): void;
}

export interface OpenListeners {
  readonly listeners: Listeners;
  /** The node is to stop soon: all of them serve as before, and end each connection when it has been served. */
  beginDrain(): void;
}

export async function openListeners(
  config: Config,
  foundation: Foundation,
  engine: Engine,
  instruments: Instruments,
): Promise<OpenListeners> {
  const { metrics } = instruments;
  // The first, so that it is stopped last: what draining is like can be watched.
  const scraped = metrics && (await openMetrics(config, foundation, metrics));
  const mx = config.roles.has('mx') ? await openMx(config, foundation, engine, instruments) : undefined;
  const http = config.roles.has('api') ? await openHttp(config, foundation, engine, instruments) : undefined;
  return {
    listeners: {
      ...(scraped !== undefined && { metrics: scraped }),
      ...(mx && { mx: mx.address }),
      ...(http && { http: http.address }),
    },
    beginDrain() {
      mx?.beginDrain();
      http?.beginDrain();
    },
  };
}

async function openMetrics(config: Config, { log, lifecycle }: Foundation, metrics: Metrics): Promise<string> {
  const { bind, metricsPort: port } = config;
  try {
    const http = await startHttp({ bind, port, handler: exposition(metrics), webSockets: [], log });
    lifecycle.add('metrics', () => http.stop(METRICS_GRACE_MS));
    return http.address;
  } catch (error) {
    throw listenFailure(error, 'metrics', 'MANSIO_METRICS_PORT', bind, port, 'to turn them off');
  }
}

async function openMx(
  config: Config,
  foundation: Foundation,
  engine: Engine,
  { metrics, tracer }: Instruments,
): Promise<Listener> {
  const { log, lifecycle, tls, dataDirectory } = foundation;
  const { bind, mxPort: port, hostname, maxMessageSize, dmarcReject } = config;
  const directory = join(dataDirectory.path, 'spool');
  await prepareSpool(directory);
  // Loaded by those who need it: it is large.
  const { createAuthenticator } = await import('./gateways/mailauth/authenticator.js');
  const dns = createResolver({ servers: config.outboundDns });
  try {
    const mx = await startMx({
      bind,
      port,
      hostname,
      maxMessageSize,
      tls,
      directory: engine.directory,
      authenticate: createAuthenticator({ dns, hostname, dmarcReject, log }),
      receiver: { spool: new Spool({ directory }), inbound: engine.inbound, mailboxes: engine.mailboxes },
      hostedDomains: async () => (await engine.accounts.domains()).map(({ name }) => name),
      trusted: new TrustedNetworks(config.proxyNetworks),
      log,
      tracer,
      ...(metrics && { meter: metrics.smtp }),
    });
    metrics?.watchConnections('smtp', () => mx.connections);
    lifecycle.add('MX', () => mx.stop(GRACE_MS));
    return mx;
  } catch (error) {
    throw listenFailure(error, 'MX', 'MANSIO_MX_PORT', bind, port);
  }
}

async function openHttp(
  config: Config,
  foundation: Foundation,
  engine: Engine,
  { metrics, tracer }: Instruments,
): Promise<Listener> {
  const { log, lifecycle } = foundation;
  const { bind, httpPort: port } = config;
  const { mailboxes, blobs, directory, desk, claimExport } = engine;
  const decoder = new BodyDecoder();
  lifecycle.add('body decoder', () => decoder.close());
  const guard = anonymousGuard({ ...config, origins: config.corsOrigins });
  const { rateGlobal: global, rateAuth: authentication, rateWrite: write } = config;
  const cors = createCors(config.corsOrigins);
  const rates = new Rates({ global, authentication, write });
  const { oidcAuthority: authority, oidcAudience: audience } = config;
  const tokens = authority === undefined ? {} : { tokens: createTokenVerifier({ authority, audience, log }) };
  const hub = createHub({
    directory,
    ...tokens,
    mailboxes,
    guard,
    rates,
    log,
    tracer,
    ...(metrics && { meter: metrics.hub }),
  });
  metrics?.watchConnections('hub', () => hub.connections);
  const { publicKey } = await vapidKeys(config.vapid, engine.settings);
  const closed: ConnectionInfo['smtp'] = { enabled: false, serverName: config.hostname, port: 0, securePort: 0 };
  const routes = routeTable({
    mailboxes,
    blobs,
    decoder,
    claimExport,
    desk,
    connectionInfo: () => ({ smtp: closed, pop3: closed, imap: closed }),
    push: { publicKey, check: subscriptionCheck(config.pushAllowPrivate) },
    config: {
      oidc: { authority: authority ?? '', clientId: config.oidcClientId ?? '', enabled: authority !== undefined },
    },
    checks: healthChecks(foundation, { hub, ownership: engine.ownership }),
    version,
    baseUrl: config.publicUrl ?? '/',
    log,
  });
  try {
    const http = await startHttp({
      bind,
      port,
      handler: createPipeline({
        routes,
        directory,
        ...tokens,
        guard,
        rates,
        log,
        tracer,
        ...(metrics && { meter: metrics.http }),
      }),
      webSockets: [{ path: HUB_PATH, endpoint: hub }],
      ...(cors && { cors }),
      trusted: new TrustedNetworks(config.proxyNetworks),
      log,
    });
    lifecycle.add('HTTP', () => http.stop(GRACE_MS));
    lifecycle.add('hub', () => hub.drain('The node is stopping.'), GRACE_MS / 2);
    return http;
  } catch (error) {
    throw listenFailure(error, 'HTTP', 'MANSIO_HTTP_PORT', bind, port);
  }
}
