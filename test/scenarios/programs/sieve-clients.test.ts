// Tests stock ManageSieve clients against a whole node, with STARTTLS: Python's sievelib and sieve-connect. What they do is what REST shows,
// and it is there after a restart.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestFn } from 'ava';
import { createAccount, port, storeOf, type TestAccount } from '../../../dev/node-accounts.js';
import { temporaryDirectory } from '../../../dev/temporary-directory.js';
import { MailboxClient } from '../../support/clients/mailbox-client.js';
import { startTestNode, type TestNode } from '../../support/node.js';
import { runProgram } from '../../support/run-program.js';
import anyTest from '../../support/test.js';
import { testWith } from '../../support/test-with.js';

interface Context {
  node: TestNode;
  account: (name: string) => Promise<TestAccount & { readonly rest: MailboxClient }>;
}

const test = anyTest as TestFn<Context>;

/** The Python that has the library, which may be another than the first one of the path. */
const PYTHON = ['python3', '/usr/bin/python3'].find(
  (command) => spawnSync(command, ['-c', 'import sievelib.managesieve']).status === 0,
);

test.before(async (t) => {
  const node = await startTestNode({ MANSIO_HOSTED_DOMAINS: 'example.test' });
  t.context.node = node;
  t.context.account = async (name) => {
    const sql = await storeOf(node);
    const account = await createAccount(sql, `${name}@example.test`, ['imap', 'api:read', 'api:write']);
    await sql.end();
    return { ...account, rest: new MailboxClient(node, account.key) };
  };
});

test.after.always((t) => t.context.node.stop());

const SIEVELIB = `
import ssl, sys
from sievelib.managesieve import Client
port, name, key = sys.argv[1:]
ssl._create_default_https_context = ssl._create_unverified_context
ssl.create_default_context = lambda *a, **k: ssl._create_unverified_context()
c = Client('127.0.0.1', int(port))
assert c.connect(name, key, starttls=True, authmech='PLAIN'), c.errmsg
assert 'fileinto' in c.get_sieve_capabilities(), c.get_sieve_capabilities()
assert c.havespace('main', 100)
assert not c.havespace('main', 1000000) and c.errcode == b'QUOTA/MAXSIZE', c.errcode
assert not c.putscript('main', 'keep;\\r\\nfoo;\\r\\n') and b'line 2, column 1' in c.errmsg, c.errmsg
assert c.putscript('main', 'require "fileinto";\\r\\nfileinto "Zoë";\\r\\n'), c.errmsg
assert c.putscript('other', 'keep;')
assert c.setactive('main')
assert c.listscripts() == ('main', ['other']), c.listscripts()
assert c.getscript('main') == 'require "fileinto";\\nfileinto "Zoë";', c.getscript('main')
assert not c.deletescript('main') and c.errcode == b'ACTIVE', c.errcode
assert c.renamescript('other', 'third')
assert c.deletescript('third')
c.logout()
`;

(PYTHON === undefined ? test.skip : test)("Python's sievelib, after STARTTLS", async (t) => {
  const { node, account } = t.context;
  const { email, key, rest } = await account('sievelib');
  const { code, output } = await runProgram(PYTHON!, ['-c', SIEVELIB, String(port(node, 'sieve')), email, key]);
  t.is(code, 0, output);
  t.deepEqual(await rest.get('/api/sieve'), [{ name: 'main', isActive: true }]);
  t.deepEqual(await rest.get('/api/sieve/main'), {
    content: 'require "fileinto";\r\nfileinto "Zoë";\r\n',
    isActive: true,
  });
});

testWith<Context>('sieve-connect')('sieve-connect, after STARTTLS', async (t) => {
  const { node, account } = t.context;
  const { email, key, rest } = await account('connect');
  const directory = temporaryDirectory('mansio-sieve-');
  const file = join(directory, 'main.sieve');
  const address = ['--server', '127.0.0.1', '--port', String(port(node, 'sieve')), '--nosslverify'];
  const run = async (...args: readonly string[]) => {
    const login = ['--user', email, '--passwordfd', '0', '--authmech', 'PLAIN'];
    const { code, output } = await runProgram('sieve-connect', [...address, ...login, ...args], `${key}\n`);
    t.is(code, 0, output);
    return output;
  };
  writeFileSync(file, 'require ["copy", "fileinto"];\nfileinto :copy "Archive";\n');
  await run('--localsieve', file, '--remotesieve', 'main', '--upload');
  await run('--remotesieve', 'main', '--activate');
  t.regex(await run('--list'), /"main" ACTIVE/);
  t.deepEqual(await rest.get('/api/sieve'), [{ name: 'main', isActive: true }]);
});
