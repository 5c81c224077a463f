// Tests rates on a whole node: hub clients that reconnect do not use up the API rate of their account, and guesses from an address
// do not lock out the owners of right keys there.
import { HubConnectionBuilder, LogLevel } from '@microsoft/signalr';
import { createTransport } from 'nodemailer';
import { createAccount, createKey, port, storeOf } from '../../../dev/node-accounts.js';
import { startHub } from '../../support/clients/hub-start.js';
import { MailboxClient } from '../../support/clients/mailbox-client.js';
import { startTestNode } from '../../support/node.js';
import test from '../../support/test.js';

const LIMIT = 20;

test('hub connections and wrong keys of others shut nobody out', async (t) => {
  const node = await startTestNode({ MANSIO_HOSTED_DOMAINS: 'example.test', MANSIO_RATE_GLOBAL: String(LIMIT) });
  t.teardown(async () => {
    await node.stop();
  });
  const sql = await storeOf(node);
  t.teardown(() => sql.end());
  const anna = await createAccount(sql, 'anna@example.test', ['app']);
  const connect = async (key: string) => {
    const hub = new HubConnectionBuilder()
      .withUrl(`http://127.0.0.1:${port(node, 'http')}/hubs/email`, { accessTokenFactory: () => key })
      .configureLogging(LogLevel.None)
      .build();
    await startHub(hub);
    await hub.stop();
  };
  // Each client makes two requests: a negotiation and a connection.
  for (let i = 0; i < LIMIT / 2; i++) await connect(anna.key);
  await t.throwsAsync(connect(anna.key), { message: /429/ });
  t.is((await new MailboxClient(node, anna.key).request('GET', '/api/emails')).status, 200);

  const guess = async (i: number) =>
    (await new MailboxClient(node, `mansio_abcdefghij_${String(i).padStart(43, 'x')}`).request('GET', '/api/emails'))
      .status;
  const statuses: number[] = [];
  for (let i = 0; i <= LIMIT; i++) statuses.push(await guess(i));
  t.deepEqual([statuses[0], statuses.at(-1)], [401, 429]);
  const ben = await createAccount(sql, 'ben@example.test', ['app']);
  t.is((await new MailboxClient(node, ben.key).request('GET', '/api/emails')).status, 200);
  await t.notThrowsAsync(connect(ben.key));
  const smtp = createTransport({
    host: '127.0.0.1',
    port: port(node, 'submission'),
    auth: { user: ben.email, pass: await createKey(sql, ben.id, ['smtp']) },
    tls: { rejectUnauthorized: false },
  });
  t.true(await smtp.verify());
});
