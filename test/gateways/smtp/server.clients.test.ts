// Tests two common clients, unchanged, with TLS and without: nodemailer and Python's smtplib.
import { spawn } from 'node:child_process';
import { createTransport } from 'nodemailer';
import test from '../../support/test.js';
import { testWith } from '../../support/test-with.js';
import { listen } from './listener.js';

test('nodemailer', async (t) => {
  const { address, stored } = await listen(t);
  const [host, port] = address.split(':');
  const transport = createTransport({ host: host!, port: Number(port), tls: { rejectUnauthorized: false } });
  const text = '.\n..dots\n.\nümläut\n'.repeat(100);
  const sent = await transport.sendMail({ from: 'a@peer.test', to: ['alice@example.test', 'bob@example.test'], text });
  transport.close();
  t.regex(sent.response, /^250 2\.0\.0 /);
  t.is(stored[0]!.deliveries.length, 2);
  t.regex(stored[0]!.text, /with ESMTPS/);
  const body = stored[0]!.body.split('\r\n\r\n').slice(1).join('\r\n\r\n');
  t.regex(body, /^\.\r\n\.\.dots\r\n/);
});

const SCRIPT = `
import smtplib, ssl, sys
message = "Subject: x\\r\\n\\r\\n" + ".\\r\\n..\\r\\nhello\\r\\n" * 50
context = ssl.create_default_context()
context.check_hostname = False
context.verify_mode = ssl.CERT_NONE
with smtplib.SMTP("127.0.0.1", int(sys.argv[1])) as client:
    client.starttls(context=context)
    client.sendmail("a@peer.test", ["alice@example.test", "bob@example.test"], message)
    try:
        client.sendmail("a@peer.test", ["x@other.test"], message)
    except smtplib.SMTPRecipientsRefused as refused:
        print(refused.recipients["x@other.test"][0])
`;

testWith('python3')('smtplib', async (t) => {
  const { address, stored } = await listen(t);
  const child = spawn('python3', ['-c', SCRIPT, address.split(':')[1]!], { stdio: ['ignore', 'pipe', 'inherit'] });
  let printed = '';
  child.stdout.on('data', (chunk: Buffer) => {
    printed += chunk.toString();
  });
  const code = await new Promise((resolve) => child.once('close', resolve));
  t.is(code, 0);
  t.is(printed.trim(), '550');
  t.is(stored.length, 1);
  t.is(stored[0]!.body, `Subject: x\r\n\r\n${'.\r\n..\r\nhello\r\n'.repeat(50)}`);
});
