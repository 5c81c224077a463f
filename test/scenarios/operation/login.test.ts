// Tests logins of a web app on a whole node with a real OpenID provider: waiting mail is there at the first login, REST and the
// hub accept the token, and keys that are made with it work until they are revoked.
import { HubConnectionBuilder, LogLevel } from '@microsoft/signalr';
import { createTransport } from 'nodemailer';
import { createAccount, port, storeOf } from '../../../dev/node-accounts.js';
import { startHub } from '../../support/clients/hub-start.js';
import { type EmailList, MailboxClient } from '../../support/clients/mailbox-client.js';
import { startTestNode } from '../../support/node.js';
import { startProvider } from '../../support/peers/oidc-provider.js';
import test from '../../support/test.js';
import { eventually } from '../cluster/support/eventually.js';

interface IssuedKey {
  readonly id: string;
  readonly apiKey: string;
}

interface Profile {
  readonly id: string;
  readonly email: string;
  readonly displayName: string;
  readonly lastLoginAt: string;
}

test('a user signs in, finds the mail that waited, and works with tokens and keys', async (t) => {
  const provider = await startProvider(t);
  const node = await startTestNode({
    MANSIO_HOSTED_DOMAINS: 'example.test',
    MANSIO_OIDC_AUTHORITY: provider.authority,
    MANSIO_OIDC_CLIENT_ID: 'web',
    MANSIO_OIDC_AUDIENCE: 'mansio',
    MANSIO_LOG_LEVEL: 'debug',
  });
  t.teardown(async () => {
    await node.stop();
  });
  const sql = await storeOf(node);
  t.teardown(() => sql.end());
  const smtp = createTransport({ host: '127.0.0.1', port: port(node, 'mx'), tls: { rejectUnauthorized: false } });
  const send = (subject: string) =>
    smtp.sendMail({ from: 'zoe@remote.test', to: 'anna@example.test', subject, text: 'x' });
  await send('before the account');

  const web = new MailboxClient(node, '');
  t.deepEqual(await web.get('/api/config').catch(() => undefined), {
    oidc: { authority: provider.authority, clientId: 'web', enabled: true },
  });
  t.like(await web.get('/api/discovery'), { features: { oidc: true, pushNotifications: true } });
  const vapid = await web.get<{ publicKey: string }>('/api/push-subscriptions/vapid-public-key');
  t.is(Buffer.from(vapid.publicKey, 'base64url').length, 65);

  const token = await provider.token({ aud: 'mansio', name: 'Anna' });
  const anna = new MailboxClient(node, token);
  const profile = await anna.get<Profile>('/api/profile');
  t.like(profile, { email: 'anna@example.test', displayName: 'Anna' });
  t.truthy(profile.lastLoginAt);
  // The answer to the mail may come before it is placed.
  const listed = await eventually('the mail', async () => (await anna.get<EmailList>('/api/emails')).items[0]);
  t.is(listed?.subject, 'before the account');

  const hub = new HubConnectionBuilder()
    .withUrl(`http://127.0.0.1:${port(node, 'http')}/hubs/email`, { accessTokenFactory: () => token })
    .configureLogging(LogLevel.None)
    .build();
  const heard = new Promise<{ subject: string }>((resolve) => {
    hub.on('NewEmail', resolve);
  });
  await startHub(hub);
  await send('while connected');
  t.like(await heard, { subject: 'while connected' });

  const again = new Promise<{ id: string }>((resolve) => {
    hub.off('NewEmail');
    hub.on('NewEmail', resolve);
  });
  const [, older] = (await anna.get<EmailList>('/api/emails')).items;
  const notifier = await anna.request('POST', '/api/smtp-credentials', { name: 'host', scopes: ['internal'] });
  const host = new MailboxClient(node, ((await notifier.json()) as IssuedKey).apiKey);
  const notify = async (userId: string, emailId: string) =>
    (await host.request('POST', '/api/internal-notifications', { type: 'new_email', userId, emailId })).status;
  t.is(await notify(profile.id, older!.id), 200);
  t.is((await again).id, older!.id);
  t.is(await notify(profile.id, profile.id), 404);
  t.is(await notify(older!.id, older!.id), 403, 'not its own account');
  await hub.stop();

  const issued = await anna.request('POST', '/api/smtp-credentials', { name: 'script', scopes: ['api:read'] });
  t.is(issued.status, 201);
  const key = (await issued.json()) as IssuedKey;
  const script = new MailboxClient(node, key.apiKey);
  t.is((await script.inbox()).length, 2);
  t.is((await script.request('GET', '/api/profile')).status, 403);
  const { keys } = await anna.get<{ keys: { id: string; lastUsedAt: string | null }[] }>('/api/smtp-credentials');
  t.truthy(keys.find(({ id }) => id === key.id)?.lastUsedAt);
  const rotated = (await (
    await anna.request('POST', `/api/smtp-credentials/${key.id}/rotate`, {})
  ).json()) as IssuedKey;
  t.is((await script.request('GET', '/api/emails')).status, 401);
  t.is((await new MailboxClient(node, rotated.apiKey).inbox()).length, 2);

  const status = async (claims: object, path = '/api/emails') =>
    (await new MailboxClient(node, await provider.token({ aud: 'mansio', ...claims })).request('GET', path)).status;
  t.is(await status({ aud: 'other' }), 401);
  t.is(await status({ exp: 1 }), 401);
  t.is(await status({ sub: 'mallory' }), 403, 'anna’s address is anna’s');
  t.is(await status({ sub: 'nobody', email: undefined }), 403);
  provider.tell({ sub: 'dora', email: 'dora@example.test', email_verified: true });
  t.is(await status({ sub: 'dora', email: undefined }, '/api/profile'), 200, 'the provider knows the address');
  t.is(await status({ sub: 'eve', email: undefined }), 403, 'the address is not eve’s');
  t.is(await status({ sub: 'carol', email: 'carol@example.test', email_verified: false }), 403);
  t.is(await status({ sub: undefined }), 401);
  const made = await createAccount(sql, 'bob@example.test');
  t.is(await status({ sub: 'bob', email: 'Bob@example.test', email_verified: false }), 403);
  const bob = new MailboxClient(node, await provider.token({ aud: 'mansio', sub: 'bob', email: 'Bob@example.test' }));
  t.is((await bob.get<Profile>('/api/profile')).id, made.id);
  t.is((await bob.request('POST', '/api/internal-notifications', { type: 'new_email' })).status, 403);

  await provider.stop();
  t.is((await anna.inbox()).length, 2, 'the key of the token is known');
  const { apiKey } = rotated;
  await node.stop();
  const output = node.logs.join('\n');
  t.false(output.includes(token), 'no token in the log');
  t.false(output.includes(apiKey));
});
