// Tests the configurations of nginx and Caddy under deploy/ with the real servers in front of a whole node: REST, a large upload, the hub over
// WebSocket, an event stream that arrives while it is open, and the address of the client, which no header of the client can replace.
import { readFileSync, writeFileSync } from 'node:fs';
import { request as httpsRequest } from 'node:https';
import { join } from 'node:path';
import { HttpTransportType, HubConnectionBuilder, LogLevel } from '@microsoft/signalr';
import { certificate } from '../../../dev/certificate.js';
import { requireProgram } from '../../../dev/executables.js';
import { createAccount, port, storeOf } from '../../../dev/node-accounts.js';
import { freePorts, listening } from '../../../dev/ports.js';
import { type Program, startProgram, whenReady } from '../../../dev/program.js';
import { temporaryDirectory } from '../../../dev/temporary-directory.js';
import { startHub } from '../../support/clients/hub-start.js';
import { MailboxClient } from '../../support/clients/mailbox-client.js';
import { startTestNode } from '../../support/node.js';
import { testWith } from '../../support/test-with.js';

// The certificate of the tests is self-signed. Each test file is a process of its own.
process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';

/** A write counts four times. */
const LIMIT = 40;
const NAME = 'mail.example.org';

interface Fronted {
  /** The node's HTTP port. */
  readonly node: number;
  readonly http: number;
  readonly https: number;
}

/** Replaces text that the file must have. */
function replaced(text: string, changes: ReadonlyMap<string, string>): string {
  let result = text;
  for (const [from, to] of changes) {
    if (!result.includes(from)) throw new Error(`the file has no ${from}`);
    result = result.replaceAll(from, to);
  }
  return result;
}

function folder(): { readonly path: string; readonly cert: string; readonly key: string } {
  const path = temporaryDirectory('mansio-proxy-');
  const [cert, key] = [join(path, 'cert.pem'), join(path, 'key.pem')];
  writeFileSync(cert, certificate.cert);
  writeFileSync(key, certificate.key);
  return { path, cert, key };
}

async function startNginx({ node, http, https }: Fronted): Promise<Program> {
  const { path, cert, key } = folder();
  const site = replaced(
    readFileSync('deploy/nginx.conf', 'utf8'),
    new Map([
      ['  listen [::]:80;\n', ''],
      ['  listen [::]:443 ssl http2;\n', ''],
      ['listen 80;', `listen 127.0.0.1:${http};`],
      ['listen 443 ssl http2;', `listen 127.0.0.1:${https} ssl http2;`],
      ['/etc/ssl/mail.example.org/fullchain.pem', cert],
      ['/etc/ssl/mail.example.org/privkey.pem', key],
      ['127.0.0.1:8080', `127.0.0.1:${node}`],
    ]),
  );
  writeFileSync(join(path, 'site.conf'), site);
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((of) => `${of}_temp_path ${path}/${of};`);
  const config = join(path, 'nginx.conf');
  writeFileSync(
    config,
    `daemon off; master_process off; pid ${path}/pid; error_log stderr;
    events {}
    http { access_log off; ${temporary.join(' ')} include ${path}/site.conf; }`,
  );
  const args = ['-e', 'stderr', '-p', path, '-c', config];
  const program = startProgram({ command: requireProgram('nginx'), args, env: {} });
  await whenReady('nginx', program, listening(https));
  return program;
}

async function startCaddy({ node, http, https }: Fronted): Promise<Program> {
  const { path, cert, key } = folder();
  const site = replaced(
    readFileSync('deploy/Caddyfile', 'utf8'),
    new Map([
      [`${NAME} {`, `https://${NAME}:${https}, https://localhost:${https} {\n\ttls ${cert} ${key}`],
      ['127.0.0.1:8080', `127.0.0.1:${node}`],
    ]),
  );
  const config = join(path, 'Caddyfile');
  writeFileSync(
    config,
    `{\n\tadmin off\n\tgrace_period 1s\n\tdefault_bind 127.0.0.1\n\thttp_port ${http}\n\thttps_port ${https}\n\tdefault_sni ${NAME}\n}\n${site}`,
  );
  const args = ['run', '--adapter', 'caddyfile', '--config', config];
  const program = startProgram({
    command: requireProgram('caddy'),
    args,
    env: { HOME: path, XDG_DATA_HOME: path, XDG_CONFIG_HOME: path },
  });
  await whenReady('caddy', program, listening(https));
  return program;
}

/** Returns the status of a request with a wrong key that a client of this address makes, which names another address in a header. */
function guess(https: number, localAddress: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = {
      host: NAME,
      authorization: `Bearer mansio_abcdefghij_${'x'.repeat(43)}`,
      'x-forwarded-for': `203.0.113.${Math.floor(Math.random() * 250)}`,
    };
    const options = { host: '127.0.0.1', servername: NAME, port: https, path: '/api/emails', localAddress, headers };
    const request = httpsRequest({ ...options, rejectUnauthorized: false, agent: false }, (response) => {
      response.on('end', () => resolve(response.statusCode!)).resume();
    });
    request.on('error', reject).end();
  });
}

for (const [name, startProxy] of [
  ['nginx', startNginx],
  ['caddy', startCaddy],
] as const) {
  testWith(name)(`a node behind ${name} has REST, hub and events over TLS, and knows its clients`, async (t) => {
    const node = await startTestNode({
      MANSIO_HOSTED_DOMAINS: 'example.test',
      MANSIO_RATE_GLOBAL: String(LIMIT),
      MANSIO_PROXY_NETWORKS: '127.0.0.1,::1',
    });
    t.teardown(() => node.stop());
    const sql = await storeOf(node);
    t.teardown(() => sql.end());
    const [http, https] = (await freePorts(2)) as [number, number];
    const proxy = await startProxy({ node: port(node, 'http'), http, https });
    t.teardown(() => proxy.kill('SIGTERM'));
    const zoe = await createAccount(sql, 'zoe@example.test', ['app']);
    const ben = await createAccount(sql, 'ben@example.test', ['app']);
    const base = `https://localhost:${https}`;

    const hub = new HubConnectionBuilder()
      .withUrl(`${base}/hubs/email`, {
        accessTokenFactory: () => zoe.key,
        skipNegotiation: true,
        transport: HttpTransportType.WebSockets,
      })
      .configureLogging(LogLevel.None)
      .build();
    t.teardown(() => hub.stop());
    const arrived = new Promise<unknown>((resolve) => hub.on('NewEmail', resolve));
    await startHub(hub);
    const stream = await fetch(`${base}/api/events`, { headers: { authorization: `Bearer ${zoe.key}` } });
    t.is(stream.status, 200);
    const reader = stream.body!.pipeThrough(new TextDecoderStream()).getReader();

    const large = Buffer.alloc(8 * 1024 * 1024, 'Zoë 💌 ').toString('base64');
    const sent = await fetch(`${base}/api/outbound/send`, {
      method: 'POST',
      headers: { authorization: `Bearer ${ben.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        fromAddress: ben.email,
        subject: 'Zoë 💌',
        textBody: 'through the proxy',
        recipients: [{ address: zoe.email, type: 'To' }],
        attachments: [{ fileName: 'large.txt', contentType: 'text/plain', content: large }],
      }),
    });
    t.is(sent.status, 200, await sent.text());
    t.truthy(await arrived);
    // The stream is open: the event has passed at once.
    for (let text = ''; !text.includes('Zoë 💌'); ) {
      const { value, done } = await reader.read();
      t.false(done);
      text += value ?? '';
    }
    await reader.cancel();
    t.is((await new MailboxClient(node, zoe.key).inbox()).length, 1);

    const signedIn = await fetch(`${base}/api/sessions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${zoe.key}` },
    });
    t.is(signedIn.status, 201, await signedIn.text());
    const cookie = signedIn.headers.get('set-cookie')!.split(';')[0]!;
    t.regex(cookie, /^__Host-mansio=/);
    const write = async (origin: string) =>
      (await fetch(`${base}/api/push-subscriptions`, { method: 'DELETE', headers: { cookie, origin } })).status;
    t.deepEqual([await write(base), await write(`https://localhost:${https + 1}`)], [204, 403]);

    const statuses: number[] = [];
    for (let i = 0; i <= LIMIT; i++) statuses.push(await guess(https, '127.0.0.5'));
    t.deepEqual([statuses[0], statuses.at(-1)], [401, 429]);
    t.is(await guess(https, '127.0.0.6'), 401);

    const plain = await fetch(`http://127.0.0.1:${http}/api/emails`, { headers: { host: NAME }, redirect: 'manual' });
    t.true([301, 308].includes(plain.status));
    t.true(plain.headers.get('location')!.startsWith('https://'));
  });
}
