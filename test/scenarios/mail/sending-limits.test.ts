// Tests limits of recipients and suspended accounts on a whole node: by nodemailer and REST, for the user and the operator.
import { createTransport } from 'nodemailer';
import { createAccount, port, storeOf } from '../../../dev/node-accounts.js';
import { postgresDirectory } from '../../../src/store/postgres/accounts/directory.js';
import { MailboxClient } from '../../support/clients/mailbox-client.js';
import { SmtpClient } from '../../support/clients/smtp-client.js';
import { mansio } from '../../support/command.js';
import { startTestNode } from '../../support/node.js';
import test from '../../support/test.js';
import { until } from '../../support/until.js';

interface Profile {
  readonly sending: { readonly isSuspended: boolean; readonly reason: string | null; readonly canResume: boolean };
}

const SETTINGS = { MANSIO_SEND_LIMIT_HOUR: '5', MANSIO_SUSPEND_STRANGERS: '4' };

test('limits and suspensions hold at once for mail programs and REST', async (t) => {
  const node = await startTestNode({ MANSIO_HOSTED_DOMAINS: 'example.test', ...SETTINGS });
  const sql = await storeOf(node);
  t.teardown(() => sql.end());
  const account = (name: string) => createAccount(sql, `${name}@example.test`, ['app', 'smtp']);
  const [anna, ben, operator] = [await account('anna'), await account('ben'), await account('office')];
  const postmaster = { address: 'postmaster@example.test', targets: [operator.email], sendAs: false };
  await postgresDirectory(sql, 256).addAlias(postmaster);
  const [rest, other, office] = [anna, ben, operator].map(({ key }) => new MailboxClient(node, key));
  const command = async (...args: string[]) =>
    JSON.parse((await mansio(node.dataDir, [...args, '--json'], SETTINGS)).stdout);
  const url = new URL(`http://127.0.0.1:${port(node, 'http')}`);
  const program = createTransport({
    ...{ host: '127.0.0.1', port: port(node, 'submission'), requireTLS: true, tls: { rejectUnauthorized: false } },
    auth: { user: anna.email, pass: anna.key },
  });
  /** Returns the code and the enhanced code of the reply. */
  const submit = (...to: string[]): Promise<string> =>
    program.sendMail({ from: anna.email, to, subject: 'submitted', text: 't' }).then(
      () => '250',
      ({ response = '' }: { response?: string }) => response.slice(0, 9),
    );
  const send = (client: MailboxClient, from: string, to: readonly string[], more = {}) =>
    client.request('POST', '/api/outbound/send', {
      ...{ fromAddress: from, subject: 'sent', textBody: 't', ...more },
      recipients: to.map((address) => ({ address, type: 'To' })),
    });
  const limited = [ben.email, operator.email];

  // The message alone exceeds the limit; the two after it fill it.
  const many = Array.from({ length: 6 }, (_, i) => `${ben.email.replace('@', `+${i}@`)}`);
  t.is(await submit(...many), '550 5.5.3');
  t.is((await send(rest!, anna.email, many)).status, 400);
  t.is(await submit(...limited), '250');
  t.is((await send(rest!, anna.email, limited)).status, 200);
  t.is(await submit(...limited), '450 4.7.1');
  const refused = await send(rest!, anna.email, limited, { sendAt: new Date(Date.now() + 86_400_000).toISOString() });
  t.is(refused.status, 429);
  t.regex(((await refused.json()) as { detail: string }).detail, /at most 5 recipients an hour/);
  const wait = Number(refused.headers.get('retry-after'));
  t.true(wait > 3_500 && wait <= 3_660);
  t.is(await submit(ben.email), '250');
  const notice = 'A limit of recipients is reached';
  for (const client of [rest!, office!])
    await until(async () => (await client.inbox()).some(({ subject }) => subject === notice));
  t.is((await office!.inbox()).filter(({ subject }) => subject === notice).length, 1);
  t.like(await command('account', 'limit', anna.email, '--hour', '0'), { limitHour: null });
  const shown = await command('account', 'limit', anna.email, '--hour', '100');
  t.like(shown, { sentInHour: 5, limitHour: 100, sentInDay: 5, reason: null });
  await until(async () => (await submit(ben.email)) === '250');

  // The operator suspends: sending stops and reading goes on.
  t.like(await command('account', 'suspend', anna.email, '--why', 'unpaid bill'), { reason: 'unpaid bill' });
  t.like(await command('account', 'suspend', anna.email), { reason: 'unpaid bill' });
  await until(async () => (await submit(ben.email)) === '550 5.7.1');
  const suspended = await send(rest!, anna.email, [ben.email]);
  t.is(suspended.status, 403);
  t.regex(((await suspended.json()) as { detail: string }).detail, /unpaid bill/);
  t.deepEqual((await rest!.get<Profile>('/api/profile')).sending.canResume, false);
  t.is((await rest!.request('POST', '/api/profile/sending/resume')).status, 409);
  const smtp = await SmtpClient.greeted(`127.0.0.1:${port(node, 'mx')}`);
  t.is(
    (await smtp.send('a@remote.test', [anna.email], 'From: a@remote.test\r\nSubject: still here\r\n\r\nx')).code,
    250,
  );
  await until(async () => (await rest!.inbox()).some(({ subject }) => subject === 'still here'));
  t.true((await command('account', 'list')).find((one: { email: string }) => one.email === anna.email).isSuspended);
  await command('account', 'resume', anna.email);
  await until(async () => (await submit(ben.email)) === '250');

  // A sudden change suspends, and only a fresh sign-in resumes.
  const strangers = Array.from({ length: 5 }, (_, i) => `somebody${i}@remote.test`);
  t.is((await send(other!, ben.email, strangers)).status, 403);
  await until(async () => (await other!.get<Profile>('/api/profile')).sending.canResume);
  t.is((await send(other!, ben.email, [anna.email])).status, 403);
  t.is((await other!.request('POST', '/api/profile/sending/resume')).status, 403);
  const browser = (headers: Record<string, string>, path: string, body?: unknown) =>
    fetch(new URL(path, `http://localhost:${url.port}`), {
      method: 'POST',
      headers: { origin: `http://localhost:${url.port}`, 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const cookieOf = (response: Response) => response.headers.get('set-cookie')!.split(';')[0]!;
  const byKey = await browser({ authorization: `Bearer ${ben.key}` }, '/api/sessions');
  t.is((await browser({ cookie: cookieOf(byKey) }, '/api/profile/sending/resume')).status, 403);
  const { url: link } = await command('account', 'link', ben.email);
  // A link that the session of a key makes proves no more than the key.
  const madeByKey = (await (await browser({ cookie: cookieOf(byKey) }, '/api/sessions/links')).json()) as {
    token: string;
  };
  const linked = await browser({}, '/api/sessions', { link: madeByKey.token });
  t.is(linked.status, 201);
  t.is((await browser({ cookie: cookieOf(linked) }, '/api/profile/sending/resume')).status, 403);
  const byLink = await browser({}, '/api/sessions', { link });
  t.is(byLink.status, 201);
  t.is((await browser({ cookie: cookieOf(byLink) }, '/api/profile/sending/resume')).status, 204);
  await until(async () => (await send(other!, ben.email, strangers)).status === 200);
  t.is((await browser({ cookie: cookieOf(byLink) }, '/api/profile/sending/resume')).status, 409);

  // The domain has a limit of its own, which its accounts share: it is reached though neither account has reached one.
  await command('account', 'limit', ben.email, '--hour', '100');
  const { sentInHour } = await command('domain', 'limit', 'example.test', '--hour', '1000', '--day', '2000');
  const shared = await command('domain', 'limit', 'example.test', '--hour', String(sentInHour + 1));
  t.deepEqual(shared, {
    name: 'example.test',
    sentInHour,
    limitHour: sentInHour + 1,
    sentInDay: sentInHour,
    limitDay: 2000,
  });
  await until(async () => (await send(rest!, anna.email, limited)).status === 429);
  const beyond = await send(other!, ben.email, [anna.email, operator.email]);
  t.is(beyond.status, 429);
  t.regex(
    ((await beyond.json()) as { detail: string }).detail,
    /The domain may send to at most \d+ recipients an hour/,
  );
  t.like(await command('domain', 'limit', 'example.test', '--hour', '0', '--day', 'none'), {
    limitHour: null,
    limitDay: null,
  });
  await until(async () => (await send(rest!, anna.email, limited)).status === 200);
});
