// Tests which certificate a host gets: the operator's before acquired ones, those before the provisional one.
import { CertificateSource, type KeyPair } from '../../../src/net/tcp/certificate-source.js';
import { pairFor } from '../../support/key-pair.js';
import test from '../../support/test.js';

const acquired = (names: readonly string[], pair: KeyPair, isDefault = false) => ({ names, pair, isDefault });

test('acquired certificates take the place of the provisional pair, each for its names', async (t) => {
  const source = new CertificateSource([await pairFor('mail.test')], { isProvisional: true });
  const provisional = source.context;
  t.is(source.contextFor('mail.test'), provisional);
  t.false(source.has('mail.test'));
  t.is(source.socketOptions.SNICallback, undefined);

  const domain = await pairFor('mta-sts.a.test');
  source.acquire([acquired(['mta-sts.a.test'], domain)]);
  t.is(source.context, provisional, 'the certificate of a domain is for nobody else');
  const ofDomain = source.contextFor('MTA-STS.a.test');
  t.not(ofDomain, provisional);
  t.is(source.contextFor('mta-sts.a.test'), ofDomain);
  t.truthy(source.socketOptions.SNICallback);

  const own = await pairFor('mail.test');
  source.acquire([acquired(['mta-sts.a.test'], domain), acquired(['mail.test'], own, true)]);
  t.not(source.context, provisional);
  t.is(source.contextFor('mail.test'), source.context);
  t.is(source.contextFor('elsewhere.test'), source.context);
  t.true(source.has('mail.test'));
  t.false(source.covers('mail.test'));
  t.deepEqual(source.presented.names, ['mail.test', 'localhost']);
});

test("the operator's certificate wins for the names that it has, also by a wildcard", async (t) => {
  const source = new CertificateSource([await pairFor('*.a.test')]);
  const own = source.context;
  source.acquire([
    acquired(['mta-sts.a.test', 'mail.b.test'], await pairFor('mail.b.test'), true),
    acquired(['mta-sts.b.test'], await pairFor('mta-sts.b.test')),
  ]);
  t.is(source.contextFor('mta-sts.a.test'), own);
  t.true(source.covers('mta-sts.a.test'));
  t.not(source.contextFor('mail.b.test'), own);
  t.not(source.contextFor('mta-sts.b.test'), source.contextFor('mail.b.test'));
  t.is(source.contextFor('elsewhere.test'), own);
  t.is(source.context, own);
  t.deepEqual(source.presented.names, ['*.a.test', 'localhost', 'mail.b.test']);
});

test('another ticket key is for acquired certificates too, and many of them keep few contexts', async (t) => {
  const source = new CertificateSource([await pairFor('mail.test')], { isProvisional: true });
  const pair = await pairFor('many.test');
  const names = Array.from({ length: 300 }, (_, i) => `d${i}.test`);
  source.acquire(names.map((name) => acquired([name], pair)));
  const first = source.contextFor('d0.test');
  t.is(source.contextFor('d0.test'), first);
  source.rotate(Buffer.alloc(48, 1));
  t.not(source.contextFor('d0.test'), first);
  const second = source.contextFor('d0.test');
  for (const name of names.slice(1)) source.contextFor(name);
  t.not(source.contextFor('d0.test'), second);
  t.is(source.contextFor('d299.test'), source.contextFor('d299.test'));
});
