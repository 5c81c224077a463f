// Tests which servers of NATS_URL and DATABASE_URL a node warns of: those on other machines that may be talked to without TLS.
import { readConfig } from '../../../src/node/config/config.js';
import { backendTlsCheck, remoteServers, warnOfPlaintext } from '../../../src/node/health/backend-tls.js';
import { FakeLog } from '../../gateways/http/fakes.js';
import test from '../../support/test.js';

const withNats = (natsUrl: string) => readConfig({ NATS_URL: natsUrl });
const withDatabase = (databaseUrl: string) => readConfig({ DATABASE_URL: databaseUrl });

test('servers on this machine need no TLS, and health has no check', (t) => {
  const local = [
    readConfig({}),
    withNats('nats://127.0.0.1:4222,nats://localhost,nats://[::1]:4223'),
    withDatabase('postgres://mansio:secret@127.0.0.1:5432/mansio'),
    withDatabase('postgres://localhost/mansio'),
    withDatabase('postgres:///mansio'),
  ];
  for (const config of local) {
    const log = new FakeLog();
    warnOfPlaintext(config, log as never);
    t.deepEqual(log.lines, []);
    t.deepEqual(remoteServers(config), []);
    t.is(backendTlsCheck(config), undefined);
  }
});

test('NATS beyond loopback without tls:// is one warning that names the servers and says what to do', async (t) => {
  const config = withNats('nats://nats-1:4222,tls://nats-2:4222,nats://mansio:secret@192.0.2.7:4222,nats://127.0.0.1');
  const log = new FakeLog();
  warnOfPlaintext(config, log as never);
  t.is(log.lines.length, 1);
  const { level, fields, text } = log.lines[0]!;
  t.is(level, 'warn');
  t.deepEqual(fields['servers'], ['nats-1', '192.0.2.7']);
  t.regex(text, /NATS_URL.*without TLS.*write tls:\/\//);
  const check = backendTlsCheck(config)!;
  t.deepEqual([check.name, check.tags], ['backend-tls', ['infrastructure']]);
  const result = await check.run();
  t.like(result, { status: 'Degraded', data: { plaintext: ['NATS_URL'] } });
  // Health is public.
  t.notRegex(JSON.stringify(result), /nats-1|192\.0\.2\.7|secret/);
});

test('PostgreSQL beyond loopback needs a mode that demands TLS', async (t) => {
  const table = [
    ['', 'Degraded'],
    ['?sslmode=disable', 'Degraded'],
    ['?ssl=false', 'Degraded'],
    ['?sslmode=prefer', 'Degraded'],
    ['?sslmode=require', 'Healthy'],
    ['?sslmode=verify-full', 'Healthy'],
    ['?ssl=true', 'Healthy'],
  ] as const;
  for (const [query, status] of table) {
    const config = withDatabase(`postgres://mansio:secret@db.example.org/mansio${query}`);
    const isPlain = status === 'Degraded';
    t.deepEqual(remoteServers(config)[0]?.plaintext, isPlain ? ['db.example.org'] : [], query);
    t.like(
      await backendTlsCheck(config)!.run(),
      { status, data: { plaintext: isPlain ? ['DATABASE_URL'] : [] } },
      query,
    );
  }
  const several = withDatabase('postgres://mansio@127.0.0.1:5432,db-2:5433/mansio');
  t.deepEqual(remoteServers(several)[0]?.plaintext, ['db-2']);
});

test('both settings are warned of, each on its own line', (t) => {
  const log = new FakeLog();
  warnOfPlaintext(readConfig({ NATS_URL: 'nats://nats-1', DATABASE_URL: 'postgres://db/mansio' }), log as never);
  t.deepEqual(
    log.lines.map(({ text }) => /^\w+/.exec(text)?.[0]),
    ['NATS_URL', 'DATABASE_URL'],
  );
});
