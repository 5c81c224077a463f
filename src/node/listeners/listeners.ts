// The listeners of a node: connects the gateways to the engine, and stops each before its dependencies. While the engine still answers, the
// hub, IMAP, POP3 and ManageSieve ask their clients to leave, and HTTP and SMTP finish what they have begun.

import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { createHealth, type HealthReport } from '../../gateways/http/health.js';
import { startHttp } from '../../gateways/http/server/server.js';
import { BodyDecoder } from '../../message-content/decode/decoder.js';
import { prepareSpool, Spool } from '../../message-content/spool/spool.js';
import type { Dns } from '../../net/dns/resolver.js';
import type { AcmeCertificates } from '../certificates/acme-certificates.js';
import type { Config } from '../config/config.js';
import type { Engine } from '../engine/engine.js';
import { exposition } from '../metrics/exposition.js';
import type { Metrics } from '../metrics/metrics.js';
import type { Observability } from '../observability.js';
import type { Resources } from '../resources.js';
import { listenFailure } from '../start-failure.js';
import { openAcme } from './acme-listener.js';
import { openCachedBlobs } from './cached-blobs.js';
import { openContentChecks } from './content-checks.js';
import { openCredentialChecks } from './credential-checks.js';
import { checksOf, hasHttp, openHttp } from './http-listener.js';
import { type ImapListeners, openImap } from './imap-listeners.js';
import type { Listener, StopListener } from './open-listener.js';
import { openPop3, type Pop3Listeners } from './pop3-listeners.js';
import { openSieve, type SieveListeners } from './sieve-listener.js';
import { openSmtp, type SmtpListeners } from './smtp-listeners.js';

/** The open listeners by the names of the ready line (docs/interface/operator.md). */
export type Listeners = Readonly<
  Partial<
    Record<
      | 'http'
      | 'https'
      | 'acme'
      | 'metrics'
      | keyof SmtpListeners
      | keyof ImapListeners
      | keyof Pop3Listeners
      | keyof SieveListeners,
      string
    >
  >
>;

/** The time for current requests and messages when the node stops. */
const GRACE_MS = 3_000;
/** The time after it: the last replies leave, and connections close. */
const CLOSING_MS = 600;
/** A scrape takes at most this long. */
const METRICS_GRACE_MS = 500;
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
  { outgoing: dns, checks: checksDns }: { readonly outgoing: Dns; readonly checks: Dns },
  acme: AcmeCertificates | undefined,
): Promise<OpenListeners> {
  const { metrics } = observability;
  const vitals: Vitals = {
    health: createHealth({
      checks: checksOf(resources, engine, undefined, acme),
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
  const contentChecks = await openContentChecks(config, resources, engine, observability, checksDns);
  const decoder = hasHttp(config) ? new BodyDecoder() : undefined;
  if (decoder !== undefined) resources.lifecycle.add('body decoder', () => decoder.close());
  const isRead = config.roles.has('imap') || config.roles.has('pop3');
  const cachedBlobs = isRead ? await openCachedBlobs(engine.blobs, resources) : engine.blobs;
  const stops = stopTogether(resources);
  const smtp = await openSmtp(config, resources, engine, observability, checks, contentChecks, spool, checksDns, stops);
  const imap = await openImap(config, resources, engine, observability, checks, spool, cachedBlobs, stops);
  const pop3 = await openPop3(config, resources, engine, observability, checks, cachedBlobs, stops);
  const sieve = await openSieve(config, resources, engine, observability, checks, stops);
  const mail = { ...smtp, ...imap, ...pop3, ...sieve };
  const http =
    decoder &&
    (await openHttp(
      { config, resources, engine, observability, checks, contentChecks, spool, decoder, dns, acme },
      stops,
      GRACE_MS / 2,
    ));
  const challenges = acme && (await openAcme(config, resources, engine, acme, stops));
  acme?.startRequests();
  return {
    listeners: {
      ...(scraped !== undefined && { metrics: scraped }),
      ...addresses(mail),
      ...(http && http.address !== '' && { http: http.address }),
      ...(http?.tlsAddress !== undefined && { https: http.tlsAddress }),
      ...(challenges && { acme: challenges.address }),
    },
    vitals,
    beginDrain(othersListen) {
      for (const listener of Object.values(mail)) listener.beginDrain(othersListen);
      http?.beginDrain(othersListen);
      challenges?.beginDrain(othersListen);
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
  const hasPlainHttp = hasHttp(config) && config.httpPort !== 'off';
  const handler = exposition(metrics, hasPlainHttp ? undefined : vitals.health);
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
