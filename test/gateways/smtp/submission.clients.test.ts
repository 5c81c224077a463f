// Tests common clients, unchanged, with STARTTLS and with TLS from the start: their messages are queued as they were sent.

import { createTransport } from 'nodemailer';
import { NO_TOKENS } from '../../support/no-tokens.js';
import { runProgram } from '../../support/run-program.js';
import test from '../../support/test.js';
import { testWith } from '../../support/test-with.js';
import { listenForSubmission } from './submission-listener.js';

const FROM = 'alice@example.test';
const BODY = `.\r\n..dots\r\nFrom here\r\n${'hello\r\n'.repeat(50)}`;
const MESSAGE = `From: ${FROM}\r\nBcc: dave@peer.test\r\nTo: bob@example.test\r\nSubject: x\r\n\r\n${BODY}`;
const KEPT = `From: ${FROM}\r\nTo: bob@example.test\r\nSubject: x\r\n\r\n${BODY}`;

const portOf = (address: string): string => address.slice(address.lastIndexOf(':') + 1);

for (const implicitTls of [false, true]) {
  const way = implicitTls ? 'TLS from the start' : 'STARTTLS';
  const settings = { implicitTls, allowPlaintextAuth: false };
  const withTokens = { ...settings, tokens: NO_TOKENS };

  for (const method of ['PLAIN', 'LOGIN', 'XOAUTH2']) {
    test(`nodemailer, ${way}, ${method}`, async (t) => {
      const { address, queued } = await listenForSubmission(t, method === 'XOAUTH2' ? withTokens : settings);
      const token = { type: 'OAuth2' as const, user: FROM, accessToken: 'alice-key' };
      const transport = createTransport({
        host: '127.0.0.1',
        port: Number(portOf(address)),
        secure: implicitTls,
        requireTLS: !implicitTls,
        tls: { rejectUnauthorized: false },
        ...(method === 'XOAUTH2' ? { auth: token } : { auth: { user: FROM, pass: 'alice-key' }, authMethod: method }),
      });
      t.teardown(() => transport.close());
      const sent = await transport.sendMail({
        from: `Alice <${FROM}>`,
        to: 'bob@example.test',
        bcc: 'dave@peer.test',
        subject: 'grüße',
        text: 'hello',
      });
      t.is(sent.response, '250 2.0.0 Queued as outbound-1');
      t.is(queued[0]!.summary.subject, 'grüße');
      t.deepEqual(
        queued[0]!.recipients.map(({ address: to, type }) => `${type} ${to}`),
        ['To bob@example.test', 'Bcc dave@peer.test'],
      );
      t.regex(queued[0]!.text, /with ESMTPSA\s/);
      transport.close();
    });
  }

  testWith('python3')(`smtplib, ${way}`, async (t) => {
    const { address, queued } = await listenForSubmission(t, settings);
    const script = `
import smtplib, ssl, sys
context = ssl.create_default_context()
context.check_hostname = False
context.verify_mode = ssl.CERT_NONE
port = int(sys.argv[1])
client = smtplib.SMTP_SSL("127.0.0.1", port, context=context) if ${implicitTls ? 'True' : 'False'} else smtplib.SMTP("127.0.0.1", port)
with client:
    if not ${implicitTls ? 'True' : 'False'}: client.starttls(context=context)
    try:
        client.login("${FROM}", "wrong")
    except smtplib.SMTPAuthenticationError as error:
        print(error.smtp_code)
    client.login("${FROM}", "alice-key")
    client.sendmail("${FROM}", ["bob@example.test", "dave@peer.test"], sys.stdin.buffer.read())
    try:
        client.sendmail("bob@example.test", ["dave@peer.test"], b"x")
    except smtplib.SMTPSenderRefused as error:
        print(error.smtp_code)
`;
    const { code, output } = await runProgram('python3', ['-c', script, portOf(address)], MESSAGE);
    t.is(code, 0, output);
    t.deepEqual(output.trim().split('\n'), ['535', '550']);
    t.true(queued[0]!.body.endsWith(KEPT));
    t.regex(queued[0]!.body, /^Date: [^\r]+\r\nMessage-Id: <[^\r]+>\r\nFrom: /);
  });

  for (const bearer of [false, true]) {
    testWith('curl')(`curl, ${way}, ${bearer ? 'a bearer token' : 'a password'}`, async (t) => {
      const { address, queued } = await listenForSubmission(t, bearer ? withTokens : settings);
      const login = bearer ? ['-u', FROM, '--oauth2-bearer', 'alice-key'] : ['-u', `${FROM}:alice-key`];
      const { code, output } = await runProgram(
        'curl',
        [
          ...['-sS', '-k', '--ssl-reqd', `${implicitTls ? 'smtps' : 'smtp'}://${address}`, ...login],
          ...['--mail-from', FROM, '--mail-rcpt', 'bob@example.test', '--mail-rcpt', 'dave@peer.test', '-T', '-'],
        ],
        MESSAGE,
      );
      t.is(code, 0, output);
      t.true(queued[0]!.body.endsWith(KEPT));
      t.is(queued[0]!.recipients.length, 2);
    });
  }

  testWith('swaks')(`swaks, ${way}`, async (t) => {
    const { address, queued } = await listenForSubmission(t, settings);
    const { code, output } = await runProgram(
      'swaks',
      [
        ...['--server', '127.0.0.1', '--port', portOf(address), implicitTls ? '--tls-on-connect' : '-tls'],
        ...['--auth', 'LOGIN', '--auth-user', FROM, '--auth-password', 'alice-key'],
        ...['--from', FROM, '--to', 'bob@example.test,dave@peer.test', '--data', '-'],
      ],
      MESSAGE.replaceAll('\r\n', '\n'),
    );
    t.is(code, 0, output);
    // swaks adds a line.
    t.true(queued[0]!.body.endsWith(`${KEPT}\r\n`));
    t.is(queued[0]!.recipients.length, 2);
  });
}
