// Tests where reports go: a domain elsewhere must agree, and every size and number is bounded.
import { planReport } from '../../../../src/message-checks/feedback/own/report-targets.js';
import { type Dns, DnsFailure } from '../../../../src/net/dns/resolver.js';
import test from '../../../support/test.js';

const dns = (texts: Readonly<Record<string, string | readonly string[]>>): Dns => ({
  async resolve(name: string) {
    const found = texts[name];
    if (found === 'fails') throw new DnsFailure('ETIMEOUT', name, 'TXT');
    if (found === undefined) throw new DnsFailure('ENOTFOUND', name, 'TXT');
    return [found].flat().map((text) => [text]) as never;
  },
});

const addresses = async (texts: Parameters<typeof dns>[0], domain = 'peer.test') =>
  (await planReport(dns(texts), domain))?.targets.map(({ address }) => address);

test('addresses of the organization need no permission, others do', async (t) => {
  const record =
    'v=DMARC1; p=none; rua=mailto:a@peer.test!1m,mailto:b@sub.peer.test,mailto:c@agreed.test,mailto:d@other.test';
  const texts = { '_dmarc.peer.test': record, 'peer.test._report._dmarc.agreed.test': 'v=DMARC1' };
  t.deepEqual(await addresses(texts), ['a@peer.test', 'b@sub.peer.test', 'c@agreed.test']);
  const plan = await planReport(dns(texts), 'peer.test');
  t.like(plan, { record: { policy: 'none' }, targets: [{ most: 1024 ** 2 }] });
  // What a domain permits for one domain holds for no other.
  const victim = 'v=DMARC1; p=none; rua=mailto:c@agreed.test';
  t.is(await addresses({ ...texts, '_dmarc.evil.test': victim }, 'evil.test'), undefined);
});

test('no record, two records, no policy and other URIs: no report', async (t) => {
  t.is(await addresses({}), undefined);
  t.is(
    await addresses({ '_dmarc.peer.test': ['v=DMARC1; p=none; rua=mailto:a@peer.test', 'v=DMARC1; p=none'] }),
    undefined,
  );
  t.is(
    await addresses({ '_dmarc.peer.test': 'v=DMARC1; p=none; rua=https://peer.test/,mailto:a@[127.0.0.1]' }),
    undefined,
  );
  t.is(await addresses({ '_dmarc.peer.test': 'v=DMARC1; p=none' }), undefined);
});

test('at most five addresses; DNS that does not answer is asked again', async (t) => {
  const many = Array.from({ length: 15 }, (_, i) => `mailto:a${i}@peer.test`).join();
  t.is((await addresses({ '_dmarc.peer.test': `v=DMARC1; p=none; rua=${many}` }))?.length, 5);
  await t.throwsAsync(addresses({ '_dmarc.peer.test': 'fails' }), { instanceOf: DnsFailure });
  const texts = { '_dmarc.peer.test': 'v=DMARC1; p=none; rua=mailto:a@x.test', '_dmarc.x.test': 'fails' };
  await t.throwsAsync(addresses(texts), { instanceOf: DnsFailure });
});
