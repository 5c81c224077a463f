// Tests what is said of certificates: names, days, chain.
import { X509Certificate } from 'node:crypto';
import { certificate } from '../../../dev/certificate.js';
import { judge } from '../../../src/node/doctor/certificate-check.js';
import test from '../../support/test.js';

const leaf = new X509Certificate(certificate.cert);
const END = Date.parse(leaf.validTo);
const DAY_MS = 86_400_000;

test('names, days and chain of a certificate', (t) => {
  const of = (daysBefore: number, name = 'mx.example.test', chainFault?: string) =>
    judge(
      { leaf, chainFault, wanted: new Set([name]) },
      { tls: [{ cert: '/c.pem', key: '/k.pem' }], acmeDirectory: undefined },
      END - daysBefore * DAY_MS,
    );
  t.like(of(60), { subject: 'mx.example.test', status: 'ok', fix: null });
  t.like(of(20), { status: 'warn', fix: 'a new certificate in /c.pem' });
  const settings = { tls: undefined, acmeDirectory: undefined };
  const named = { leaf, chainFault: 'DEPTH_ZERO_SELF_SIGNED_CERT', wanted: new Set(['mx.example.test']) };
  t.is(judge(named, settings, END - 60 * DAY_MS).fix, 'MANSIO_ACME_DIRECTORY=letsencrypt');
  t.like(of(-1), { status: 'fail' });
  t.regex(of(-1).detail, /^it ended on /);
  t.like(of(60, 'imap.example.org'), { status: 'fail' });
  t.regex(of(60, 'imap.example.org').detail, /not for imap\.example\.org$/);
  t.like(of(60, 'mx.example.test', 'DEPTH_ZERO_SELF_SIGNED_CERT'), {
    status: 'warn',
    detail: 'it is self-signed: mail programs refuse it',
  });
  t.regex(of(60, 'mx.example.test', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE').detail, /intermediate certificates/);
});
