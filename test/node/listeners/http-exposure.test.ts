// Tests who can reach plain HTTP: what the log says at a start, and where a container's health check asks.
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { readConfig } from '../../../src/node/config/config.js';
import { adviseOfHttp } from '../../../src/node/listeners/http-exposure.js';
import { FakeLog } from '../../gateways/http/fakes.js';
import { runProgram } from '../../support/run-program.js';
import test from '../../support/test.js';

const { healthUrl } = createRequire(join(process.cwd(), 'bin/'))('./health-check.js') as {
  healthUrl(env: Readonly<Record<string, string>>): string | undefined;
};

const said = (env: Readonly<Record<string, string>>) => {
  const log = new FakeLog();
  const config = readConfig(env);
  const https = config.httpsPort === 'off' ? {} : { https: `${config.bind}:${config.httpsPort}` };
  adviseOfHttp(config, { http: `${config.httpBind}:8080`, ...https }, log as never);
  return log.lines.map(({ level, fields, text }) => `${level} ${fields['http']} ${text}`);
};

test('mail ports beyond loopback: a line says where HTTP stayed', (t) => {
  const [line, ...more] = said({ MANSIO_BIND: '0.0.0.0' });
  t.regex(line!, /^info 127\.0\.0\.1:8080 .*MANSIO_HTTP_BIND/);
  t.deepEqual(more, []);
  t.deepEqual(said({ MANSIO_BIND: '0.0.0.0', MANSIO_HTTPS_PORT: '443' }), []);
  t.deepEqual(said({}), []);
  t.deepEqual(said({ MANSIO_BIND: '127.0.0.9' }), []);
});

test('plain HTTP beyond loopback: a warning, unless a balancer is named', (t) => {
  for (const bind of ['0.0.0.0', '::', '192.0.2.1']) {
    const [line, ...more] = said({ MANSIO_HTTP_BIND: bind });
    t.regex(line!, /^warn .*without TLS.*MANSIO_PROXY_NETWORKS/, bind);
    t.deepEqual(more, []);
    t.deepEqual(said({ MANSIO_HTTP_BIND: bind, MANSIO_PROXY_NETWORKS: '192.0.2.7' }), []);
  }
});

test('a public URL with https needs HTTPS here, or a proxy that is trusted: browsers cannot sign in otherwise', (t) => {
  const env = { MANSIO_PUBLIC_URL: 'https://mail.example.org' };
  const [line, ...more] = said(env);
  t.regex(line!, /^warn 127\.0\.0\.1:8080 browsers cannot sign in .*MANSIO_PROXY_NETWORKS/);
  t.deepEqual(more, []);
  t.deepEqual(said({ ...env, MANSIO_PROXY_NETWORKS: '127.0.0.1' }), []);
  t.deepEqual(said({ ...env, MANSIO_HTTPS_PORT: '443' }), []);
  t.deepEqual(said({ MANSIO_PUBLIC_URL: 'http://localhost:8080' }), []);
});

test('the health check asks where the settings say that health is', (t) => {
  const cases: readonly [Readonly<Record<string, string>>, string | undefined][] = [
    [{}, 'http://127.0.0.1:8080/healthz'],
    [{ MANSIO_BIND: '0.0.0.0' }, 'http://127.0.0.1:8080/healthz'],
    [{ MANSIO_BIND: '127.0.0.9' }, 'http://127.0.0.9:8080/healthz'],
    [{ MANSIO_BIND: '::1' }, 'http://[::1]:8080/healthz'],
    [{ MANSIO_BIND: '127.0.0.9', MANSIO_HTTP_BIND: '0.0.0.0', MANSIO_HTTP_PORT: '80' }, 'http://127.0.0.1:80/healthz'],
    [{ MANSIO_HTTP_BIND: '::' }, 'http://[::1]:8080/healthz'],
    [{ MANSIO_HTTP_BIND: '2001:db8::1' }, 'http://[2001:db8::1]:8080/healthz'],
    [{ MANSIO_HTTP_BIND: ' 192.0.2.1 ', MANSIO_ROLES: 'API, mailbox' }, 'http://192.0.2.1:8080/healthz'],
    [{ MANSIO_ROLES: 'imap,pop3', MANSIO_METRICS_PORT: '9464' }, 'http://127.0.0.1:9464/healthz'],
    [{ MANSIO_HTTP_PORT: 'off', MANSIO_METRICS_PORT: '9464' }, 'http://127.0.0.1:9464/healthz'],
    [{ MANSIO_ROLES: 'imap,pop3' }, undefined],
    [{ MANSIO_HTTP_PORT: '0', MANSIO_METRICS_PORT: 'off' }, undefined],
  ];
  for (const [env, url] of cases) t.is(healthUrl(env), url, JSON.stringify(env));
});

test('the health check ends with the code that containers go by', async (t) => {
  let status = 200;
  const server = createServer((_, response) => response.writeHead(status).end()).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  const check = async (env: Record<string, string>) =>
    (await runProgram(process.execPath, ['bin/health-check.js'], '', env)).code;
  const env = { MANSIO_HTTP_PORT: String(port) };
  t.is(await check(env), 0);
  status = 503;
  t.is(await check(env), 1);
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  t.is(await check(env), 1);
  t.is(await check({ MANSIO_HTTP_PORT: 'off' }), 1);
});
