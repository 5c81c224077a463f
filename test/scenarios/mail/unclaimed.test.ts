// Tests unknown addresses of a whole node: postmaster and abuse are always accepted, other ones by the setting.

import { createAccount, port, storeOf } from '../../../dev/node-accounts.js';
import { MailboxClient } from '../../support/clients/mailbox-client.js';
import { placed } from '../../support/clients/placed.js';
import { SmtpClient } from '../../support/clients/smtp-client.js';
import { mansio } from '../../support/command.js';
import { startTestNode } from '../../support/node.js';
import test from '../../support/test.js';
import { eventually } from '../cluster/support/eventually.js';

const MESSAGE = 'From: a@remote.test\r\nSubject: report\r\n\r\nhello';

for (const mode of ['hold', 'reject'] as const) {
  test(`postmaster and abuse of a hosted domain are accepted with ${mode}, when no other unknown address is`, async (t) => {
    const node = await startTestNode({ MANSIO_HOSTED_DOMAINS: 'example.test', MANSIO_UNKNOWN_RECIPIENTS: mode });
    const sql = await storeOf(node);
    // The domain has its maximum of unclaimed addresses.
    await sql`insert into accounts (id, shard, email, display_name, unclaimed) values (${FULL}, 0, 'u0@example.test', '', true)`;
    await sql`
      insert into addresses (id, address, account_id, domain, unclaimed, verified)
      select gen_random_uuid(), 'u' || n || '@example.test', ${FULL}, 'example.test', true, true
      from generate_series(0, 999) n`;
    const client = await SmtpClient.greeted(`127.0.0.1:${port(node, 'mx')}`);
    await client.command('MAIL FROM:<a@remote.test>');
    const rcpt = async (address: string) => (await client.command(`RCPT TO:<${address}>`)).code;
    t.is(await rcpt('nobody@example.test'), mode === 'hold' ? 450 : 550);
    t.is(await rcpt('Postmaster@Example.test'), 250);
    t.is(await rcpt('abuse+x@example.test'), 250);
    t.is(await rcpt('postmaster@elsewhere.test'), 550);
    await client.command('DATA');
    t.is((await client.command(`${MESSAGE}\r\n.`)).code, 250);
    // The mailbox exists now. RFC 5321 §4.5.1: postmaster without a domain is accepted too.
    t.is((await client.send('b@remote.test', ['abuse@example.test', 'postmaster'], MESSAGE)).code, 250);
    await placed(node);
    for (const name of ['postmaster', 'abuse']) {
      const { key } = await createAccount(sql, `${name}@example.test`);
      const emails = await new MailboxClient(node, key).inbox();
      t.deepEqual(
        emails.map(({ subject }) => subject),
        ['report', 'report'],
        name,
      );
    }
    await sql.end();
    t.is((await node.stop()).code, 0);
  });
}

test('unclaimed mail is handed to an account beside the node, and the address is unknown again', async (t) => {
  const node = await startTestNode({ MANSIO_HOSTED_DOMAINS: 'example.test' });
  const sql = await storeOf(node);
  const { key } = await createAccount(sql, 'ann@example.test');
  await sql.end();
  const client = await SmtpClient.greeted(`127.0.0.1:${port(node, 'mx')}`);
  const send = async () => (await client.send('a@remote.test', ['info@example.test'], MESSAGE)).code;
  const unclaimed = async (...args: string[]) =>
    JSON.parse((await mansio(node.dataDir, ['unclaimed', ...args, '--json'])).stdout);
  t.is(await send(), 250);
  await placed(node);
  const [listed] = await unclaimed('list');
  t.like(listed, { address: 'info@example.test', messages: 1 });
  t.like((await unclaimed('show', 'info@example.test')).emails[0], { from: 'a@remote.test', subject: 'report' });
  t.deepEqual(await unclaimed('deliver', 'info@example.test', '--to', 'ann@example.test'), listed);
  const mailbox = new MailboxClient(node, key);
  await eventually('the mail in the inbox', async () => (await mailbox.inbox()).length === 1);
  t.is((await mailbox.inbox())[0]?.subject, 'report');
  await eventually('another mailbox to take mail for the address', async () => (await send()) === 250);
  await placed(node);
  t.like((await unclaimed('list'))[0], { address: 'info@example.test', messages: 1 });
  t.like(await unclaimed('delete', 'info@example.test', '--yes'), { messages: 1 });
  t.deepEqual(await unclaimed('list'), []);
  await eventually('another one after it was deleted', async () => (await send()) === 250);
  t.is((await mailbox.inbox()).length, 1);
  t.is((await node.stop()).code, 0);
});

const FULL = '00000000-0000-4000-8000-000000000001';
