// The HTTP listener of a node: REST, the hub, the event stream and what they need of the engine. `listeners` opens and stops it.
import { type AnonymousGuard, anonymousGuard } from '../../auth/origin.js';
import { PasskeyCeremonies } from '../../auth/passkeys/ceremonies.js';
import { passkeyChallenges } from '../../auth/passkeys/challenges.js';
import { atMost } from '../../concurrency/time-bounds.js';
import { OpenEventStreams } from '../../gateways/events/open-event-streams.js';
import { ImageDownloads } from '../../gateways/http/images/image-download.js';
import { imageUrls } from '../../gateways/http/images/image-urls.js';
import { Page } from '../../gateways/http/page/page.js';
import { readPageFiles } from '../../gateways/http/page/page-files.js';
import { createPipeline } from '../../gateways/http/pipeline/pipeline.js';
import { routeTable } from '../../gateways/http/route-table.js';
import { liveLists } from '../../gateways/http/routes/emails/live-lists.js';
import { createCors } from '../../gateways/http/server/cors.js';
import { type HttpOptions, type HttpServer, startHttp } from '../../gateways/http/server/server.js';
import { createHub, type Hub } from '../../gateways/hub/hub.js';
import { HUB_LIMITS } from '../../gateways/hub/limits.js';
import { subscriptionCheck } from '../../gateways/push/subscription-check.js';
import { vapidKeys } from '../../gateways/push/vapid-keys.js';
import { webhookTest } from '../../gateways/webhooks/test-message.js';
import type { BodyDecoder } from '../../message-content/decode/decoder.js';
import type { Spool } from '../../message-content/spool/spool.js';
import type { Dns } from '../../net/dns/resolver.js';
import { createHttpClient, type HttpClient } from '../../net/http-client/http-client.js';
import { targetUrlFault } from '../../net/http-client/target-url.js';
import { TrustedNetworks } from '../../net/tcp/trusted-networks.js';
import { lastBackup } from '../../store/postgres/backup/last-backup.js';
import { postgresOutbound } from '../../store/postgres/outbound/outbound.js';
import { postgresSigningKeys } from '../../store/postgres/outbound/signing-keys.js';
import type { AcmeCertificates } from '../certificates/acme-certificates.js';
import type { Config } from '../config/config.js';
import type { Engine } from '../engine/engine.js';
import { healthChecks } from '../health/health-checks.js';
import { signingKeysOf } from '../health/signing-check.js';
import type { Observability } from '../observability.js';
import { limitsOf, type ProcessShare, shareOfConnections } from '../processes/process-share.js';
import type { Resources } from '../resources.js';
import { listenFailure } from '../start-failure.js';
import { version } from '../version.js';
import { apiUrlOf, connectionInfoOf, stsPolicyOf } from './connection-info.js';
import type { ContentChecks } from './content-checks.js';
import type { CredentialChecks } from './credential-checks.js';
import { createHubPeers } from './hub-peers.js';
import type { StopListener } from './open-listener.js';

const HUB_PATH = '/hubs/email';
/** Connections with TLS take tens of kB each; browsers share them, so an address needs few. Logins are counted by the hub. */
const HTTPS_LIMITS = { connections: 10_000, connectionsPerAddress: 1_000, connectionsPerAccount: 10_000 };

/** What the listeners of a node share, and what HTTP needs besides. */
export interface HttpSources {
  readonly config: Config;
  readonly resources: Resources;
  readonly engine: Engine;
  readonly observability: Observability;
  readonly checks: CredentialChecks;
  readonly contentChecks: ContentChecks;
  readonly spool: Spool;
  readonly decoder: BodyDecoder;
  readonly dns: Dns;
  /** Undefined when no certificates are requested. */
  readonly acme: AcmeCertificates | undefined;
}

/** `hubGraceMs`: the part of the grace in which hub clients close their side, while requests are served. @throws StartFailure */
export async function openHttp(
  sources: HttpSources,
  stops: StopListener[],
  hubGraceMs: number,
): Promise<HttpServer | undefined> {
  const { config, resources, engine, observability, checks } = sources;
  const { metrics, tracer } = observability;
  const { log, processShare } = resources;
  if (!hasHttp(config)) return undefined;
  const { httpBind, httpPort, bind, httpsPort } = config;
  const { mailboxes, directory } = engine;
  const guard = anonymousGuard({ ...config, origins: config.corsOrigins });
  const hub = openHub(sources, guard);
  const eventStreams = new OpenEventStreams({ mailboxes, directory, log, ...(metrics && { meter: metrics.events }) });
  metrics?.watchConnections('event_stream', () => eventStreams.count);
  const webhookClient = createHttpClient({ dns: sources.dns, allowPrivate: config.webhookAllowPrivate });
  const imageClient = createHttpClient({ dns: sources.dns, allowPrivate: config.imagesAllowPrivate });
  const routes = await routesOf(sources, hub, eventStreams, { webhooks: webhookClient, images: imageClient });
  const { rates, credentials } = checks;
  const meter = metrics && { meter: metrics.http };
  const cors = createCors(config.corsOrigins);
  const files = await readPageFiles();
  const page = files && new Page(files);
  const http = await listenOrFail({
    bind: httpBind,
    port: httpPort,
    ...(processShare && httpPort !== 'off' && { sharing: { port: processShare.httpPort } }),
    ...(httpsPort !== 'off' && {
      tls: {
        bind,
        port: httpsPort,
        certificates: resources.tls.certificates,
        limits: limitsOf(HTTPS_LIMITS, processShare?.count ?? 1),
      },
    }),
    handler: createPipeline({ routes, directory, credentials, guard, rates, page, log, tracer, ...meter }),
    webSockets: [{ path: HUB_PATH, endpoint: hub }],
    ...(cors && { cors }),
    trusted: new TrustedNetworks(config.proxyNetworks),
    log,
  });
  stops.push(async (graceMs) => {
    const began = performance.now();
    eventStreams.drain();
    await atMost(hub.drain('The node is stopping.'), Math.min(hubGraceMs, graceMs));
    await http.stop(Math.max(0, graceMs - (performance.now() - began)));
    webhookClient.close();
    imageClient.close();
  });
  return http;
}

function openHub({ resources, engine, observability, checks }: HttpSources, guard: AnonymousGuard): Hub {
  const { log, processShare } = resources;
  const { metrics, tracer } = observability;
  const { directory, mailboxes } = engine;
  const hub = createHub({
    directory,
    credentials: checks.credentials,
    mailboxes,
    lists: liveLists,
    guard,
    rates: checks.rates,
    log,
    tracer,
    peers: createHubPeers(engine.bus, log),
    ...(processShare && { limits: hubLimitsOf(processShare) }),
    ...(metrics && { meter: metrics.hub }),
  });
  metrics?.watchConnections('hub', () => hub.connections);
  return hub;
}

async function routesOf(
  { config, resources, engine, spool, decoder, acme, checks, contentChecks }: HttpSources,
  hub: Hub,
  eventStreams: OpenEventStreams,
  clients: { readonly webhooks: HttpClient; readonly images: HttpClient },
) {
  const { mailboxes, blobs, directory, accountApi, exports, quotas } = engine;
  const { hostname, maxMessageSize, oidcAuthority: authority } = config;
  const { publicKey } = await vapidKeys(config.vapid, engine.settings);
  const nodes = () => engine.ownership.view?.nodes ?? [];
  return routeTable({
    mailboxes,
    blobs,
    decoder,
    exports,
    accountApi,
    quotas,
    sending: engine.sending,
    connectionInfo: () => connectionInfoOf(config, nodes()),
    apiUrl: () => apiUrlOf(config, nodes()),
    hosts: (domain) => directory.hosts(domain),
    stsPolicy: () => stsPolicyOf(config, nodes())?.text,
    eventStreams,
    composing: {
      inlineMessages: engine.inlineMessages,
      spool,
      contentChecks: contentChecks.submitted,
      hostname,
      maxMessageSize,
    },
    push: { publicKey, check: subscriptionCheck(config.pushAllowPrivate) },
    codeFlow: checks.codeFlow,
    identify: (token, accessToken) => checks.credentials.ofUser(token, accessToken),
    ceremonies: new PasskeyCeremonies(await passkeyChallenges(engine.settings)),
    images: {
      urls: await imageUrls(engine.settings),
      downloads: new ImageDownloads(clients.images),
      rates: checks.rates,
    },
    webhooks: {
      urlFault: (url) => targetUrlFault(url, config.webhookAllowPrivate),
      test: webhookTest(clients.webhooks, engine.accountStores.webhooks),
    },
    config: {
      oidc: { authority: authority ?? '', clientId: config.oidcClientId ?? '', enabled: authority !== undefined },
    },
    checks: checksOf(resources, engine, hub, acme),
    version,
    publicUrl: config.publicUrl,
    log: resources.log,
  });
}

async function listenOrFail(options: HttpOptions): Promise<HttpServer> {
  const { bind, port, tls } = options;
  try {
    return await startHttp(options);
  } catch (error) {
    // The two ports differ, so the port in the error of the system tells which one it concerns.
    if (tls !== undefined && (port === 'off' || (error as { port?: unknown }).port === tls.port))
      throw listenFailure(error, { name: 'HTTPS', variable: 'MANSIO_HTTPS_PORT', bind: tls.bind, port: tls.port });
    if (port === 'off') throw error;
    throw listenFailure(error, {
      name: 'HTTP',
      variable: 'MANSIO_HTTP_PORT',
      bindVariable: 'MANSIO_HTTP_BIND',
      bind,
      port,
    });
  }
}

/** The checks of a node's health; `hub` while it serves one. */
export function checksOf(
  resources: Resources,
  { commits, ownership, queue, relayLogins, doctor }: Engine,
  hub: { readonly connections: number } | undefined,
  acme: AcmeCertificates | undefined,
) {
  const outbound = resources.breaker.guard(postgresOutbound(resources.healthSql));
  const signing = signingKeysOf(resources.config, resources.breaker.guard(postgresSigningKeys(resources.healthSql)));
  return healthChecks(resources, {
    commits,
    hub,
    ownership,
    queue: queue?.status,
    signing,
    relayLogins,
    outbound,
    doctor,
    lastBackup: () => resources.breaker.run(() => lastBackup(resources.healthSql)),
    acme,
  });
}

/** Ports that are all `off` have the same effect as a missing role. */
export function hasHttp({ roles, httpPort, httpsPort }: Pick<Config, 'roles' | 'httpPort' | 'httpsPort'>): boolean {
  return roles.has('api') && (httpPort !== 'off' || httpsPort !== 'off');
}

function hubLimitsOf({ count }: ProcessShare) {
  const { maxConnections, maxOwnConnections } = HUB_LIMITS;
  return {
    maxConnections: shareOfConnections(maxConnections, count),
    maxOwnConnections: shareOfConnections(maxOwnConnections, count),
  };
}
