// The listeners of a node: gateways put on the engine, each stopped before what it stands on. Clients are told to go (the
// hub) or finish what they began (HTTP, SMTP) while the engine still answers.
import { join } from 'node:path';
import type { Config } from './config.js';
import type { Engine } from './engine.js';
import type { Foundation } from './foundation.js';
import { BodyDecoder } from './gateways/decode/decoder.js';
import type { Dns } from './gateways/dns/resolver.js';
import { createCors } from './gateways/http/cors.js';
import { createHealth } from './gateways/http/health.js';
import { createPipeline } from './gateways/http/pipeline.js';
import { routeTable } from './gateways/http/route-table.js';
import type { ConnectionInfo } from './gateways/http/routes/connection-info.js';
import { startHttp } from './gateways/http/server.js';
import { createHub } from './gateways/hub/hub.js';
import { createTokenVerifier, type TokenVerifier } from './gateways/oidc/token-verifier.js';
import { anonymousGuard } from './gateways/origin.js';
import { subscriptionCheck } from './gateways/push/subscription-check.js';
import { vapidKeys } from './gateways/push/vapid-keys.js';
import { Rates } from './gateways/rates.js';
import { prepareSpool, Spool } from './gateways/spool/spool.js';
import { TrustedNetworks } from './gateways/tcp/trusted-networks.js';
import { healthChecks } from './health-checks.js';
import type { Instruments } from './instruments.js';
import { exposition } from './metrics/exposition.js';
import type { Metrics } from './metrics/metrics.js';
import { GRACE_MS, type Listener, openSmtp, type SmtpListeners } from './smtp-listeners.js';
import { listenFailure } from './start-failure.js';
import { postgresOutbound } from './store/postgres/outbound.js';
import { version } from './version.js';

/** Names of the contract's ready line; only those that are open. */
export type Listeners = Readonly<Partial<Record<'http' | 'metrics' | keyof SmtpListeners, string>>>;

/** A scrape takes no longer. */
const METRICS_GRACE_MS = 500;
const HUB_PATH = '/hubs/email';

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
  dns: Dns,
): Promise<OpenListeners> {
  const { metrics } = instruments;
  // The first, so that it is stopped last: what draining is like can be watched.
  const scraped = metrics && (await openMetrics(config, foundation, engine, metrics));
  const spool = await openSpool(foundation);
  const access = openAccess(config, foundation);
  const smtp = await openSmtp(config, foundation, engine, instruments, access, spool, dns);
  const http = config.roles.has('api')
    ? await openHttp(config, foundation, engine, instruments, access, smtp, spool)
    : undefined;
  return {
    listeners: {
      ...(scraped !== undefined && { metrics: scraped }),
      ...addresses(smtp),
      ...(http && { http: http.address }),
    },
    beginDrain() {
      for (const listener of Object.values(smtp)) listener.beginDrain();
      http?.beginDrain();
    },
  };
}

/** One for all gateways that take messages in or compose them: its bound on memory is the node's. */
async function openSpool({ dataDirectory }: Foundation): Promise<Spool> {
  const directory = join(dataDirectory.path, 'spool');
  await prepareSpool(directory);
  return new Spool({ directory });
}

/** How credentials are judged and counted, the same at every gateway. */
export interface Access {
  readonly rates: Rates;
  readonly tokens?: TokenVerifier;
}

function openAccess(config: Config, { log }: Foundation): Access {
  const { rateGlobal: global, rateAuth: authentication, rateWrite: write } = config;
  const rates = new Rates({ global, authentication, write });
  const { oidcAuthority: authority, oidcAudience: audience } = config;
  return authority === undefined ? { rates } : { rates, tokens: createTokenVerifier({ authority, audience, log }) };
}

function addresses(listeners: SmtpListeners): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(listeners).map(([name, { address }]) => [name, address]));
}

/** Nodes without HTTP for clients tell here how they are, too. */
async function openMetrics(config: Config, foundation: Foundation, engine: Engine, metrics: Metrics): Promise<string> {
  const { bind, metricsPort: port, roles } = config;
  const { log, lifecycle } = foundation;
  const health = createHealth({ checks: checksOf(foundation, engine, undefined), now: () => performance.now(), log });
  const handler = exposition(metrics, roles.has('api') ? undefined : health);
  try {
    const http = await startHttp({ bind, port, handler, webSockets: [], log });
    lifecycle.add('metrics', () => http.stop(METRICS_GRACE_MS));
    return http.address;
  } catch (error) {
    throw listenFailure(error, 'metrics', 'MANSIO_METRICS_PORT', bind, port, 'to turn them off');
  }
}

function checksOf(
  foundation: Foundation,
  { ownership, queue }: Engine,
  hub: { readonly connections: number } | undefined,
) {
  const outbound = postgresOutbound(foundation.healthSql);
  return healthChecks(foundation, { hub, ownership, queue: queue?.standing, outbound });
}

async function openHttp(
  config: Config,
  foundation: Foundation,
  engine: Engine,
  { metrics, tracer }: Instruments,
  { rates, ...tokens }: Access,
  smtp: SmtpListeners,
  spool: Spool,
): Promise<Listener> {
  const { log, lifecycle } = foundation;
  const { bind, httpPort: port, hostname, maxMessageSize } = config;
  const { mailboxes, blobs, directory, desk, claimExport } = engine;
  const decoder = new BodyDecoder();
  lifecycle.add('body decoder', () => decoder.close());
  const guard = anonymousGuard({ ...config, origins: config.corsOrigins });
  const cors = createCors(config.corsOrigins);
  const { oidcAuthority: authority } = config;
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
  const connectionInfo = connectionInfoOf(config, smtp);
  const routes = routeTable({
    mailboxes,
    blobs,
    decoder,
    claimExport,
    desk,
    connectionInfo: () => connectionInfo,
    composing: { spool, hostname, maxMessageSize },
    push: { publicKey, check: subscriptionCheck(config.pushAllowPrivate) },
    config: {
      oidc: { authority: authority ?? '', clientId: config.oidcClientId ?? '', enabled: authority !== undefined },
    },
    checks: checksOf(foundation, engine, hub),
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

/** With the ports that are really open, on this node. */
function connectionInfoOf({ hostname: serverName }: Config, smtp: SmtpListeners): ConnectionInfo {
  const { submission, submissions } = smtp;
  const closed = { enabled: false, serverName, port: 0, securePort: 0 };
  const isOpen = submission !== undefined || submissions !== undefined;
  return {
    smtp: { enabled: isOpen, serverName, port: portOf(submission), securePort: portOf(submissions) },
    pop3: closed,
    imap: closed,
  };
}

function portOf(listener: Listener | undefined): number {
  return listener === undefined ? 0 : Number(listener.address.slice(listener.address.lastIndexOf(':') + 1));
}
