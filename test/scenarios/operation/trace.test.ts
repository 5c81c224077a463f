// Tests `mansio trace` over a whole node: messages that come in, are refused, leave after a retry, bounce at once and are deleted.
import { createTransport } from 'nodemailer';
import { port } from '../../../dev/node-accounts.js';
import { mansio } from '../../support/command.js';
import test from '../../support/test.js';
import { eventually } from '../cluster/support/eventually.js';
import { world } from '../mail/outbound-remotes.js';

interface Entry {
  readonly at: string;
  readonly node: string | null;
  readonly event: string;
  readonly [fact: string]: unknown;
}

test('the way of messages is told by id, Message-ID and address', async (t) => {
  let asked = 0;
  const rcpt = (address: string) => {
    if (address.startsWith('nobody')) return '550 5.1.1 no such user';
    return asked++ === 0 ? '451 4.7.1 come back later' : undefined;
  };
  const { node, sender, client, send } = await world(
    t,
    { 'remote.test': [{ behaviour: { rcpt } }] },
    { MANSIO_UNKNOWN_RECIPIENTS: 'reject' },
  );
  const ann = sender.email;
  const trace = async (what: string, ...more: string[]) => {
    const { code, stdout, stderr } = await mansio(node.dataDir, ['trace', what, '--json', ...more]);
    t.is(code, 0, stderr);
    return JSON.parse(stdout) as Entry[];
  };
  const eventsOf = (entries: readonly Entry[]) => entries.map(({ event }) => event);

  const mx = createTransport({ host: '127.0.0.1', port: port(node, 'mx'), tls: { rejectUnauthorized: false } });
  const { response } = await mx.sendMail({
    from: 'zoe@elsewhere.test',
    to: ann,
    subject: 'Hello',
    text: 'Hello.\n',
    messageId: '<one@elsewhere.test>',
  });
  const transaction = /Accepted as (\S+)/.exec(response)![1]!;
  const { id: emailId } = (await eventually('the email', async () => {
    const { items } = await client.get<{ items: readonly { id: string }[] }>('/api/emails');
    return items[0];
  }))!;
  const came = await trace('<one@elsewhere.test>');
  t.deepEqual(eventsOf(came), ['received', 'accepted', 'filed']);
  const nodeId = node.ready.nodeId;
  t.true(came.every(({ node: by, account }) => by === nodeId && account === ann));
  t.like(came[0], {
    listener: 'mx',
    peer: '127.0.0.1',
    tls: true,
    sender: 'zoe@elsewhere.test',
    recipient: ann,
    transaction,
    messageId: '<one@elsewhere.test>',
    emailId,
  });
  t.like(came[1]!['checks'], { spf: { result: 'none' } });
  t.deepEqual(came[2]!['folders'], ['INBOX']);
  for (const what of ['one@elsewhere.test', emailId, transaction]) t.deepEqual(await trace(what), came, what);

  t.is((await client.request('DELETE', `/api/emails/${emailId}`)).status, 204);
  t.deepEqual(eventsOf(await trace('<one@elsewhere.test>')), ['received', 'accepted', 'filed', 'deleted']);

  await t.throwsAsync(mx.sendMail({ from: 'zoe@elsewhere.test', to: 'who@example.test', text: 'x' }));
  await eventually('the refusal to be recorded', async () => {
    const { stdout } = await mansio(node.dataDir, ['trace', 'who@example.test', '--json']);
    return stdout !== '';
  });
  const [refused] = await trace('who@example.test');
  t.like(refused, {
    event: 'refused',
    node: nodeId,
    code: 550,
    recipients: ['who@example.test'],
    sender: 'zoe@elsewhere.test',
  });

  const sentId = await send(['bob@remote.test', 'nobody@remote.test']);
  await eventually('the mail to leave', async () => eventsOf(await trace(sentId)).includes('delivered'));
  const left = await trace(sentId);
  t.deepEqual(eventsOf(left), ['queued', 'attempted', 'failed', 'attempted', 'delivered']);
  t.like(left[1], { host: 'mx0.remote.test', domain: 'remote.test' });
  t.regex(String(left[1]!['reply']), /^451 4\.7\.1 come back later/);
  t.like(left[2], { recipient: 'nobody@remote.test', statusCode: '5.1.1' });
  t.like(left[4], { recipient: 'bob@remote.test', account: ann });
  const messageId = String(left[0]!['messageId']);
  t.true(eventsOf(await trace(messageId)).includes('queued'));

  const mine = await trace(ann, '--limit', '1');
  t.true(mine.length > 0 && eventsOf(mine).every((event) => event !== 'received'));
  t.deepEqual(eventsOf(await trace('bob@remote.test')), eventsOf(left));
  const nothing = await mansio(node.dataDir, ['trace', 'nobody@nowhere.test']);
  t.deepEqual([nothing.code, nothing.stdout], [1, '']);
  t.regex(nothing.stderr, /^error: nothing is known of nobody@nowhere\.test/);
  const words = await mansio(node.dataDir, ['trace', sentId]);
  t.regex(words.stdout, / {2}attempted {2}ann@example\.test {2}.*reply=451 4\.7\.1 come back later/);
});
