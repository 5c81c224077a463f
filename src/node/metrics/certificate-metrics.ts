// Metrics of certificates: when they end, and how requests for them went.
import type { PresentedCertificates } from '../../net/tcp/certificate-source.js';
import type { AcmeStatus } from '../certificates/acme-certificates.js';
import type { CertificateMeter } from '../certificates/certificate-requests.js';
import type { Families } from './families.js';

export interface MeasuredCertificates {
  readonly presented: () => PresentedCertificates;
  /** Undefined when no certificates are requested. */
  readonly acme: () => AcmeStatus | undefined;
}

export function certificateMeter(families: Families): CertificateMeter {
  const requests = families.counter(
    'certificate_requests_total',
    'Requests for certificates by ACME that this node made; outcome: obtained, or failed.',
    ['outcome'],
  );
  return { requested: (outcome) => requests.inc({ outcome }) };
}

export function watchCertificates(families: Families, { presented, acme }: MeasuredCertificates): void {
  families.gauges(
    'certificate_expiry_timestamp_seconds',
    'Unix time at which the first certificate ends; of: deployment (its own names), or domains (hosted ones, by ACME).',
    ['of'],
    () => {
      const own = [{ of: 'deployment' }, presented().expiresAt.getTime() / 1000] as const;
      const end = acme()?.domainsEnd;
      return end === undefined ? [own] : [own, [{ of: 'domains' }, end / 1000]];
    },
  );
  families.gauge(
    'certificates_failing',
    'Certificates whose last request by ACME failed, on all nodes; absent without MANSIO_ACME_DIRECTORY.',
    () => acme()?.failing,
  );
}
