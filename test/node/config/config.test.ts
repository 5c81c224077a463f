// Tests how the configuration is read: the demo, the form of values, what is refused, and which settings fit each other.
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { temporaryDirectory } from '../../../dev/temporary-directory.js';
import { describeConfig, processCountOf, readConfig } from '../../../src/node/config/config.js';
import { ConfigError } from '../../../src/node/config/error.js';
import { availableProcessors } from '../../../src/node/config/processors.js';
import test from '../../support/test.js';
import { problemsOf } from './config-problems.js';

const PORTS = [
  ...(['httpPort', 'metricsPort', 'mxPort', 'submissionPort', 'submissionsPort'] as const),
  ...(['imapPort', 'imapsPort', 'pop3Port', 'pop3sPort', 'sievePort'] as const),
];

test('nothing configured is the demo', (t) => {
  const config = readConfig({});
  t.true(config.demo);
  t.deepEqual(config.hostedDomains, ['example.test']);
  t.deepEqual([...config.roles].sort(), ['api', 'imap', 'mailbox', 'mx', 'outbound', 'pop3', 'submission']);
  t.deepEqual([config.bind, config.httpBind], ['127.0.0.1', '127.0.0.1']);
  t.deepEqual(config.unknown, []);
});

test('a database, a domain or an open address ends the demo', (t) => {
  t.false(readConfig({ DATABASE_URL: 'postgres://localhost/mansio' }).demo);
  t.false(readConfig({ MANSIO_HOSTED_DOMAINS: 'example.org' }).demo);
  t.false(readConfig({ MANSIO_BIND: '0.0.0.0' }).demo);
  t.deepEqual(readConfig({ MANSIO_BIND: '0.0.0.0' }).hostedDomains, []);
  t.false(readConfig({ MANSIO_HTTP_BIND: '0.0.0.0' }).demo);
  t.true(readConfig({ MANSIO_BIND: '::1', MANSIO_HTTP_PORT: '0' }).demo);
  t.true(readConfig({ MANSIO_BIND: '127.0.0.1', MANSIO_HTTP_BIND: '::1' }).demo);
});

test('HTTP follows the address of the mail ports on loopback only', (t) => {
  const httpBind = (bind: string, http = '') => readConfig({ MANSIO_BIND: bind, MANSIO_HTTP_BIND: http }).httpBind;
  t.is(httpBind(''), '127.0.0.1');
  t.is(httpBind('127.0.0.9'), '127.0.0.9');
  t.is(httpBind('::1'), '::1');
  for (const open of ['0.0.0.0', '::', '192.0.2.1']) {
    t.is(httpBind(open), '127.0.0.1', open);
    t.is(httpBind(open, open), open);
    t.is(httpBind('', open), open);
  }
  const row = describeConfig({ MANSIO_BIND: '0.0.0.0' }).find(({ name }) => name === 'MANSIO_HTTP_BIND');
  t.deepEqual(row, { name: 'MANSIO_HTTP_BIND', value: '127.0.0.1', source: 'default' });
});

test('an empty variable counts as not set', (t) => {
  t.true(readConfig({ DATABASE_URL: '', MANSIO_HOSTED_DOMAINS: ' ' }).demo);
});

test('one message names every wrong variable, its value and what is accepted', (t) => {
  const error = t.throws(
    () => readConfig({ MANSIO_HTTP_PORT: '70000', MANSIO_BIND: 'localhost', MANSIO_LOG_LEVEL: 'loud' }),
    { instanceOf: ConfigError },
  );
  for (const part of ['MANSIO_HTTP_PORT="70000"', '0 to 65535', 'MANSIO_BIND="localhost"', 'IPv4', '"loud"', 'debug']) {
    t.true(error?.message.includes(part), part);
  }
  t.false(error?.message.includes('\n'));
});

test('passwords are in no message and no description', (t) => {
  for (const url of ['mysql://u:hunter2@h/d', 'hunter2', 'postgres://u:hunter2@[/d', 'mysql://h/d?password=hunter2']) {
    const error = t.throws(() => readConfig({ DATABASE_URL: url }), { instanceOf: ConfigError });
    t.false(JSON.stringify([error?.message, error?.problems]).includes('hunter2'), url);
  }
  for (const url of ['postgres://u:hunter2@h/d', 'postgres://u:hunter2@a:1,b:2/d', 'postgres://h/d?password=hunter2']) {
    t.is(readConfig({ DATABASE_URL: url }).databaseUrl, url);
    t.false(JSON.stringify(describeConfig({ DATABASE_URL: url })).includes('hunter2'), url);
  }
  const nats = ['nats://u:hunter2@h', 'nats://a,tls://u:hunter2@h:4222'];
  for (const url of nats) t.false(JSON.stringify(describeConfig({ NATS_URL: url })).includes('hunter2'), url);
  for (const url of ['http://u:hunter2@h', 'nats://a,nats://u:hunter2@h/path']) {
    const error = t.throws(() => readConfig({ NATS_URL: url }), { instanceOf: ConfigError });
    t.false(JSON.stringify([error?.message, error?.problems]).includes('hunter2'), url);
  }
});

test('values are held to what is accepted', (t) => {
  const wrong: Record<string, readonly string[]> = {
    DATABASE_URL: ['localhost/mansio', 'http://h/d', 'postgres:h'],
    MANSIO_NODE_ID: ['a b', '-a', 'x'.repeat(64), 'ä'],
    MANSIO_PROCESSES: ['0', '-1', '1.5', '129', 'all', '2x', '1e1'],
    MANSIO_ROLES: ['lmtp', 'imap', 'api,,mailbox', 'api,mx'],
    MANSIO_BIND: ['localhost', '127.0.0.1:80', '256.0.0.1', 'fe80::1%eth0', '[::1]'],
    MANSIO_HTTP_BIND: ['localhost', '127.0.0.1:80', '*'],
    MANSIO_PUBLIC_URL: ['mail.example.org', 'ftp://h', 'https://u:p@h', 'https://h/?q', 'https://h/#f', '/mail'],
    MANSIO_HOSTNAME: ['a_b', '-a.example', 'a..b', '1.2.3.4', 'x'.repeat(64), `${'a.'.repeat(127)}ab`],
    MANSIO_HOSTED_DOMAINS: ['example.org,', 'exa mple.org', 'a@b.c', ','],
    MANSIO_UNKNOWN_RECIPIENTS: ['drop', 'true'],
    MANSIO_HTTP_PORT: ['-1', '65536', '80a', '8 0', '1e3', '0x50', '1.5'],
    ...Object.fromEntries(
      ['IMAP', 'IMAPS', 'POP3', 'POP3S', 'SIEVE'].map((name) => [`MANSIO_${name}_PORT`, ['abc', '-1', '65536']]),
    ),
    ...Object.fromEntries(
      ['SMTP', 'SUBMISSION', 'SUBMISSIONS', 'IMAP', 'IMAPS', 'POP3', 'POP3S'].map((name) => [
        `MANSIO_PUBLIC_${name}`,
        [
          'mail.example.org',
          'mail.example.org:0',
          'mail.example.org:65536',
          ':587',
          '2001:db8::1:587',
          'a_b:587',
          '[127.0.0.1]:587',
        ],
      ]),
    ),
    MANSIO_TLS_CERT: [
      '/nonexistent/cert.pem',
      tmpdir(),
      `${import.meta.filename},`,
      `${import.meta.filename},/nonexistent/cert.pem`,
    ],
    MANSIO_MAX_MESSAGE_SIZE: ['1023', '1073741825', '35M'],
    MANSIO_ANONYMOUS_ACCOUNT: ['demo', '@example.test', 'a@', 'a b@example.test'],
    MANSIO_SHARDS: ['0', '65537'],
    MANSIO_LEASE_TTL_MS: ['199', '600001'],
    MANSIO_ALLOW_UNSAFE_DATABASE: ['maybe', '2'],
    NATS_URL: [
      '127.0.0.1:4222',
      'http://h:4222',
      'nats://',
      'nats://h/path',
      'nats://h?x=1',
      'nats://a,',
      'nats://a,b',
    ],
    MANSIO_PROXY_NETWORKS: [
      '10.0.0.0/33',
      '::/129',
      '10.0.0/8',
      'balancer',
      '10.0.0.0/8/8',
      '10.0.0.0/',
      'fe80::1%eth0',
      ',',
    ],
    MANSIO_OIDC_AUTHORITY: [
      'http://login.example.org',
      'login.example.org',
      'https://u:p@h',
      'https://h/?x',
      'file:///x',
    ],
    MANSIO_OIDC_CLIENT_ID: ['a b', 'x'.repeat(256)],
    MANSIO_VAPID_PUBLIC_KEY: ['AAAA', 'not base64'],
    MANSIO_VAPID_PRIVATE_KEY: ['AAAA'],
    MANSIO_VAPID_SUBJECT: ['postmaster@example.org', 'http://h', 'mailto:nobody'],
    MANSIO_PUSH_ALLOW_PRIVATE: ['maybe'],
    MANSIO_WEBHOOK_ALLOW_PRIVATE: ['maybe'],
    MANSIO_RATE_GLOBAL: ['-1', '1.5', 'off', '1000001'],
    MANSIO_RATE_AUTH: ['ten'],
    MANSIO_RATE_WRITE: ['30/m'],
    MANSIO_CORS_ORIGINS: [
      '*',
      'null',
      'mail.example.org',
      'https://mail.example.org/',
      'https://mail.example.org/app',
      'https://*.example.org',
      'https://u:p@h',
      'https://h?x',
      'https://h:99999',
      'https://a b',
      'file:///',
      'https://a,',
    ],
    MANSIO_METRICS_PORT: ['-1', '65536', 'none'],
    OTEL_EXPORTER_OTLP_ENDPOINT: ['collector:4318', 'grpc://h:4317', 'http://u:p@h', 'http://h?x=1'],
  };
  for (const [name, values] of Object.entries(wrong)) {
    for (const value of values) t.true(problemsOf({ [name]: value }).includes(name), `${name}=${value}`);
  }
});

test('values are brought into one form', (t) => {
  const config = readConfig({
    MANSIO_HOSTED_DOMAINS: 'Example.ORG., münchen.example ,example.org',
    MANSIO_HOSTNAME: 'MAIL.Example.org',
    MANSIO_PUBLIC_URL: 'HTTPS://Mail.example.org/base/',
    MANSIO_ANONYMOUS_ACCOUNT: 'Demo@Example.ORG',
    MANSIO_CORS_ORIGINS:
      'HTTPS://App.Example.org:443, http://localhost:3000,capacitor://localhost,http://localhost:3000',
    MANSIO_ALLOW_UNSAFE_DATABASE: 'yes',
    MANSIO_ROLES: 'mailbox, API',
    MANSIO_UNKNOWN_RECIPIENTS: 'REJECT',
  });
  t.deepEqual(config.hostedDomains, ['example.org', 'xn--mnchen-3ya.example']);
  t.is(config.hostname, 'mail.example.org');
  t.is(config.publicUrl, 'https://mail.example.org/base');
  t.is(config.anonymousAccount, 'demo@example.org');
  t.deepEqual(config.corsOrigins, ['https://app.example.org', 'http://localhost:3000', 'capacitor://localhost']);
  t.true(config.allowUnsafeDatabase);
  t.deepEqual([...config.roles], ['mailbox', 'api']);
  t.is(config.unknownRecipients, 'reject');
});

test('lists of servers and networks, and ports that are off', (t) => {
  const config = readConfig({
    NATS_URL: 'nats://127.0.0.1:4222, tls://u:hunter2@nats.example.org',
    MANSIO_PROXY_NETWORKS: '10.0.0.0/8, 192.0.2.7,2001:DB8::/32,::1,0.0.0.0/0',
    MANSIO_METRICS_PORT: '0',
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318/',
  });
  t.deepEqual(config.natsUrl, ['nats://127.0.0.1:4222', 'tls://u:hunter2@nats.example.org']);
  t.deepEqual(config.proxyNetworks, ['10.0.0.0/8', '192.0.2.7/32', '2001:db8::/32', '::1/128', '0.0.0.0/0']);
  t.is(config.metricsPort, 'off');
  t.is(config.otlpEndpoint, 'http://127.0.0.1:4318');
  for (const key of PORTS) {
    const name = `MANSIO_${key.replace('Port', '').toUpperCase()}_PORT`;
    t.is(readConfig({ [name]: 'OFF' })[key], 'off', name);
    t.like(
      describeConfig({ [name]: 'off' }).find((row) => row.name === name),
      { value: 'off', source: 'environment' },
    );
  }
  t.deepEqual(problemsOf({ MANSIO_IMAP_PORT: 'off', MANSIO_POP3_PORT: 'off' }), []);
  t.is(describeConfig({ MANSIO_HTTP_PORT: 'off' }).find(({ name }) => name === 'MANSIO_PUBLIC_URL')?.value, '');
  t.is(readConfig({ MANSIO_METRICS_PORT: '9090' }).metricsPort, 9090);
  const none = readConfig({});
  t.deepEqual(
    [none.natsUrl, none.proxyNetworks, none.metricsPort, none.otlpEndpoint],
    [undefined, [], 'off', undefined],
  );
});

test('a node without mailboxes needs others that have them', (t) => {
  const nats = { NATS_URL: 'nats://127.0.0.1:4222' };
  for (const roles of ['api', 'mx', 'api,mx']) {
    t.deepEqual(problemsOf({ MANSIO_ROLES: roles }), ['MANSIO_ROLES'], roles);
    t.deepEqual(problemsOf({ MANSIO_ROLES: roles, ...nats }), [], roles);
  }
  t.deepEqual(problemsOf({ MANSIO_ROLES: 'mailbox' }), []);
  t.deepEqual([...readConfig({ MANSIO_ROLES: 'api', ...nats }).roles], ['api']);
  // A setting that is invalid by itself is reported once.
  t.deepEqual(problemsOf({ MANSIO_ROLES: 'api', NATS_URL: 'nonsense' }), ['NATS_URL']);
});

test('several processes need a bus between them', (t) => {
  const nats = { NATS_URL: 'nats://127.0.0.1:4222' };
  for (const count of ['2', '128', 'auto']) {
    t.deepEqual(problemsOf({ MANSIO_PROCESSES: count }), ['MANSIO_PROCESSES'], count);
    t.deepEqual(problemsOf({ MANSIO_PROCESSES: count, ...nats }), [], count);
  }
  t.deepEqual(problemsOf({ MANSIO_PROCESSES: '1' }), []);
  t.is(processCountOf(readConfig({})), 1);
  t.is(processCountOf(readConfig({ MANSIO_PROCESSES: '3', ...nats })), 3);
  const auto = readConfig({ MANSIO_PROCESSES: 'Auto', ...nats });
  t.is(processCountOf(auto), availableProcessors());
  const shown = describeConfig({ MANSIO_PROCESSES: 'auto', ...nats }).find(({ name }) => name === 'MANSIO_PROCESSES');
  t.like(shown, { value: `auto: ${availableProcessors()}`, source: 'environment' });
});

test('settings have to fit each other', (t) => {
  const pem = join(temporaryDirectory('mansio-config-'), 'a.pem');
  writeFileSync(pem, '');
  t.deepEqual(problemsOf({ MANSIO_TLS_CERT: pem }), ['MANSIO_TLS_KEY']);
  t.deepEqual(problemsOf({ MANSIO_TLS_KEY: pem }), ['MANSIO_TLS_CERT']);
  t.deepEqual(problemsOf({ MANSIO_TLS_CERT: pem, MANSIO_TLS_KEY: pem }), []);
  t.deepEqual(problemsOf({ MANSIO_TLS_CERT: `${pem},${pem}`, MANSIO_TLS_KEY: `${pem}, ${pem}` }), []);
  t.deepEqual(problemsOf({ MANSIO_TLS_CERT: `${pem},${pem}`, MANSIO_TLS_KEY: pem }), ['MANSIO_TLS_KEY']);
  t.deepEqual(problemsOf({ MANSIO_ANONYMOUS_ACCOUNT: 'a@b.c', MANSIO_BIND: '0.0.0.0' }), ['MANSIO_ANONYMOUS_ACCOUNT']);
  const provider = { MANSIO_OIDC_AUTHORITY: 'https://login.example.org', MANSIO_OIDC_CLIENT_SECRET: 'secret' };
  t.deepEqual(problemsOf(provider), ['MANSIO_OIDC_CLIENT_SECRET']);
  t.deepEqual(problemsOf({ ...provider, MANSIO_OIDC_CLIENT_ID: 'web' }), []);
  t.deepEqual(problemsOf({ MANSIO_ANONYMOUS_ACCOUNT: 'a@b.c', MANSIO_HTTP_BIND: '::' }), ['MANSIO_ANONYMOUS_ACCOUNT']);
  t.deepEqual(problemsOf({ MANSIO_ANONYMOUS_ACCOUNT: 'a@b.c', MANSIO_BIND: '127.9.9.9' }), []);
  t.deepEqual(problemsOf({ MANSIO_HTTP_PORT: '2525' }), ['MANSIO_MX_PORT']);
  t.deepEqual(problemsOf({ MANSIO_METRICS_PORT: '8080' }), ['MANSIO_METRICS_PORT']);
  t.deepEqual(problemsOf({ MANSIO_HTTP_PORT: '0', MANSIO_MX_PORT: '0' }), []);
});

test('ACME: the directory, the names that are certified, and the port', (t) => {
  const off = readConfig({ MANSIO_HOSTNAME: 'mail.example.org', MANSIO_ACME_PORT: '8081' });
  t.deepEqual([off.acmeDirectory, off.acmePort], [undefined, 'off']);
  const env = { MANSIO_ACME_DIRECTORY: 'letsencrypt', MANSIO_HOSTNAME: 'mail.example.org' };
  const on = readConfig(env);
  t.is(on.acmeDirectory, 'https://acme-v02.api.letsencrypt.org/directory');
  t.deepEqual([on.acmePort, on.acmeNames], [80, ['mail.example.org']]);
  const namesOf = (more: Record<string, string>) => readConfig({ ...env, ...more }).acmeNames;
  t.deepEqual(namesOf({ MANSIO_PUBLIC_URL: 'https://app.example.org/mail' }), ['mail.example.org', 'app.example.org']);
  t.deepEqual(namesOf({ MANSIO_PUBLIC_URL: 'https://[2001:db8::1]' }), ['mail.example.org']);
  t.deepEqual(namesOf({ MANSIO_ACME_NAMES: 'a.example.org,b.example.org' }), ['a.example.org', 'b.example.org']);
  t.throws(() => readConfig({ ...env, MANSIO_HOSTNAME: 'vm' }), { message: /MANSIO_ACME_NAMES.*full name/s });
  t.throws(() => readConfig({ ...env, MANSIO_ACME_DIRECTORY: 'http://acme.test/dir' }), { message: /https URL/ });
  t.throws(() => readConfig({ ...env, MANSIO_ACME_PORT: '443', MANSIO_HTTPS_PORT: '443' }), {
    message: /a port other than/,
  });
  t.throws(() => readConfig({ ...env, MANSIO_HTTP_PORT: '80' }), {
    message: /MANSIO_ACME_PORT="", accepted: a port other than MANSIO_HTTP_PORT, which has 80$/,
  });
  t.is(readConfig({ ...env, MANSIO_HTTP_PORT: '80', MANSIO_ACME_PORT: '8081' }).acmePort, 8081);
  // Without a directory nothing listens there.
  t.is(readConfig({ MANSIO_HTTP_PORT: '8081', MANSIO_ACME_PORT: '8081' }).acmePort, 'off');
});
