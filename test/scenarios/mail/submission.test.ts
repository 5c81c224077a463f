// Tests mail of common programs on a whole node, by STARTTLS and by TLS from the start: it reaches Sent and its recipients, and no
// recipient sees a Bcc; tokens of the identity provider are accepted too.

import { createTransport } from 'nodemailer';
import { createAccount, createKey, port, storeOf } from '../../../dev/node-accounts.js';
import { type EmailList, MailboxClient } from '../../support/clients/mailbox-client.js';
import { SmtpClient } from '../../support/clients/smtp-client.js';
import { startTestNode, type TestNode } from '../../support/node.js';
import { startProvider } from '../../support/peers/oidc-provider.js';
import { runProgram } from '../../support/run-program.js';
import test from '../../support/test.js';
import { testWith } from '../../support/test-with.js';
import { eventually } from '../cluster/support/eventually.js';

interface Outbound {
  readonly status: string;
  readonly recipients: readonly { readonly address: string; readonly type: string; readonly status: string }[];
}

let node: TestNode;
let token: (claims: Readonly<Record<string, unknown>>) => Promise<string>;
let close: () => Promise<void>;
let stopProvider: () => Promise<void>;
let account: (name: string) => ReturnType<typeof createAccount>;
let key: (accountId: string, scope: 'smtp' | 'imap') => Promise<string>;

test.before(async () => {
  const provider = await startProvider();
  stopProvider = provider.stop;
  token = (claims) => provider.token({ aud: 'mansio', ...claims });
  node = await startTestNode({
    MANSIO_HOSTED_DOMAINS: 'example.test',
    MANSIO_UNKNOWN_RECIPIENTS: 'reject',
    MANSIO_HOSTNAME: 'mail.example.test',
    MANSIO_OIDC_AUTHORITY: provider.authority,
    MANSIO_OIDC_CLIENT_ID: 'web',
    MANSIO_OIDC_AUDIENCE: 'mansio',
    MANSIO_LOG_LEVEL: 'debug',
  });
  const sql = await storeOf(node);
  account = (name) => createAccount(sql, `${name}@example.test`, ['app', 'smtp']);
  key = (accountId, scope) => createKey(sql, accountId, [scope]);
  close = () => sql.end();
});

test.after.always(async (t) => {
  await close?.();
  const exit = await node?.stop();
  t.is(exit?.code, 0);
  await stopProvider?.();
});

const BODY = `.\r\n..dots\r\n${'hello\r\n'.repeat(50)}`;

function message(from: string, to: string, subject: string): string {
  return `From: ${from}\r\nBcc: secret@example.test\r\nTo: ${to}\r\nSubject: ${subject}\r\n\r\n${BODY}`;
}

/** Returns the raw messages of this subject, once they are in `to`'s inbox and `from`'s Sent. */
async function copies(from: string, to: string, subject: string): Promise<string[]> {
  const raw = async (client: MailboxClient, list: string) => {
    const email = await eventually(`${subject} in ${list}`, async () => {
      const { items } = await client.get<EmailList>(list);
      return items.find((email) => email.subject === subject);
    });
    return (await client.request('GET', `/api/emails/${email!.id}/export/eml`)).text();
  };
  return [
    await raw(new MailboxClient(node, to), '/api/emails'),
    await raw(new MailboxClient(node, from), '/api/emails/sent'),
  ];
}

test('discovery and credentials tell the ports that are open', async (t) => {
  const { key: apiKey } = await account('discoverer');
  const client = new MailboxClient(node, apiKey);
  const smtp = {
    enabled: true,
    serverName: 'mail.example.test',
    port: port(node, 'submission'),
    securePort: port(node, 'submissions'),
  };
  const imap = { ...smtp, port: port(node, 'imap'), securePort: port(node, 'imaps') };
  const pop3 = { ...smtp, port: port(node, 'pop3'), securePort: port(node, 'pop3s') };
  t.like(await client.get('/api/discovery'), { smtp, imap, pop3 });
  t.like(await client.get('/api/smtp-credentials'), { connectionInfo: { smtp, imap, pop3 } });
});

for (const listener of ['submission', 'submissions'] as const) {
  const isSecure = listener === 'submissions';

  test(`nodemailer, ${listener}`, async (t) => {
    const anna = await account(`anna.${listener}`);
    const ben = await account(`ben.${listener}`);
    const transport = createTransport({
      host: '127.0.0.1',
      port: port(node, listener),
      secure: isSecure,
      requireTLS: !isSecure,
      auth: { user: anna.email, pass: await key(anna.id, 'smtp') },
      tls: { rejectUnauthorized: false },
    });
    const { response } = await transport.sendMail({
      from: anna.email,
      to: ben.email,
      bcc: anna.email,
      subject: 'by nodemailer',
      text: 'hello',
    });
    transport.close();
    const id = /^250 2\.0\.0 Queued as ([0-9a-f-]{36})$/.exec(response)?.[1];
    const [received, sent] = await copies(anna.key, ben.key, 'by nodemailer');
    t.is(received, sent);
    t.regex(received!, /^Received: by mail\.example\.test with ESMTPSA\s/m);
    t.notRegex(received!, /^bcc:/im);
    const client = new MailboxClient(node, anna.key);
    const email = await eventually('its delivery', async () => {
      const outbound = await client.get<Outbound>(`/api/outbound/${id}`);
      return outbound.status === 'Sent' ? outbound : undefined;
    });
    t.deepEqual(
      email!.recipients.map(({ address, type, status }) => `${type} ${address} ${status}`),
      [`To ${ben.email} Delivered`, `Bcc ${anna.email} Delivered`],
    );
  });

  for (const program of ['python3', 'curl', 'swaks']) {
    testWith(program)(`${program}, ${listener}`, async (t) => {
      const anna = await account(`anna.${program}.${listener}`);
      const ben = await account(`ben.${program}.${listener}`);
      const subject = `by ${program}`;
      const at = { from: anna.email, to: ben.email, pass: await key(anna.id, 'smtp'), port: port(node, listener) };
      const text = message(anna.email, ben.email, subject);
      const { code, output } = await PROGRAMS[program]!({ ...at, isSecure, text });
      t.is(code, 0, output);
      const [received, sent] = await copies(anna.key, ben.key, subject);
      t.is(received, sent);
      // swaks adds a line.
      t.true(received!.trimEnd().endsWith(text.replace(/^Bcc:.*\r\n/m, '').trimEnd()), received);
      t.regex(received!, /^Message-Id: <[0-9a-f-]+@mail\.example\.test>\r$/m);
      t.regex(received!, /^Date: /m);
    });
  }
}

interface Job {
  readonly from: string;
  readonly to: string;
  readonly pass: string;
  readonly port: number;
  readonly isSecure: boolean;
  readonly text: string;
}

const PYTHON = `
import smtplib, ssl, sys
sender, recipient, password, port, secure = sys.argv[1:]
context = ssl.create_default_context()
context.check_hostname = False
context.verify_mode = ssl.CERT_NONE
client = smtplib.SMTP_SSL("127.0.0.1", int(port), context=context) if secure == "true" else smtplib.SMTP("127.0.0.1", int(port))
with client:
    if secure == "false": client.starttls(context=context)
    client.login(sender, password)
    client.sendmail(sender, [recipient], sys.stdin.buffer.read())
`;

const PROGRAMS: Readonly<Record<string, (job: Job) => ReturnType<typeof runProgram>>> = {
  python3: ({ from, to, pass, port: at, isSecure, text }) =>
    runProgram('python3', ['-c', PYTHON, from, to, pass, String(at), String(isSecure)], text),
  curl: ({ from, to, pass, port: at, isSecure, text }) =>
    runProgram(
      'curl',
      [
        ...['-sS', '-k', '--ssl-reqd', `${isSecure ? 'smtps' : 'smtp'}://127.0.0.1:${at}`, '-u', `${from}:${pass}`],
        ...['--mail-from', from, '--mail-rcpt', to, '-T', '-'],
      ],
      text,
    ),
  swaks: ({ from, to, pass, port: at, isSecure, text }) =>
    runProgram(
      'swaks',
      [
        ...['--server', '127.0.0.1', '--port', String(at), isSecure ? '--tls-on-connect' : '-tls'],
        ...['--auth', 'PLAIN', '--auth-user', from, '--auth-password', pass, '--from', from, '--to', to],
        ...['--suppress-data', '--data', '-'],
      ],
      text.replaceAll('\r\n', '\n'),
    ),
};

async function greeted(): Promise<SmtpClient> {
  const client = await SmtpClient.greeted(`127.0.0.1:${port(node, 'submission')}`);
  await client.command('STARTTLS');
  await client.secure();
  await client.command('EHLO client.test');
  return client;
}

const plain = (name: string, credential: string) =>
  `AUTH PLAIN ${Buffer.from(`\0${name}\0${credential}`).toString('base64')}`;

test('passwords only over TLS, with the scope, for the own addresses', async (t) => {
  const anna = await account('anna.rules');
  const unencrypted = await SmtpClient.greeted(`127.0.0.1:${port(node, 'submission')}`);
  t.is((await unencrypted.command(plain(anna.email, anna.key))).code, 538);
  t.is((await unencrypted.command(`MAIL FROM:<${anna.email}>`)).code, 530);
  const client = await greeted();
  t.is((await client.command(plain(anna.email, await key(anna.id, 'imap')))).code, 535);
  t.is((await client.command(plain('discoverer@example.test', anna.key))).code, 535);
  t.is((await client.command(plain(anna.email, `${anna.key}x`))).code, 535);
  t.is((await client.command(plain(anna.email.toUpperCase(), anna.key))).code, 235);
  t.is((await client.command('MAIL FROM:<other@example.test>')).code, 550);
  t.is((await client.command(`MAIL FROM:<${anna.email}>`)).code, 250);
  t.is((await client.command('RCPT TO:<nobody@example.test>')).code, 550);
});

test('a token of the identity provider sends', async (t) => {
  const user = 'anna.token@example.test';
  const accessToken = await token({ sub: 'anna.token', email: user });
  const transport = createTransport({
    host: '127.0.0.1',
    port: port(node, 'submissions'),
    secure: true,
    auth: { type: 'OAuth2', user, accessToken },
    tls: { rejectUnauthorized: false },
  });
  await transport.sendMail({ from: user, to: user, subject: 'by token', text: 'hello' });
  transport.close();
  const [received] = await copies(accessToken, accessToken, 'by token');
  t.regex(received!, /^Subject: by token\r$/m);
});
