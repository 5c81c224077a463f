// Tests forwarding on a whole node: what the target gets and can verify, the way of bounces, loops, refusals and aliases elsewhere. dkimpy
// verifies the signatures and the seal where it is installed.
import { port, storeOf } from '../../../dev/node-accounts.js';
import { postgresDirectory } from '../../../src/store/postgres/accounts/directory.js';
import { postgresSigningKeys } from '../../../src/store/postgres/outbound/signing-keys.js';
import { keyRecord, RSA, signed, startPeers } from '../../message-checks/mailauth/peers.js';
import { MailboxClient } from '../../support/clients/mailbox-client.js';
import { SmtpClient } from '../../support/clients/smtp-client.js';
import { mansio } from '../../support/command.js';
import test from '../../support/test.js';
import { eventually } from '../cluster/support/eventually.js';
import { checkWithDkimpy } from './dkimpy.js';
import { world } from './outbound-remotes.js';

type T = Parameters<typeof world>[0];

async function setUp(t: T) {
  const refusing = { behaviour: { rcpt: () => '550 5.1.1 nobody here' } };
  const made = await world(t, { 'far.test': [{}], 'peer.test': [{}], 'no.test': [refusing] });
  const { node, sender: ann, neighbour: bob, messagesAt } = made;
  const sql = await storeOf(node);
  const directory = postgresDirectory(sql, 256);
  for (const address of ['me@far.test', 'me@no.test']) await directory.addAddress(ann.id, address, true);
  await postgresSigningKeys(sql).add({ domain: 'example.test', selector: 'sel', ...RSA });
  t.teardown(() => sql.end());
  const smtp = await SmtpClient.greeted(`127.0.0.1:${port(node, 'mx')}`);
  const [client, neighbours] = [new MailboxClient(node, ann.key), new MailboxClient(node, bob.key)];
  const forward = (body: object) =>
    client.request('PUT', '/api/forwarding', { isEnabled: true, address: 'me@far.test', keepCopy: true, ...body });
  const message = (subject: string) => `From: a@peer.test\r\nTo: x@example.test\r\nSubject: ${subject}\r\n\r\nhello`;
  const at = async (domain: string, count: number) => {
    await eventually(`mail at ${domain}`, async () => messagesAt(domain).length >= count);
    return messagesAt(domain).at(-1)!;
  };
  return { ...made, ann, bob, smtp, client, neighbours, forward, message, at };
}

test('a target gets the message as it came, sealed, and a bounce finds its sender', async (t) => {
  const { ann, smtp, client, forward, message, at, messagesAt } = await setUp(t);
  const refused = await forward({ address: 'other@far.test' });
  t.is(refused.status, 400);
  t.truthy(((await refused.json()) as { errors: Record<string, string[]> }).errors['address']);
  t.is((await forward({ address: ann.email })).status, 400, 'an own address here');
  t.is((await forward({})).status, 204);
  t.deepEqual(await client.get('/api/forwarding'), { isEnabled: true, address: 'me@far.test', keepCopy: true });

  const original = await signed(message('one'));
  t.is((await smtp.send('a@peer.test', [ann.email], original)).code, 250);
  const got = await at('far.test', 1);
  t.regex(got.sender, /^SRS0=[^=]{8}=[A-Z2-7]{2}=peer\.test=a@example\.test$/);
  t.deepEqual(got.recipients, ['me@far.test']);
  t.true(got.text.includes(original), 'the octets are those that came');
  t.regex(got.text, /^Delivered-To: ann@example\.test\r?$/m);
  t.deepEqual(
    (await client.inbox()).map(({ subject }) => subject),
    ['one'],
  );

  const peers = await startPeers(t, { 'sel._domainkey.example.test': keyRecord(RSA) });
  const { summary } = await peers.authenticate(Buffer.from(got.text, 'latin1'), { sender: got.sender });
  t.like(summary, { dkim: 'pass' });
  checkWithDkimpy(t, got.text, ['example.test']);

  // The host of the target bounces it: the DSN comes to the MX and goes to the sender, from nobody.
  const bounce = 'From: <mailer@far.test>\r\nSubject: returned\r\n\r\nsorry';
  t.is((await smtp.send('', [got.sender], bounce)).code, 250);
  const returned = await at('peer.test', 1);
  t.like(returned, { sender: '', recipients: ['a@peer.test'] });
  t.true(returned.text.includes('Subject: returned'));
  await smtp.command('MAIL FROM:<>');
  t.is((await smtp.command(`RCPT TO:<${got.sender.replace('=a@', '=b@')}>`)).code, 550);
  await smtp.command('RSET');

  // What comes back to the account is refused, so nothing goes round.
  t.is((await smtp.send('me@far.test', [ann.email], got.text.trimEnd())).code, 554);
  t.is((await smtp.send('', [ann.email], message('from nobody'))).code, 250);
  t.is((await at('far.test', 2)).sender, '');
  t.is(messagesAt('far.test').length, 2);
});

test('a refused forward is in the inbox, and its sender is told', async (t) => {
  const { ann, smtp, client, forward, message, at } = await setUp(t);
  t.is((await forward({ address: 'me@no.test', keepCopy: false })).status, 204);
  t.is((await smtp.send('a@peer.test', [ann.email], message('lost'))).code, 250);
  await eventually('the copy', async () => (await client.inbox()).some(({ subject }) => subject === 'lost'));
  const report = await at('peer.test', 1);
  t.like(report, { sender: '', recipients: ['a@peer.test'] });
  t.regex(report.text, /Final-Recipient: rfc822; ?me@no\.test/);
  t.is((await client.inbox()).length, 1, 'the account gets no DSN');
});

test('accounts of one server forward to each other when the operator allows it, and nothing goes round', async (t) => {
  const { node, ann, bob, smtp, client, neighbours, forward, message } = await setUp(t);
  const allow = (account: string, address: string) =>
    mansio(node.dataDir, ['address', 'add', '--account', account, '--address', address, '--for-forwarding', '--json']);
  t.is((await forward({ address: bob.email })).status, 400, 'nobody has allowed it');
  t.like(JSON.parse((await allow(ann.email, bob.email)).stdout), { isVerified: false, isForwardingOnly: true });
  t.regex((await allow(ann.email, 'nobody@example.test')).stderr, /no account and no alias has the address/);
  t.regex((await allow(ann.email, ann.email)).stderr, /its mail comes there anyway/);
  await mansio(node.dataDir, ['alias', 'add', 'ann-again@example.test', '--to', ann.email]);
  t.is((await allow(bob.email, 'ann-again@example.test')).code, 0);
  const profile = await client.get<{ additionalAddresses: object[] }>('/api/profile');
  t.truthy(profile.additionalAddresses.some((one) => 'address' in one && one.address === bob.email));
  const asBob = {
    fromAddress: bob.email,
    subject: 's',
    textBody: 't',
    recipients: [{ address: 'x@far.test', type: 'To' }],
  };
  t.is((await client.request('POST', '/api/outbound/send', asBob)).status, 400, 'the address stays that of bob');

  // Neither keeps a copy, and the way back is an alias: the account that ends the loop has the message.
  t.is((await forward({ address: bob.email, keepCopy: false })).status, 204);
  const back = { isEnabled: true, address: 'ann-again@example.test', keepCopy: false };
  t.is((await neighbours.request('PUT', '/api/forwarding', back)).status, 204);
  t.is((await smtp.send('a@peer.test', [ann.email], message('round'))).code, 250);
  await eventually(
    'the end of the loop',
    async () => (await client.inbox()).length + (await neighbours.inbox()).length > 0,
  );
  const sql = await storeOf(node);
  t.teardown(() => sql.end());
  await eventually('quiet', async () => {
    const rows = await sql`select from due_automatic_mail union all select from inbound`;
    return rows.length === 0;
  });
  t.is((await client.inbox()).length + (await neighbours.inbox()).length, 1, 'one copy, once');
  const [mail] = await sql<{ count: number }[]>`select count(*)::int as count from outbound`;
  t.true(mail!.count <= 2, `${mail!.count} forwards`);

  // The target goes: the account keeps what comes then.
  t.is((await mansio(node.dataDir, ['address', 'remove', '--account', ann.email, bob.email])).code, 0);
  t.deepEqual(await client.get('/api/forwarding'), { isEnabled: false, address: null, keepCopy: false });
  t.is((await smtp.send('a@peer.test', [ann.email], message('kept'))).code, 250);
  await eventually('the copy', async () => (await client.inbox()).some(({ subject }) => subject === 'kept'));
});

test('an alias leads elsewhere once an account is the postmaster of its domain; a filter forwards', async (t) => {
  const { node, ann, bob, smtp, client, neighbours, message, at, messagesAt } = await setUp(t);
  const add = () => mansio(node.dataDir, ['alias', 'add', 'team@example.test', '--to', 'X+y@far.test', bob.email]);
  t.regex((await add()).stderr, /no account has postmaster@example\.test/);
  await mansio(node.dataDir, ['alias', 'add', 'postmaster@example.test', '--to', ann.email]);
  t.is((await add()).code, 0);
  const send = async () => (await smtp.send('a@peer.test', ['team@example.test'], message('team'))).code;
  await eventually('the alias', async () => (await send()) === 250);
  const got = await at('far.test', 1);
  t.deepEqual(got.recipients, ['x+y@far.test']);
  t.regex(got.sender, /^SRS0=.*@example\.test$/);
  await eventually('the other target', async () => (await neighbours.inbox()).length >= 1);
  t.deepEqual(
    (await client.inbox()).map(({ subject }) => subject),
    [],
    'the postmaster gets no copy',
  );

  const filter = { name: 'on', isEnabled: true, priority: 1, subjectContains: 'invoice' };
  const put = (forwardTo: string) => client.request('POST', '/api/filters', { ...filter, forwardTo });
  t.is((await put('x@far.test')).status, 400);
  t.is((await put('ME@far.test')).status, 201);
  const before = messagesAt('far.test').length;
  t.is((await smtp.send('a@peer.test', [ann.email], message('invoice'))).code, 250);
  t.deepEqual((await at('far.test', before + 1)).recipients, ['me@far.test']);
  t.deepEqual(
    (await client.inbox()).map(({ subject }) => subject),
    ['invoice'],
  );
});
