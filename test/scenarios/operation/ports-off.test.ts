// Tests a whole node whose ports are partly off: they are not opened, and discovery, connection info, documents for mail programs and
// DNS records name only the others.

import { accountOn } from '../../../dev/node-accounts.js';
import { freePort } from '../../../dev/ports.js';
import { mansio } from '../../support/command.js';
import { startTestNode } from '../../support/node.js';
import test from '../../support/test.js';

interface Info {
  readonly enabled: boolean;
  readonly port: number;
  readonly securePort: number;
}

test('a port that is off is neither open nor published, even where an address for it is set', async (t) => {
  const node = await startTestNode({
    MANSIO_HOSTED_DOMAINS: 'example.test',
    MANSIO_HOSTNAME: 'mail.example.test',
    MANSIO_SUBMISSION_PORT: 'off',
    MANSIO_IMAP_PORT: 'off',
    MANSIO_POP3_PORT: 'off',
    MANSIO_POP3S_PORT: 'off',
    MANSIO_SIEVE_PORT: 'off',
    MANSIO_PUBLIC_POP3: 'mail.example.test:110',
    MANSIO_PUBLIC_IMAP: 'mail.example.test:143',
  });
  const { listeners } = node.ready;
  t.deepEqual(Object.keys(listeners).sort(), ['http', 'imaps', 'mx', 'submissions']);
  const portOf = (name: string) => Number(listeners[name]!.replace(/^.*:/, ''));
  const base = `http://${listeners['http']}`;
  const expected = {
    smtp: { enabled: true, port: 0, securePort: portOf('submissions') },
    imap: { enabled: true, port: 0, securePort: portOf('imaps') },
    pop3: { enabled: false, port: 0, securePort: 0 },
  };
  const discovery = (await (await fetch(`${base}/api/discovery`)).json()) as Record<string, Info>;
  const { key } = await accountOn(node, 'anna');
  const own = await fetch(`${base}/api/smtp-credentials`, { headers: { authorization: `Bearer ${key}` } });
  const { connectionInfo } = (await own.json()) as { connectionInfo: Record<string, Info> };
  for (const [name, info] of Object.entries(expected)) {
    t.like(discovery[name], info, name);
    t.like(connectionInfo[name], info, name);
  }
  t.like(connectionInfo, { smtpPort: 0, imapPort: 0, pop3Port: 0, pop3SecurePort: 0, pop3Enabled: false });
  const document = await (await fetch(`${base}/mail/config-v1.1.xml?emailaddress=a@example.test`)).text();
  t.deepEqual(
    Array.from(document.matchAll(/<port>(\d+)<\/port>/g), ([, port]) => Number(port)),
    [portOf('imaps'), portOf('submissions')],
  );
  const shown = await mansio(node.dataDir, ['domain', 'show', 'example.test', '--json']);
  const { records } = JSON.parse(shown.stdout) as { records: { name: string; type: string; value: string[] }[] };
  const services = records.filter(({ type, name }) => type === 'SRV' && !name.startsWith('_autodiscover'));
  t.deepEqual(Object.fromEntries(services.map(({ name, value }) => [name.split('.')[0], value.join(' ')])), {
    _submissions: `0 1 ${portOf('submissions')} mail.example.test.`,
    _submission: '0 0 0 .',
    _imaps: `0 1 ${portOf('imaps')} mail.example.test.`,
    _imap: '0 0 0 .',
    _pop3s: '0 0 0 .',
    _pop3: '0 0 0 .',
  });
  t.deepEqual(await node.stop(), { code: 0, signal: null });
});

test('a node without HTTP tells how it is on the metrics port', async (t) => {
  const metrics = String(await freePort());
  const settings = { MANSIO_HTTP_PORT: 'off', MANSIO_MX_PORT: 'off', MANSIO_METRICS_PORT: metrics };
  const node = await startTestNode({ ...settings, MANSIO_HOSTED_DOMAINS: 'example.test' });
  t.false('http' in node.ready.listeners || 'mx' in node.ready.listeners);
  const health = await fetch(`http://127.0.0.1:${metrics}/healthz`);
  t.is(health.status, 200);
  const shown = JSON.parse((await mansio(node.dataDir, ['domain', 'show', 'example.test', '--json'])).stdout);
  t.false(shown.records.some(({ type }: { type: string }) => type === 'MX'));
  t.regex(shown.notes.join('\n'), /MX: no node takes mail in/);
  t.deepEqual(await node.stop(), { code: 0, signal: null });
});
