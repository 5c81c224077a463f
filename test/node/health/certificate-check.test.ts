// Tests the check of certificates: their names and end, and failures of requests while the old certificate serves.
import type { AcmeStatus } from '../../../src/node/certificates/acme-certificates.js';
import { certificateCheck } from '../../../src/node/health/certificate-check.js';
import test from '../../support/test.js';

const DAY_MS = 86_400_000;
const NOW = Date.UTC(2026, 0, 1);

const resultOf = (days: number, acme?: Partial<AcmeStatus>) =>
  certificateCheck(
    { presented: { names: ['mail.test'], expiresAt: new Date(NOW + days * DAY_MS) } },
    acme && { status: { failing: 0, ownFailure: undefined, domainsEnd: undefined, ...acme } },
    () => NOW,
  ).run();

test('names and end are told', async (t) => {
  t.deepEqual((await resultOf(90)).data, {
    names: ['mail.test'],
    expiresAt: '2026-04-01T00:00:00.000Z',
    daysLeft: 90,
  });
});

test('a failed request degrades, with its type; an expired certificate is Unhealthy', async (t) => {
  t.is((await resultOf(5, {})).status, 'Healthy', 'short certificates are renewed in time');
  const own = await resultOf(60, { failing: 2, ownFailure: 'urn:ietf:params:acme:error:dns' });
  t.is(own.status, 'Degraded');
  t.regex(own.description!, /acme:error:dns/);
  t.is(own.data?.['failing'], 2);
  t.regex((await resultOf(60, { failing: 1 })).description!, /of 1 hosted domain /);
  t.regex((await resultOf(60, { failing: 3 })).description!, /of 3 hosted domains /);
  t.is((await resultOf(0, { failing: 1, ownFailure: 'timeout' })).status, 'Unhealthy');
});
