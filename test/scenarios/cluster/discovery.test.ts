// Tests where clients are sent: every node names the listeners of all nodes that run.

import { port } from '../../../dev/node-accounts.js';
import { sendRecorded } from '../../support/clients/mail-program-requests.js';
import { MailboxClient } from '../../support/clients/mailbox-client.js';
import { testWith } from '../../support/test-with.js';
import { startCluster } from './support/cluster.js';
import { eventually } from './support/eventually.js';
import { PATIENT_TTL_MS } from './support/roll.js';

interface Discovery {
  readonly smtp: { readonly enabled: boolean; readonly port: number; readonly securePort: number };
}

testWith('nats-server')('whichever node is asked, discovery tells what runs in the cluster', async (t) => {
  t.timeout(600_000);
  const roles = ['api,mailbox', 'submission', 'api'];
  const cluster = await startCluster(t, { nodes: 3, accounts: 1, leaseTtlMs: PATIENT_TTL_MS, roles });
  const [first, submission, second] = cluster.nodes;
  const asked = [first!, second!].map(({ process }) => new MailboxClient(process, cluster.accounts[0]!.key));
  const told = () => Promise.all(asked.map((client) => client.get<Discovery>('/api/discovery')));
  const smtp = {
    enabled: true,
    port: port(submission!.process, 'submission'),
    securePort: port(submission!.process, 'submissions'),
  };
  await eventually('both to tell of the listeners', async () =>
    (await told()).every((discovery) => discovery.smtp.securePort === smtp.securePort),
  );
  for (const discovery of await told()) t.like(discovery, { smtp, imap: { enabled: false }, pop3: { enabled: false } });
  for (const client of asked) {
    t.like(await client.get('/api/smtp-credentials'), { connectionInfo: { smtp, smtpPort: smtp.port } });
  }
  await submission!.kill();
  await eventually('both to find it gone', async () => (await told()).every((discovery) => !discovery.smtp.enabled));
});

testWith('nats-server')('two nodes of different roles and settings tell mail programs the same', async (t) => {
  t.timeout(600_000);
  const cluster = await startCluster(t, {
    nodes: 2,
    accounts: 1,
    leaseTtlMs: PATIENT_TTL_MS,
    roles: ['api,mailbox,submission', 'api,imap,mailbox'],
    settingsOf: (place) => ({
      MANSIO_HOSTNAME: place === 0 ? 'one.example.test' : 'two.example.test',
      // Each node publishes an address that the other one does not.
      ...(place === 0
        ? { MANSIO_PUBLIC_POP3S: 'pop.example.test:995' }
        : { MANSIO_PUBLIC_IMAPS: 'imap.example.test:993', MANSIO_PUBLIC_URL: 'https://app.example.test' }),
    }),
  });
  const [sending, reading] = cluster.nodes.map(({ process }) => process);
  t.is(sending!.ready.listeners['imaps'], undefined);
  const told = (process: typeof sending) => {
    const client = new MailboxClient(process!, cluster.accounts[0]!.key);
    const recorded = async (name: string) => (await sendRecorded(port(process!, 'http'), name)).body;
    return Promise.all([
      client.get('/api/discovery'),
      client.get<{ connectionInfo: unknown }>('/api/smtp-credentials').then(({ connectionInfo }) => connectionInfo),
      recorded('thunderbird-autoconfig'),
      recorded('outlook-autodiscover'),
      recorded('outlook-json'),
      client.request('GET', '/api/smtp-credentials/mobileconfig').then((response) => response.text()),
    ]);
  };
  const expected = {
    smtp: {
      enabled: true,
      serverName: 'one.example.test',
      port: port(sending!, 'submission'),
      securePort: port(sending!, 'submissions'),
    },
    imap: { enabled: true, serverName: 'imap.example.test', port: 0, securePort: 993 },
    pop3: { enabled: true, serverName: 'pop.example.test', port: 0, securePort: 995 },
  };
  await eventually('both to tell the same', async () => {
    const [ofSending, ofReading] = await Promise.all([told(sending), told(reading)]);
    return (
      JSON.stringify(ofSending) === JSON.stringify(ofReading) && JSON.stringify(ofSending).includes('imap.example')
    );
  });
  const [discovery, connectionInfo, file, settings, location, profile] = await told(sending);
  t.like(discovery, expected);
  t.like(connectionInfo, expected);
  const servers = /<hostname>([^<]*)<\/hostname>\s*<port>(\d+)</g;
  t.deepEqual(
    Array.from(file.matchAll(servers), ([, host, number]) => `${host}:${number}`),
    [
      'imap.example.test:993',
      'pop.example.test:995',
      `one.example.test:${expected.smtp.securePort}`,
      `one.example.test:${expected.smtp.port}`,
    ],
  );
  t.regex(settings, /<Type>IMAP<\/Type>\s*<Server>imap\.example\.test<\/Server>\s*<Port>993</);
  t.is(JSON.parse(location).Url, 'https://app.example.test/autodiscover/autodiscover.xml');
  t.regex(profile, /<string>imap\.example\.test<\/string>/);
});
