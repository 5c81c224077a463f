// Tests the check of the block lists with a DNS server: lists that work, that refuse the resolver, that have nothing or everything.
import { dnsblCheck } from '../../../src/node/doctor/dnsbl-check.js';
import test from '../../support/test.js';
import { subjectFor } from './subjects.js';

test('a list that has its test address and not every address is ok', async (t) => {
  const zones = {
    '2.0.0.127.good.test': { A: ['127.0.0.2'] },
    '2.0.0.127.refusing.test': { A: ['127.255.255.254'] },
    '1.0.0.127.refusing.test': { A: ['127.255.255.254'] },
    '2.0.0.127.all.test': { A: ['127.0.0.2'] },
    '1.0.0.127.all.test': { A: ['127.0.0.2'] },
    '2.0.0.127.broken.test': { rcode: 'SERVFAIL' as const },
  };
  const lists = ['good.test', 'refusing.test', 'all.test', 'broken.test', 'none.test'];
  const { subject, server } = await subjectFor(t, { env: { MANSIO_DNSBL: lists.join(',') } });
  for (const [name, zone] of Object.entries(zones)) server.zones.set(name, zone);
  t.true(dnsblCheck.applies!(subject));
  const found = await dnsblCheck.run(subject);
  t.deepEqual(
    found.map(({ subject: list, status }) => `${list} ${status}`),
    ['good.test ok', 'refusing.test warn', 'all.test fail', 'broken.test warn', 'none.test warn'],
  );
  t.like(found[1], { fix: 'MANSIO_DNS of a resolver of your own' });
  const { subject: without } = await subjectFor(t, {});
  t.false(dnsblCheck.applies!(without));
});
