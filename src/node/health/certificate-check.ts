// The check `tls-certificate` of health: when the certificate ends, and whether requests for certificates fail. Health is public, so it tells how
// many certificates of domains fail, and not which; the log and `mansio doctor` name them.
import type { HealthCheck, HealthResult } from '../../gateways/http/health.js';
import type { CertificateSource } from '../../net/tcp/certificate-source.js';
import type { AcmeStatus } from '../certificates/acme-certificates.js';

/** The time for an operator to notice and act: certificates of 90 days are renewed 30 days before the end. */
const NEAR_EXPIRY_DAYS = 21;
const DAY_MS = 86_400_000;

/** `acme`: undefined when no certificates are requested. */
export function certificateCheck(
  certificates: Pick<CertificateSource, 'presented'>,
  acme: { readonly status: AcmeStatus } | undefined,
  now: () => number,
): HealthCheck {
  return {
    name: 'tls-certificate',
    tags: ['infrastructure'],
    run: async () => {
      const { names, expiresAt } = certificates.presented;
      const left = expiresAt.getTime() - now();
      const daysLeft = Math.floor(left / DAY_MS);
      const data = {
        names,
        expiresAt: expiresAt.toISOString(),
        daysLeft,
        ...(acme && { failing: acme.status.failing }),
      };
      return { ...verdict(left, acme?.status), data };
    },
  };
}

function verdict(leftMs: number, acme: AcmeStatus | undefined): HealthResult {
  if (leftMs <= 0) return { status: 'Unhealthy', description: 'The TLS certificate has expired.' };
  if (acme?.ownFailure !== undefined) {
    const description = `The certificate could not be obtained or renewed (${acme.ownFailure}): "mansio doctor" says what mends it, and it is tried again.`;
    return { status: 'Degraded', description };
  }
  if (acme !== undefined && acme.failing > 0) {
    const what = acme.failing === 1 ? '1 hosted domain' : `${acme.failing} hosted domains`;
    return {
      status: 'Degraded',
      description: `Certificates of ${what} could not be obtained or renewed: "mansio doctor" names them.`,
    };
  }
  // Certificates of a few days are renewed in time as well, so only a failure is worth a word.
  if (acme === undefined && leftMs <= NEAR_EXPIRY_DAYS * DAY_MS)
    return { status: 'Degraded', description: 'The TLS certificate expires soon.' };
  return { status: 'Healthy', description: 'The TLS certificate is valid.' };
}
