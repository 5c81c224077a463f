// The listeners of a node: connects the gateways to the engine, and stops each before its dependencies. While the engine still answers, the
// hub, IMAP and POP3 ask their clients to leave, and HTTP and SMTP finish what they have begun.

import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { anonymousGuard } from '../../auth/origin.js';
import { BodyDecoder } from '../../content/decode/decoder.js';
import { prepareSpool, Spool } from '../../content/spool/spool.js';
import { OpenEventStreams } from '../../gateways/events/open-event-streams.js';
import { createHealth, type HealthReport } from '../../gateways/http/health.js';
import { createPipeline } from '../../gateways/http/pipeline/pipeline.js';
import { routeTable } from '../../gateways/http/route-table.js';
import { liveLists } from '../../gateways/http/routes/emails/live-lists.js';
import { createCors } from '../../gateways/http/server/cors.js';
import { startHttp } from '../../gateways/http/server/server.js';
import { createHub } from '../../gateways/hub/hub.js';
import { HUB_LIMITS } from '../../gateways/hub/limits.js';
import { subscriptionCheck } from '../../gateways/push/subscription-check.js';
import { vapidKeys } from '../../gateways/push/vapid-keys.js';
import { webhookTest } from '../../gateways/webhooks/test-message.js';
import type { Dns } from '../../net/dns/resolver.js';
import { createHttpClient } from '../../net/http-client/http-client.js';
import { targetUrlFault } from '../../net/http-client/target-url.js';
import { TrustedNetworks } from '../../net/tcp/trusted-networks.js';
import { postgresOutbound } from '../../store/postgres/outbound/outbound.js';
import { postgresSigningKeys } from '../../store/postgres/outbound/signing-keys.js';
import { atMost } from '../../work/time-bounds.js';
import type { Config } from '../config/config.js';
import type { Engine } from '../engine/engine.js';
import { healthChecks } from '../health/health-checks.js';
import { signingKeysOf } from '../health/signing-check.js';
import { exposition } from '../metrics/exposition.js';
import type { Metrics } from '../metrics/metrics.js';
import type { Observability } from '../observability.js';
import { type ProcessShare, shareOfConnections } from '../processes/process-share.js';
import type { Resources } from '../resources.js';
import { listenFailure } from '../start-failure.js';
import { version } from '../version.js';
import { openCachedBlobs } from './cached-blobs.js';
import { apiUrlOf, connectionInfoOf } from './connection-info.js';
import { type CredentialChecks, openCredentialChecks } from './credential-checks.js';
import { createHubPeers } from './hub-peers.js';
import { type ImapListeners, openImap } from './imap-listeners.js';
import type { Listener, StopListener } from './open-listener.js';
import { openPop3, type Pop3Listeners } from './pop3-listeners.js';
import { openSmtp, type SmtpListeners } from './smtp-listeners.js';

/** The open listeners by the names of the ready line (docs/interface/operator.md). */
export type Listeners = Readonly<
  Partial<Record<'http' | 'metrics' | keyof SmtpListeners | keyof ImapListeners | keyof Pop3Listeners, string>>
>;

/** The time for current requests and messages when the node stops. */
const GRACE_MS = 3_000;
/** The part of it in which hub clients close their side, while requests are served. */
const HUB_GRACE_MS = GRACE_MS / 2;
/** The time after it: the last replies leave, and connections close. */
const CLOSING_MS = 600;
/** A scrape takes at most this long. */
const METRICS_GRACE_MS = 500;
const HUB_PATH = '/hubs/email';
/** The setting from which all nodes derive the keys of TLS session tickets. */
const TICKET_SECRET = 'tls-ticket-secret';

/** The health and metrics of a node, for callers that do not use HTTP. */
export interface Vitals {
  health(): Promise<HealthReport>;
  /** The text in Prometheus' format; empty while metrics are off. */
  metrics(): Promise<string>;
}

export interface OpenListeners {
  readonly listeners: Listeners;
  readonly vitals: Vitals;
  /**
   * Announces a stop: all listeners continue to serve, and end each connection when it has been served. `othersListen`: other processes
   * that share the ports accept the new connections.
   */
  beginDrain(othersListen: boolean): void;
}

export async function openListeners(
  config: Config,
  resources: Resources,
  engine: Engine,
  observability: Observability,
  dns: Dns,
): Promise<OpenListeners> {
  const { metrics } = observability;
  const vitals: Vitals = {
    health: createHealth({
      checks: checksOf(resources, engine, undefined),
      now: () => performance.now(),
      log: resources.log,
    }),
    metrics: async () => (metrics === undefined ? '' : await metrics.text()),
  };
  // It starts first and so stops last, so that draining can be observed. A parent asks its processes and listens itself.
  const isScraped = metrics !== undefined && resources.processShare === undefined;
  const scraped = isScraped ? await openMetrics(config, resources, metrics, vitals) : undefined;
  const { settings } = engine;
  resources.tls.shareTickets(await settings.getOrCreate(TICKET_SECRET, () => randomBytes(32).toString('base64url')));
  const spool = await openSpool(resources);
  const checks = openCredentialChecks(config, resources, engine, metrics?.logins);
  const decoder = hasHttp(config) ? new BodyDecoder() : undefined;
  if (decoder !== undefined) resources.lifecycle.add('body decoder', () => decoder.close());
  const isRead = config.roles.has('imap') || config.roles.has('pop3');
  const cachedBlobs = isRead ? await openCachedBlobs(engine.blobs, resources) : engine.blobs;
  const stops = stopTogether(resources);
  const smtp = await openSmtp(config, resources, engine, observability, checks, spool, dns, stops);
  const imap = await openImap(config, resources, engine, observability, checks, spool, cachedBlobs, stops);
  const pop3 = await openPop3(config, resources, engine, observability, checks, cachedBlobs, stops);
  const mail = { ...smtp, ...imap, ...pop3 };
  const http =
    decoder && (await openHttp(config, resources, engine, observability, checks, { spool, decoder, dns }, stops));
  return {
    listeners: {
      ...(scraped !== undefined && { metrics: scraped }),
      ...addresses(mail),
      ...(http && { http: http.address }),
    },
    vitals,
    beginDrain(othersListen) {
      for (const listener of Object.values(mail)) listener.beginDrain(othersListen);
      http?.beginDrain(othersListen);
    },
  };
}

/** Each listener gets the whole grace. A node that hands over first may have less time left, and has served meanwhile. */
function stopTogether({ lifecycle }: Resources): StopListener[] {
  const stops: StopListener[] = [];
  const stopAll = async (boundMs: number) => {
    const graceMs = Math.max(0, Math.min(GRACE_MS, boundMs - CLOSING_MS));
    await Promise.all(stops.map((stop) => stop(graceMs)));
  };
  lifecycle.add('listeners', stopAll, GRACE_MS + CLOSING_MS);
  return stops;
}

/** One spool for all gateways that accept or compose messages: its memory limit is that of the node. */
async function openSpool({ dataDirectory }: Resources): Promise<Spool> {
  const directory = join(dataDirectory.path, 'spool');
  await prepareSpool(directory);
  return new Spool({ directory });
}

function hubLimitsOf({ count }: ProcessShare) {
  const { maxConnections, maxOwnConnections } = HUB_LIMITS;
  return {
    maxConnections: shareOfConnections(maxConnections, count),
    maxOwnConnections: shareOfConnections(maxOwnConnections, count),
  };
}

function addresses(listeners: Readonly<Record<string, Listener>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(listeners).map(([name, { address }]) => [name, address]));
}

/** Nodes without HTTP for clients also report their health here. */
async function openMetrics(
  config: Config,
  resources: Resources,
  metrics: Metrics,
  vitals: Vitals,
): Promise<string | undefined> {
  const { httpBind: bind, metricsPort: port } = config;
  if (port === 'off') return undefined;
  const { log, lifecycle } = resources;
  const handler = exposition(metrics, hasHttp(config) ? undefined : vitals.health);
  try {
    const http = await startHttp({ bind, port, handler, webSockets: [], log });
    lifecycle.add('metrics', () => http.stop(METRICS_GRACE_MS));
    return http.address;
  } catch (error) {
    throw listenFailure(error, {
      name: 'metrics',
      variable: 'MANSIO_METRICS_PORT',
      bindVariable: 'MANSIO_HTTP_BIND',
      bind,
      port,
    });
  }
}

function checksOf(
  resources: Resources,
  { commits, ownership, queue }: Engine,
  hub: { readonly connections: number } | undefined,
) {
  const outbound = resources.breaker.guard(postgresOutbound(resources.healthSql));
  const signing = signingKeysOf(resources.config, resources.breaker.guard(postgresSigningKeys(resources.healthSql)));
  return healthChecks(resources, { commits, hub, ownership, queue: queue?.status, signing, outbound });
}

/** `off` has the same effect as a missing role. */
function hasHttp({ roles, httpPort }: Config): boolean {
  return roles.has('api') && httpPort !== 'off';
}

async function openHttp(
  config: Config,
  resources: Resources,
  engine: Engine,
  { metrics, tracer }: Observability,
  { rates, credentials }: CredentialChecks,
  { spool, decoder, dns }: { readonly spool: Spool; readonly decoder: BodyDecoder; readonly dns: Dns },
  stops: StopListener[],
): Promise<Listener | undefined> {
  const { log, processShare } = resources;
  const { httpBind: bind, httpPort: port, hostname, maxMessageSize } = config;
  if (port === 'off') return undefined;
  const { mailboxes, blobs, directory, accountApi, exports } = engine;
  const guard = anonymousGuard({ ...config, origins: config.corsOrigins });
  const cors = createCors(config.corsOrigins);
  const { oidcAuthority: authority } = config;
  const hub = createHub({
    directory,
    credentials,
    mailboxes,
    lists: liveLists,
    guard,
    rates,
    log,
    tracer,
    peers: createHubPeers(engine.bus, log),
    ...(processShare && { limits: hubLimitsOf(processShare) }),
    ...(metrics && { meter: metrics.hub }),
  });
  metrics?.watchConnections('hub', () => hub.connections);
  const eventStreams = new OpenEventStreams({ mailboxes, directory, log, ...(metrics && { meter: metrics.events }) });
  metrics?.watchConnections('event_stream', () => eventStreams.count);
  const { publicKey } = await vapidKeys(config.vapid, engine.settings);
  const webhookClient = createHttpClient({ dns, allowPrivate: config.webhookAllowPrivate });
  const nodes = () => engine.ownership.view?.nodes ?? [];
  const routes = routeTable({
    mailboxes,
    blobs,
    decoder,
    exports,
    accountApi,
    connectionInfo: () => connectionInfoOf(config, nodes()),
    apiUrl: () => apiUrlOf(config, nodes()),
    hosts: (domain) => directory.hosts(domain),
    eventStreams,
    composing: { inlineMessages: engine.inlineMessages, spool, hostname, maxMessageSize },
    push: { publicKey, check: subscriptionCheck(config.pushAllowPrivate) },
    webhooks: {
      urlFault: (url) => targetUrlFault(url, config.webhookAllowPrivate),
      test: webhookTest(webhookClient, engine.accountStores.webhooks),
    },
    config: {
      oidc: { authority: authority ?? '', clientId: config.oidcClientId ?? '', enabled: authority !== undefined },
    },
    checks: checksOf(resources, engine, hub),
    version,
    publicUrl: config.publicUrl,
    log,
  });
  try {
    const http = await startHttp({
      bind,
      port,
      ...(processShare && { sharing: { port: processShare.httpPort } }),
      handler: createPipeline({
        routes,
        directory,
        credentials,
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
    stops.push(async (graceMs) => {
      const began = performance.now();
      eventStreams.drain();
      await atMost(hub.drain('The node is stopping.'), Math.min(HUB_GRACE_MS, graceMs));
      await http.stop(Math.max(0, graceMs - (performance.now() - began)));
      webhookClient.close();
    });
    return http;
  } catch (error) {
    throw listenFailure(error, {
      name: 'HTTP',
      variable: 'MANSIO_HTTP_PORT',
      bindVariable: 'MANSIO_HTTP_BIND',
      bind,
      port,
    });
  }
}
