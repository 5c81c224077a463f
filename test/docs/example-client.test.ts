// Runs the client of docs/client.md.
import { createTransport } from 'nodemailer';
import { accountOn, port } from '../../dev/node-accounts.js';
import { startTestNode } from '../support/node.js';
import test from '../support/test.js';
import { until } from '../support/until.js';
import { liveInbox } from './example-client.js';

test('the client of docs/client.md shows what arrives, archives it and takes that back', async (t) => {
  const node = await startTestNode({ MANSIO_HOSTED_DOMAINS: 'example.test' });
  t.teardown(() => node.stop());
  const { key, email } = await accountOn(node, 'reader');
  const shown: Parameters<Parameters<typeof liveInbox>[2]>[0][] = [];
  const inbox = liveInbox(`http://127.0.0.1:${port(node, 'http')}`, key, (one) => shown.push(one));
  t.teardown(() => inbox.close());
  await until(() => shown.at(-1)?.state === 'live');
  const transport = createTransport({ host: '127.0.0.1', port: port(node, 'mx'), tls: { rejectUnauthorized: false } });
  await transport.sendMail({ from: 'zoe@remote.test', to: email, subject: 'Hello', text: 'x' });
  await until(() => shown.at(-1)?.unread === 1 && shown.at(-1)?.emails.length === 1);
  const [hello] = shown.at(-1)!.emails;
  t.is(hello?.subject, 'Hello');
  const undo = await inbox.archive(hello!.id);
  t.deepEqual(shown.at(-1)!.emails, []);
  await undo();
  await until(() => shown.at(-1)?.emails.length === 1 && shown.at(-1)?.unread === 1);
  inbox.scrollTo(0);
  t.is(shown.at(-1)!.unread, 1);
});
