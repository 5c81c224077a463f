// Tests which requests for certificates a start of a node brings forward.
import { postgresCertificates } from '../../../src/store/postgres/certificates.js';
import { connect } from '../../../src/store/postgres/driver/client.js';
import { migratedDatabase } from '../../support/database/embedded-database.js';
import test from '../../support/test.js';

test('a start tries again what has failed several times, unless the authority wants a pause', async (t) => {
  const { address } = await migratedDatabase(t);
  const sql = connect(address, { max: 1, applicationName: 'test' });
  t.teardown(() => sql.end({ timeout: 1 }));
  const store = postgresCertificates(sql, 'https://acme.test/dir');
  const lease = (await store.acquire('a', 60_000, () => 'key'))!;
  const [NOW, LATER] = [Date.UTC(2026, 0, 1), Date.UTC(2026, 0, 2)];
  const own = ['mail.example.org'];
  const fail = async (domain: string | undefined, type: string, times: number) => {
    for (let i = 0; i < times; i++) await store.failed(lease, domain, { type, detail: 'x', tried: own, nextAt: LATER });
  };
  await sql`insert into domains (name) values ('twice.test'), ('often.test'), ('limited.test'), ('well.test')`;
  await fail(undefined, 'connection', 2);
  await fail('twice.test', 'urn:ietf:params:acme:error:dns', 2);
  await fail('often.test', 'urn:ietf:params:acme:error:dns', 3);
  await fail('limited.test', 'urn:ietf:params:acme:error:rateLimited', 5);
  await store.schedule(lease, 'well.test', { nextAt: LATER });
  const due = async () => (await store.due(NOW, 10)).map(({ domain }) => domain);
  t.deepEqual(await due(), []);
  await store.nodeStarts(own, NOW);
  t.deepEqual(await due(), ['often.test']);
  t.is((await store.states()).find(({ domain }) => domain === 'often.test')!.failures, 3);
  await store.nodeStarts([...own, 'app.example.org'], NOW);
  t.deepEqual(await due(), [undefined, 'often.test']);
});
