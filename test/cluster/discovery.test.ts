// Where clients are sent: every node tells the listeners of all of them, and of none that is gone.
import { MailboxClient, port } from '../support/mailbox-client.js';
import { testWith } from '../support/test-with.js';
import { startCluster } from './support/cluster.js';
import { eventually } from './support/eventually.js';

interface Discovery {
  readonly smtp: { readonly enabled: boolean; readonly port: number; readonly securePort: number };
}

testWith('nats-server')('whichever node is asked, discovery tells what runs in the cluster', async (t) => {
  t.timeout(120_000);
  const roles = ['api,mailbox', 'submission', 'api'];
  const cluster = await startCluster(t, { nodes: 3, accounts: 1, roles });
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
