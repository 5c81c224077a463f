// Tests that a chain is read to its end before it is kept.
import { certificate } from '../../../dev/certificate.js';
import { readChain } from '../../../src/net/tcp/certificate-chain.js';
import test from '../../support/test.js';

test('a chain is read to its last certificate', (t) => {
  t.notThrows(() => readChain(certificate.cert));
  t.notThrows(() => readChain(certificate.cert + certificate.cert));
  const broken = '-----BEGIN CERTIFICATE-----\nYWJj\n-----END CERTIFICATE-----\n';
  t.throws(() => readChain(certificate.cert + broken));
  t.throws(() => readChain(`${certificate.cert}\0`), { message: /NUL/ });
  t.throws(() => readChain('no certificate'));
});
