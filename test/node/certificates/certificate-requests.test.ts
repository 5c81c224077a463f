// Tests how certificates are obtained and renewed, against a real authority whose faults are on, with a clock of the test.
import { X509Certificate } from 'node:crypto';
import type { ExecutionContext } from 'ava';
import { acmeHandler } from '../../../src/gateways/http/acme-handler.js';
import { startHttp } from '../../../src/gateways/http/server/server.js';
import { CertificateRequests } from '../../../src/node/certificates/certificate-requests.js';
import { postgresCertificates } from '../../../src/store/postgres/certificates.js';
import type { Sql } from '../../../src/store/postgres/driver/client.js';
import { FakeLog } from '../../gateways/http/fakes.js';
import { migratedSql } from '../../support/database/embedded-database.js';
import { type Pebble, startPebble } from '../../support/peers/pebble.js';
import { testWith } from '../../support/test-with.js';

const testWithPebble = testWith('pebble', 'pebble-challtestsrv');
const DAY_MS = 86_400_000;
const OWN = ['mail.example.test', 'app.example.test'];

interface World {
  readonly sql: Sql;
  readonly store: ReturnType<typeof postgresCertificates>;
  readonly pebble: Pebble;
  readonly log: FakeLog;
  /** Names by domain; '' are the deployment's own. */
  readonly names: Map<string, readonly string[] | undefined>;
  now: number;
  run(nodeId?: string): Promise<void>;
  /** The certificate by domain. */
  leafOf(domain?: string): Promise<X509Certificate>;
}

async function world(t: ExecutionContext): Promise<World> {
  const sql = await migratedSql(t, { max: 3 });
  const pebble = await startPebble(t);
  const store = postgresCertificates(sql, pebble.directory);
  const log = new FakeLog();
  const responder = await startHttp({
    bind: '127.0.0.1',
    port: pebble.httpPort,
    webSockets: [],
    log,
    handler: acmeHandler({
      authorizationOf: async (token) => (await store.authorizations()).get(token),
      isKnown: async () => false,
      httpsPort: 443,
    }),
  });
  t.teardown(() => responder.stop(0));
  const here: World = {
    sql,
    store,
    pebble,
    log,
    names: new Map<string, readonly string[] | undefined>([['', OWN]]),
    now: Date.now(),
    run: (nodeId = 'a') =>
      new CertificateRequests({
        store,
        names: { of: async (domain) => (here.names.has(domain ?? '') ? here.names.get(domain ?? '') : []) },
        authority: { directory: pebble.directory, email: 'ops@example.test', ca: pebble.ca },
        nodeId,
        leaseTtlMs: 3000,
        log: log as never,
        now: () => here.now,
        random: () => 0.5,
        obtained: () => {},
      }).run(new AbortController().signal),
    async leafOf(domain) {
      const found = (await store.changed(0)).find((each) => each.domain === domain);
      return new X509Certificate(found?.chain ?? '');
    },
  };
  return here;
}

const host = (sql: Sql, ...names: readonly string[]) =>
  Promise.all(names.map((name) => sql`insert into domains (name) values (${name})`));

testWithPebble(
  'certificates of the own names and of each domain; nothing is requested again before its time',
  async (t) => {
    const here = await world(t);
    await host(here.sql, 'example.test', 'other.test');
    here.names.set('example.test', ['mta-sts.example.test', 'autoconfig.example.test']);
    await here.run();
    const leaf = await here.leafOf();
    for (const name of OWN) t.is(leaf.checkHost(name), name);
    t.is((await here.leafOf('example.test')).checkHost('mta-sts.example.test'), 'mta-sts.example.test');
    const states = await here.store.states();
    t.deepEqual(
      states.map(({ domain, names, failures }) => [domain, names.length, failures]),
      [
        [undefined, 2, 0],
        ['example.test', 2, 0],
        ['other.test', 0, 0],
      ],
    );
    t.is((await here.store.changed(0)).length, 2);
    t.false((await here.store.look(here.now)).isDue);

    // Everything is looked at again, and nothing is requested.
    here.now += DAY_MS;
    t.true((await here.store.look(here.now)).isDue);
    await here.run('b');
    t.is((await here.leafOf()).serialNumber, leaf.serialNumber);
    t.false((await here.store.look(here.now)).isDue);

    // A name that has come to lead here is added at once.
    here.names.set('example.test', ['mta-sts.example.test', 'autoconfig.example.test', 'autodiscover.example.test']);
    here.now += DAY_MS;
    await here.run();
    t.is((await here.leafOf('example.test')).checkHost('autodiscover.example.test'), 'autodiscover.example.test');
    // The operator has other names: the next look comes at once.
    await here.store.nodeStarts(OWN, here.now);
    t.false((await here.store.look(here.now)).isDue);
    here.names.set('', [...OWN, 'third.example.test']);
    await here.store.nodeStarts([...OWN, 'third.example.test'], here.now);
    await here.run();
    t.is((await here.leafOf()).checkHost('third.example.test'), 'third.example.test');
    // DNS that cannot tell takes nothing away.
    here.names.set('example.test', undefined);
    here.now += DAY_MS;
    await here.run();
    t.is((await here.store.states())[1]!.names.length, 3);
  },
);

testWithPebble(
  'a certificate is renewed when two thirds of its time are over, and the old one stays while that fails',
  async (t) => {
    const here = await world(t);
    await here.run();
    const first = await here.leafOf();
    const [from, to] = [Date.parse(first.validFrom), Date.parse(first.validTo)];
    const { renewAt } = (await here.store.states())[0]!;
    t.true(renewAt! > from + (to - from) * 0.6 && renewAt! <= from + ((to - from) * 2) / 3);

    await here.pebble.stop();
    here.now = renewAt! + 1000;
    await t.throwsAsync(here.run(), { message: /no reply of localhost/ });
    t.is((await here.leafOf()).serialNumber, first.serialNumber);
    const { failures, error, nextAt } = (await here.store.states())[0]!;
    t.deepEqual([failures, error?.type], [1, 'connection']);
    t.is((await here.store.look(here.now)).ownFailure, 'connection');
    t.true(nextAt > here.now);
    await here.run();
    t.is((await here.store.states())[0]!.failures, 1, 'not before the end of its back-off');

    // The authority has lost the account meanwhile.
    await here.pebble.restart();
    here.now = nextAt;
    await here.run();
    // An authority that gives renewal information (ARI) may have named a later time.
    const state = (await here.store.states())[0]!;
    if ((await here.leafOf()).serialNumber === first.serialNumber) {
      here.now = Math.max(state.renewAt!, state.nextAt) + 1000;
      await here.run();
    }
    const second = await here.leafOf();
    t.not(second.serialNumber, first.serialNumber);
    t.like((await here.store.states())[0], { failures: 0, error: undefined });
    t.is((await here.store.look(here.now)).failing, 0);
  },
);

testWithPebble('one domain that fails delays no other, and keeps the reason of the authority', async (t) => {
  const here = await world(t);
  await host(here.sql, 'bad.test', 'good.test');
  // Pebble refuses a name with this character, as the authority of a domain's owner may refuse any.
  here.names.set('bad.test', ['mta-sts.bad_.test']);
  here.names.set('good.test', ['mta-sts.good.test']);
  await here.run();
  const states = await here.store.states();
  const bad = states.find(({ domain }) => domain === 'bad.test')!;
  t.regex(bad.error?.type ?? '', /^urn:ietf:params:acme:error:/);
  t.is(bad.failures, 1);
  t.true(bad.nextAt > here.now);
  t.is((await here.leafOf('good.test')).checkHost('mta-sts.good.test'), 'mta-sts.good.test');
  t.is((await here.store.look(here.now)).failing, 1);
  t.is((await here.store.look(here.now)).ownFailure, undefined);
});

testWithPebble('of two nodes one requests; one that has lost its lease writes nothing', async (t) => {
  const here = await world(t);
  await Promise.all([here.run('a'), here.run('b')]);
  const { revision } = await here.store.look(here.now);
  t.is(revision, 1);
  // The one that has requested keeps the lease for a while.
  const acquire = (nodeId: string) => here.store.acquire(nodeId, 60_000, () => 'unused');
  const lease = (await acquire('a')) ?? (await acquire('b'));
  const [holder, other] = lease!.nodeId === 'a' ? ['a', 'b'] : ['b', 'a'];
  t.is(await acquire(other), undefined);
  await here.run(other);
  // The same name again: an earlier process of the node has lost its lease.
  const later = await acquire(holder);
  t.true(later!.epoch > lease!.epoch);
  t.false(await here.store.extend(lease!, 60_000));
  t.false(await here.store.publish(lease!, 'token', 'answer'));
  t.false(await here.store.failed(lease!, undefined, { type: 'reply', detail: '', tried: [], nextAt: 0 }));
  t.false(await here.store.schedule(lease!, undefined, { nextAt: 0 }));
  const certificate = { names: ['x.test'], chain: 'c', privateKey: 'k', renewalId: undefined };
  const times = { notAfter: 0, renewAt: 0, askAt: 0, nextAt: 0 };
  t.false(await here.store.keep(lease!, undefined, { ...certificate, ...times }));
  t.is((await here.store.look(here.now)).revision, revision);
  t.true(await here.store.release(later!));
  t.truthy(await acquire(other));
});
