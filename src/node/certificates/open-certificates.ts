// Puts together what obtains and serves certificates by ACME; none of it exists without MANSIO_ACME_DIRECTORY.
import { readFile } from 'node:fs/promises';
import type { HostedDomains } from '../../actors/directory/protocol.js';
import type { Dns } from '../../net/dns/resolver.js';
import { clock } from '../../store/clock.js';
import { postgresCertificates } from '../../store/postgres/certificates.js';
import type { Config } from '../config/config.js';
import type { Metrics } from '../metrics/metrics.js';
import type { Resources } from '../resources.js';
import { AcmeCertificates } from './acme-certificates.js';
import { CertificateNames, DOMAIN_PREFIXES } from './certificate-names.js';
import { CertificateRequests } from './certificate-requests.js';

/** A request that is under way is given up; the next node begins it again. */
const STOP_MS = 1_000;

/** Certificates of the store are served when this resolves. */
export async function openCertificates(
  config: Config,
  resources: Resources,
  dns: Dns,
  metrics: Metrics | undefined,
): Promise<AcmeCertificates | undefined> {
  const { acmeDirectory: directory, acmeEmail: email, acmeCa, acmeNames, leaseTtlMs } = config;
  if (directory === undefined) return undefined;
  const { nodeId, log, lifecycle, breaker, sql, tls } = resources;
  const store = breaker.guard(postgresCertificates(sql, directory));
  const names = new CertificateNames(acmeNames, dns, tls.certificates);
  const requests = new CertificateRequests({
    store,
    names,
    authority: { directory, email, ca: acmeCa === undefined ? undefined : await readFile(acmeCa, 'utf8') },
    nodeId,
    leaseTtlMs,
    log,
    now: () => clock.now(),
    random: Math.random,
    ...(metrics && { meter: metrics.certificates }),
    obtained: () => certificates.lookSoon(),
  });
  const certificates = new AcmeCertificates({
    store,
    certificates: tls.certificates,
    request: (stop) => requests.run(stop),
    log,
    now: () => clock.now(),
  });
  await store.nodeStarts((await names.of(undefined)) ?? [], clock.now());
  await certificates.open();
  lifecycle.add('certificates', () => certificates.stop(), STOP_MS, STOP_MS);
  return certificates;
}

/** Whether a host is served with TLS: it has a certificate, is a name of the deployment, or one that a hosted domain has for programs. */
export function knownHosts(
  config: Pick<Config, 'acmeNames' | 'hostname' | 'publicUrl'>,
  certificates: { has(host: string): boolean },
  directory: HostedDomains,
): (host: string) => Promise<boolean> {
  const { acmeNames, hostname, publicUrl } = config;
  const own = new Set([...acmeNames, hostname, ...(publicUrl === undefined ? [] : [new URL(publicUrl).hostname])]);
  return async (host) => {
    if (own.has(host) || certificates.has(host)) return true;
    const prefix = DOMAIN_PREFIXES.find((each) => host.startsWith(`${each}.`));
    return prefix !== undefined && (await directory.hosts(host.slice(prefix.length + 1)));
  };
}
