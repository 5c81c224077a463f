// Tests what is said of requests for certificates that fail: names, type, the next try, and what mends each type.
import { failingOrders } from '../../../src/node/doctor/certificate-orders.js';
import type { CertificateState } from '../../../src/store/certificates.js';
import test from '../../support/test.js';

const NOW = Date.UTC(2026, 10, 29);
const HOUR_MS = 3_600_000;
const OWN = ['mail.example.org', 'app.example.org'];

const failed = (type: string, detail = 'it says why', more: Partial<CertificateState> = {}): CertificateState => ({
  domain: undefined,
  names: [],
  notAfter: undefined,
  renewalId: undefined,
  renewAt: undefined,
  askAt: 0,
  nextAt: NOW + 4 * HOUR_MS,
  failures: 3,
  error: { type, detail },
  tried: OWN,
  ...more,
});

const findings = (...states: readonly CertificateState[]) =>
  failingOrders(states, { acmeDirectory: 'https://acme-v02.api.letsencrypt.org/directory', acmeEmail: undefined }, NOW);
const urn = (type: string) => `urn:ietf:params:acme:error:${type}`;

test('names, type, what is served, and the next try', (t) => {
  t.deepEqual(findings({ ...failed(''), failures: 0, error: undefined }), []);
  t.deepEqual(findings(failed(urn('connection'), '192.0.2.1: Fetching http://mail.example.org/: Timeout')), [
    {
      subject: 'mail.example.org, app.example.org',
      status: 'fail',
      detail:
        'no new certificate: connection: 192.0.2.1: Fetching http://mail.example.org/: Timeout; there is none yet; 3 requests failed, it is tried again in 4 h',
      fix: 'nft add rule inet filter input tcp dport 80 accept',
    },
  ]);
  const [served] = findings(failed(urn('dns'), 'x', { notAfter: NOW + 240 * HOUR_MS, failures: 1, nextAt: NOW }));
  t.like(served, { status: 'warn' });
  t.regex(served!.detail, /; the old one serves for 10 days more; 1 request failed, it is tried again now$/);
  t.like(findings(failed(urn('dns'), 'x', { notAfter: NOW - 1 })), [{ status: 'fail' }]);
  const domain = failed(urn('unauthorized'), 'x', { domain: 'example.net', tried: ['mta-sts.example.net'] });
  t.like(findings(domain), [{ subject: 'mta-sts.example.net', status: 'warn' }]);
});

test('what mends each type, for the name that the authority complains of', (t) => {
  const fixOf = (type: string, detail?: string) => findings(failed(type, detail))[0]!.fix!;
  t.regex(fixOf(urn('dns'), 'DNS problem: NXDOMAIN looking up A for app.example.org'), /^app\.example\.org\. IN A /);
  t.is(fixOf(urn('caa'), 'CAA record for mail.example.org'), 'mail.example.org. IN CAA 0 issue "letsencrypt.org"');
  t.is(fixOf(urn('unauthorized')), 'curl -v http://mail.example.org/.well-known/acme-challenge/x');
  t.is(fixOf(urn('externalAccountRequired')), 'MANSIO_ACME_DIRECTORY=letsencrypt');
  t.regex(fixOf(urn('rejectedIdentifier')), /^MANSIO_ACME_NAMES /);
  t.regex(fixOf(urn('invalidContact')), /^MANSIO_ACME_EMAIL /);
  t.is(fixOf('timeout'), 'curl -v https://acme-v02.api.letsencrypt.org/directory');
  t.regex(fixOf('tls'), /^MANSIO_ACME_CA=/);
  t.regex(fixOf(urn('serverInternal')), /^journalctl /);
});

test('what the authority says is shown cut and without control characters', (t) => {
  const [finding] = findings(failed(urn('malformed'), `\u{1b}[31m${'x'.repeat(2000)}`));
  t.true(finding!.detail.length < 400);
  t.notRegex(finding!.detail, /\p{Cc}/u);
});
