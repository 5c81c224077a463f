// Tests aliases on a whole node, and on two: mail by MX and REST reaches every account once, and accounts send as their aliases.
import { createAccount, port, storeOf } from '../../../dev/node-accounts.js';
import { postgresDirectory } from '../../../src/store/postgres/accounts/directory.js';
import { MailboxClient } from '../../support/clients/mailbox-client.js';
import { placed } from '../../support/clients/placed.js';
import { SmtpClient } from '../../support/clients/smtp-client.js';
import { mansio } from '../../support/command.js';
import { startTestNode } from '../../support/node.js';
import test from '../../support/test.js';
import { testWith } from '../../support/test-with.js';
import { startCluster } from '../cluster/support/cluster.js';
import { eventually } from '../cluster/support/eventually.js';

test('mail for an alias reaches each account once, and its accounts send as it', async (t) => {
  const node = await startTestNode({ MANSIO_HOSTED_DOMAINS: 'example.test', MANSIO_UNKNOWN_RECIPIENTS: 'reject' });
  const sql = await storeOf(node);
  const [ann, bob] = [await createAccount(sql, 'ann@example.test'), await createAccount(sql, 'bob@example.test')];
  await sql.end();
  const clients = [new MailboxClient(node, ann.key), new MailboxClient(node, bob.key)];
  const smtp = await SmtpClient.greeted(`127.0.0.1:${port(node, 'mx')}`);
  const send = async (to: readonly string[], subject: string) =>
    (await smtp.send('a@remote.test', to, `From: a@remote.test\r\nSubject: ${subject}\r\n\r\nhello`)).code;
  const rcpt = async (address: string) => {
    await smtp.command('MAIL FROM:<a@remote.test>');
    const { code } = await smtp.command(`RCPT TO:<${address}>`);
    await smtp.command('RSET');
    return code;
  };
  const subjects = () =>
    Promise.all(clients.map(async (client) => (await client.inbox()).map(({ subject }) => subject).toSorted()));
  const alias = async (...args: string[]) =>
    JSON.parse((await mansio(node.dataDir, ['alias', ...args, '--json'])).stdout);

  t.is(await rcpt('team@example.test'), 550);
  await alias('add', 'team@example.test', '--to', 'ann@example.test', 'bob@example.test', '--send-as');
  await alias('add', 'postmaster@example.test', '--to', 'ann@example.test');
  for (const address of ['team@example.test', 'postmaster'])
    await eventually('the alias', async () => (await rcpt(address)) === 250);
  t.is(await send(['team@example.test'], 'one'), 250);
  t.is(await send(['ann@example.test', 'Team+x@example.test', 'bob@example.test'], 'two'), 250);
  t.is(await send(['postmaster'], 'role'), 250);
  await placed(node);
  t.deepEqual(await subjects(), [
    ['one', 'role', 'two'],
    ['one', 'two'],
  ]);

  const profile = await clients[1]!.get<{ additionalAddresses: object[] }>('/api/profile');
  t.like(profile.additionalAddresses[0], { address: 'team@example.test', isAlias: true, canSend: true });
  const recipients = [{ address: 'team@example.test', type: 'To' }];
  const body = { subject: 'three', textBody: 'hello', recipients };
  const post = (client: MailboxClient, fromAddress: string) =>
    client.request('POST', '/api/outbound/send', { ...body, fromAddress });
  t.is((await post(clients[1]!, 'team@example.test')).status, 200);
  const refused = await post(clients[1]!, 'postmaster@example.test');
  t.is(refused.status, 400);
  t.truthy(((await refused.json()) as { errors: Record<string, string[]> }).errors['fromAddress']);
  await eventually('mail by REST', async () => (await subjects()).every((list) => list.includes('three')));
  t.deepEqual(await subjects(), [
    ['one', 'role', 'three', 'two'],
    ['one', 'three', 'two'],
  ]);
  const [sent] = (await clients[0]!.inbox()).filter(({ subject }) => subject === 'three');
  t.like(await clients[0]!.get(`/api/emails/${sent!.id}`), { fromAddress: 'team@example.test' });

  await alias('remove', 'team@example.test');
  await eventually('its end', async () => (await rcpt('team@example.test')) === 550);
  t.is((await node.stop()).code, 0);
});

test('catch-alls of a domain and of one below it, and a domain that is another name, deliver what nobody has', async (t) => {
  const node = await startTestNode({ MANSIO_HOSTED_DOMAINS: 'example.test', MANSIO_UNKNOWN_RECIPIENTS: 'reject' });
  const sql = await storeOf(node);
  const [ann, bob, eve] = [
    await createAccount(sql, 'ann@example.test'),
    await createAccount(sql, 'bob@example.test'),
    await createAccount(sql, 'eve@example.test'),
  ];
  await sql.end();
  const command = async (...args: string[]) => {
    const { code, stderr } = await mansio(node.dataDir, args);
    t.is(code, 0, stderr);
  };
  await command('alias', 'add', '*@example.test', '--to', bob.email);
  await command('alias', 'add', '*@sub.example.test', '--to', eve.email);
  await command('domain', 'alias', 'twin.test', 'example.test');
  const smtp = await SmtpClient.greeted(`127.0.0.1:${port(node, 'mx')}`);
  const send = async (to: string) =>
    (await smtp.send('a@remote.test', [to], `From: a@remote.test\r\nSubject: ${to}\r\n\r\nhello`)).code;
  const to = {
    ann: ['ann@example.test', 'Ann+tag@example.test', 'ann@twin.test'],
    bob: ['nobody@example.test', 'bob@twin.test', 'nobody@twin.test'],
    eve: ['nobody@sub.example.test', 'ann@sub.example.test', 'eve@example.test'],
  };
  for (const address of Object.values(to).flat())
    await eventually(`mail for ${address} is taken`, async () => (await send(address)) === 250);
  await placed(node);
  for (const address of ['nobody@deep.sub.example.test', 'ann@sub.twin.test']) {
    await smtp.command('MAIL FROM:<a@remote.test>');
    t.is((await smtp.command(`RCPT TO:<${address}>`)).code, 550, address);
    await smtp.command('RSET');
  }
  for (const [account, addresses] of [
    [ann, to.ann],
    [bob, to.bob],
    [eve, to.eve],
  ] as const) {
    const subjects = (await new MailboxClient(node, account.key).inbox()).map(({ subject }) => subject);
    t.deepEqual(subjects.toSorted(), addresses.toSorted(), account.email);
  }
  t.is((await node.stop()).code, 0);
});

testWith('nats-server')('an alias reaches mailboxes of two nodes, and its change both nodes', async (t) => {
  t.timeout(600_000);
  const cluster = await startCluster(t, { nodes: 2, accounts: 6, settings: { MANSIO_UNKNOWN_RECIPIENTS: 'reject' } });
  const { accounts, nodes } = cluster;
  const store = postgresDirectory(cluster.sql, 256);
  const targets = accounts.map(({ email }) => email);
  const subjectsOf = async ({ key }: (typeof accounts)[number], [node] = nodes) => {
    const response = await fetch(`http://127.0.0.1:${port(node!.process, 'http')}/api/emails?pageSize=100`, {
      headers: { authorization: `Bearer ${key}` },
    });
    const { items } = (await response.json()) as { items: { subject: string }[] };
    return items.map(({ subject }) => subject).toSorted();
  };
  const smtp = await Promise.all(nodes.map(({ process }) => SmtpClient.greeted(`127.0.0.1:${port(process, 'mx')}`)));
  const rcpt = async (client: SmtpClient) => {
    await client.command('MAIL FROM:<a@remote.test>');
    const { code } = await client.command('RCPT TO:<team@example.test>');
    await client.command('RSET');
    return code;
  };
  await store.addAlias({ address: 'team@example.test', targets, sendAs: false });
  for (const [place, client] of smtp.entries()) {
    await eventually('the alias', async () => (await rcpt(client)) === 250);
    const text = `From: a@remote.test\r\nSubject: from ${place}\r\n\r\nhello`;
    t.is((await client.send('a@remote.test', ['team@example.test', targets[0]!], text)).code, 250);
  }
  for (const account of accounts)
    await eventually('each message once', async () => (await subjectsOf(account)).join() === 'from 0,from 1');
  await store.removeAlias('team@example.test');
  for (const client of smtp) {
    await eventually('its end', async () => (await rcpt(client)) === 550);
    client.destroy();
  }
});
