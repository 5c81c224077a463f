// What /healthz looks at (interface, section 4). How checks are run and told is the HTTP gateway's business.
import type { Foundation } from './foundation.js';
import type { HealthCheck } from './gateways/http/health.js';
import { assertReachable } from './store/postgres/reachable.js';

/** Room for an operator to see it and act: renewal of certificates of 90 days is due at 30 and tried again daily. */
const NEAR_EXPIRY_DAYS = 21;
const DAY_MS = 86_400_000;

export interface Checked {
  readonly sql: Foundation['sql'];
  readonly tls: Pick<Foundation['tls'], 'notAfter'>;
  readonly config: Pick<Foundation['config'], 'tls'>;
}

export function healthChecks(
  { sql, tls, config }: Checked,
  parts: { readonly hub: { readonly connections: number }; readonly ownership: { readonly missing: number } },
  now: () => number = Date.now,
): readonly HealthCheck[] {
  const checks: HealthCheck[] = [
    {
      name: 'database',
      tags: ['infrastructure'],
      run: async () => {
        await assertReachable(sql);
        return { status: 'Healthy', description: 'The database is reachable and accepts connections.' };
      },
    },
    {
      name: 'shards',
      tags: ['infrastructure'],
      run: async () => {
        const { missing } = parts.ownership;
        if (missing === 0) return { status: 'Healthy', description: 'This node owns every mailbox.' };
        const description = 'Another node owns mailboxes of this one: they cannot be reached from here.';
        return { status: 'Unhealthy', description, data: { missing } };
      },
    },
    {
      name: 'signalr',
      tags: ['api'],
      run: async () => ({
        status: 'Healthy',
        description: 'The real-time hub is registered.',
        data: { connections: parts.hub.connections },
      }),
    },
  ];
  // The self-signed one is ours to renew, and nobody's to watch.
  if (config.tls !== undefined) checks.push(certificateCheck(tls, now));
  return checks;
}

function certificateCheck(tls: Checked['tls'], now: () => number): HealthCheck {
  return {
    name: 'tls-certificate',
    tags: ['infrastructure'],
    run: async () => {
      const { notAfter } = tls;
      const left = notAfter.getTime() - now();
      const data = { notAfter: notAfter.toISOString(), daysLeft: Math.floor(left / DAY_MS) };
      if (left <= 0) return { status: 'Unhealthy', description: 'The TLS certificate has expired.', data };
      if (left <= NEAR_EXPIRY_DAYS * DAY_MS)
        return { status: 'Degraded', description: 'The TLS certificate expires soon.', data };
      return { status: 'Healthy', description: 'The TLS certificate is valid.', data };
    },
  };
}
