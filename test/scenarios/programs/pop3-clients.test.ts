// Tests stock POP3 clients against a whole node, with STLS and over TLS: Python's poplib, fetchmail, mpop and curl. REST no longer
// shows what QUIT has deleted.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestFn } from 'ava';
import { createTransport } from 'nodemailer';
import { createAccount, port, storeOf, type TestAccount } from '../../../dev/node-accounts.js';
import { temporaryDirectory } from '../../../dev/temporary-directory.js';
import { MailboxClient } from '../../support/clients/mailbox-client.js';
import { placed } from '../../support/clients/placed.js';
import { startTestNode, type TestNode } from '../../support/node.js';
import { runProgram } from '../../support/run-program.js';
import anyTest from '../../support/test.js';
import { testWith } from '../../support/test-with.js';

interface Context {
  node: TestNode;
  /** Creates an account with a key of scope pop3, and `count` messages in its inbox. */
  account: (name: string, count: number) => Promise<TestAccount & { readonly rest: MailboxClient }>;
}

const test = anyTest as TestFn<Context>;
const BODY = 'Zoë 💌\r\n.\r\n..\r\n.hidden\r\n';

test.before(async (t) => {
  const node = await startTestNode({
    MANSIO_HOSTED_DOMAINS: 'example.test',
    // Programs use mechanisms for tokens only where these are announced.
    MANSIO_OIDC_AUTHORITY: 'https://login.example.test',
  });
  t.context.node = node;
  t.context.account = async (name, count) => {
    const sql = await storeOf(node);
    const account = await createAccount(sql, `${name}@example.test`, ['pop3', 'api:read']);
    await sql.end();
    const transport = createTransport({
      host: '127.0.0.1',
      port: port(node, 'mx'),
      tls: { rejectUnauthorized: false },
    });
    for (let i = 1; i <= count; i++) {
      const raw = `From: zoe@remote.test\r\nTo: ${account.email}\r\nSubject: number ${i}\r\n\r\n${BODY}`;
      await transport.sendMail({ envelope: { from: 'zoe@remote.test', to: [account.email] }, raw });
      // So their order is certain.
      await placed(node);
    }
    return { ...account, rest: new MailboxClient(node, account.key) };
  };
});

test.after.always((t) => t.context.node.stop());

testWith<Context>('python3')("Python's poplib, after STLS and over TLS", async (t) => {
  const { node, account } = t.context;
  const { email, key, rest } = await account('poplib', 3);
  const script = `
import poplib, ssl, sys, time
name, key = sys.argv[1:]
context = ssl.create_default_context(); context.check_hostname = False; context.verify_mode = ssl.CERT_NONE
p = poplib.POP3('127.0.0.1', ${port(node, 'pop3')})
assert 'USER' not in p.capa() and 'STLS' in p.capa(), p.capa()
try:
    p.user(name); assert False
except poplib.error_proto as error:
    assert b'STLS' in error.args[0], error
p.stls(context)
assert 'USER' in p.capa() and 'STLS' not in p.capa(), p.capa()
p.utf8()
p.user(name)
try:
    p.pass_('wrong'); assert False
except poplib.error_proto as error:
    assert b'[AUTH]' in error.args[0], error
p.user(name); p.pass_(key)
s = poplib.POP3_SSL('127.0.0.1', ${port(node, 'pop3s')}, context=context)
s.user(name)
try:
    s.pass_(key); assert False
except poplib.error_proto as error:
    assert b'[IN-USE]' in error.args[0], error
count, octets = p.stat()
assert count == 3, count
sizes = [int(line.split()[1]) for line in p.list()[1]]
assert sum(sizes) == octets
ids = [line.split()[1] for line in p.uidl()[1]]
for i in range(count):
    reply, lines, size = p.retr(i + 1)
    assert size == sizes[i], (size, sizes)
    assert lines[lines.index(b'') + 1:] == '${BODY.replaceAll('\r\n', '\\r\\n')}'.encode().split(b'\\r\\n')[:-1], lines
    assert b'Subject: number %d' % (i + 1) in p.top(i + 1, 0)[1]
    assert p.top(i + 1, 2)[1] == lines[:lines.index(b'') + 3]
p.dele(1); p.rset(); p.dele(2); p.dele(3); p.noop()
p.close()
# The server hears of the end of a connection, and then others may have the maildrop.
deadline = time.monotonic() + 120
while True:
    p = poplib.POP3_SSL('127.0.0.1', ${port(node, 'pop3s')}, context=context)
    p.user(name)
    try:
        p.pass_(key); break
    except poplib.error_proto as error:
        assert b'[IN-USE]' in error.args[0] and time.monotonic() < deadline, error
        p.close(); time.sleep(0.05)
assert [line.split()[1] for line in p.uidl()[1]] == ids
assert p.uidl(2) == b'+OK 2 ' + ids[1]
p.dele(1); p.dele(3)
p.quit()
print('done', ids[1].decode())
`;
  const { code, output } = await runProgram('python3', ['-c', script, email, key]);
  t.is(code, 0, output);
  const left = await rest.inbox();
  t.deepEqual(
    left.map(({ subject, isRead }) => [subject, isRead]),
    [['number 2', false]],
  );
  t.is(output, `done ${left[0]!.id}\n`);
});

for (const isTls of [true, false]) {
  testWith<Context>('fetchmail')(`fetchmail takes mail away, ${isTls ? 'over TLS' : 'after STLS'}`, async (t) => {
    const { node, account } = t.context;
    const { email, key, rest } = await account(`fetchmail-${isTls}`, 3);
    const directory = temporaryDirectory('mansio-fetchmail-');
    const rc = join(directory, 'rc');
    const [at, tls] = isTls ? [port(node, 'pop3s'), 'ssl'] : [port(node, 'pop3'), 'sslproto "TLS1.2+"'];
    const run = async (option: string) => {
      writeFileSync(
        rc,
        `set pidfile "${directory}/pid"
set idfile "${directory}/ids"
poll 127.0.0.1 protocol pop3 port ${at} uidl user "${email}" password "${key}" ${tls} no sslcertck ${option} mda "cat >> ${directory}/mbox; echo >> ${directory}/mbox"
`,
        { mode: 0o600 },
      );
      const { code, output } = await runProgram('fetchmail', ['-f', rc, '--nodetach', '-v']);
      // Exit code 1 means that there is nothing new.
      t.true(code === 0 || (code === 1 && option === 'keep'), output);
    };
    const fetched = () => readFileSync(join(directory, 'mbox'), 'utf8').split('Subject: number').length - 1;
    await run('keep');
    t.is(fetched(), 3);
    t.is((await rest.inbox()).length, 3);
    await run('keep');
    t.is(fetched(), 3, 'what was fetched before has the same id');
    await run('fetchall nokeep');
    t.is(fetched(), 6);
    t.is((await rest.inbox()).length, 0);
    t.true(readFileSync(join(directory, 'mbox'), 'utf8').includes('\n.hidden\n'));
  });

  testWith<Context>('mpop')(`mpop takes mail away, ${isTls ? 'over TLS' : 'after STLS'}`, async (t) => {
    const { node, account } = t.context;
    const { email, key, rest } = await account(`mpop-${isTls}`, 5);
    const directory = temporaryDirectory('mansio-mpop-');
    const config = join(directory, 'config');
    const maildir = join(directory, 'mail');
    for (const folder of ['', 'cur', 'new', 'tmp']) await runProgram('mkdir', ['-p', join(maildir, folder)]);
    const run = async (keep: string) => {
      writeFileSync(
        config,
        `account a
host 127.0.0.1
port ${port(node, isTls ? 'pop3s' : 'pop3')}
user ${email}
password ${key}
tls on
tls_starttls ${isTls ? 'off' : 'on'}
tls_certcheck off
auth plain
pipelining on
keep ${keep}
uidls_file ${directory}/uidls
delivery maildir ${maildir}
`,
        { mode: 0o600 },
      );
      const { code, output } = await runProgram('mpop', ['-C', config, '-Q', 'a']);
      t.is(code, 0, output);
    };
    const fetched = () => readdirSync(join(maildir, 'new'));
    await run('on');
    t.is(fetched().length, 5);
    await run('on');
    t.is(fetched().length, 5);
    await run('off');
    t.is(fetched().length, 5, 'what was fetched before is deleted alone');
    t.is((await rest.inbox()).length, 0);
    const [file] = fetched();
    t.true(readFileSync(join(maildir, 'new', file!), 'utf8').endsWith(BODY.replaceAll('\r\n', '\n')));
  });
}

testWith<Context>('curl')('curl lists, fetches and deletes, with PLAIN and with a bearer token', async (t) => {
  const { node, account } = t.context;
  const { email, key, rest } = await account('curl', 2);
  const plain = `pop3://127.0.0.1:${port(node, 'pop3')}`;
  const tls = `pop3s://127.0.0.1:${port(node, 'pop3s')}`;
  const curl = (...args: string[]) => runProgram('curl', ['-sk', ...args]);
  const login = ['--user', `${email}:${key}`];
  t.is((await curl(...login, plain)).code, 67, 'no credential goes in the clear');
  for (const [url, ...more] of [
    [plain, '--ssl-reqd', ...login],
    [tls, ...login],
    [tls, '--user', `${email}:`, '--oauth2-bearer', key],
  ] as const) {
    t.regex((await curl(...more, `${url}/`)).output, /^1 \d+\r?\n2 \d+\r?\n$/);
    t.true((await curl(...more, `${url}/2`)).output.endsWith(BODY));
  }
  t.is((await curl(...login, `${tls}/1`, '-X', 'DELE', '--list-only')).code, 0);
  t.deepEqual(
    (await rest.inbox()).map(({ subject }) => subject),
    ['number 2'],
  );
});
