// Runs the scripted tester against a whole node: every group of scripts, then many clients with random commands on the same mailboxes.
// `node dist/dev/imap-tester.js` runs longer. A server that counts wrongly must fail.
import { readdirSync, readFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import type { TestFn } from 'ava';
import { parseScript, runScript } from '../../../dev/imap-tester/script.js';
import { stress } from '../../../dev/imap-tester/stress.js';
import { TesterClient } from '../../../dev/imap-tester/tester-client.js';
import { accountOn, port } from '../../../dev/node-accounts.js';
import { table } from '../../../src/gateways/imap/table.js';
import { startTestNode, type TestNode } from '../../support/node.js';
import anyTest from '../../support/test.js';

const GROUPS = 'dev/imap-tester/groups';

interface User {
  readonly name: string;
  readonly password: string;
}

const test = anyTest as TestFn<{ node: TestNode; user: (name: string) => Promise<User> }>;

test.before(async (t) => {
  const node = await startTestNode({ MANSIO_HOSTED_DOMAINS: 'example.test', MANSIO_ALLOW_PLAINTEXT_AUTH: 'true' });
  t.context.node = node;
  t.context.user = async (name) => {
    const { email, key } = await accountOn(node, name);
    return { name: email, password: key };
  };
});

test.after.always(async (t) => {
  await t.context.node.stop();
});

const serverOf = (node: TestNode) => ({ host: '127.0.0.1', port: port(node, 'imap') });

for (const file of readdirSync(GROUPS).sort()) {
  const group = file.replace('.txt', '');
  test(`scripts: ${group}`, async (t) => {
    const { node, user } = t.context;
    const account = await user(`script-${group}`);
    await runScript(parseScript(readFileSync(`${GROUPS}/${file}`, 'utf8')), `Group-${group}`, {
      server: serverOf(node),
      ...account,
    });
    t.pass();
  });
}

/** Maps each capability that is announced after the login to a command of the groups. */
const SHOWN_BY: Readonly<Record<string, RegExp>> = {
  IMAP4rev1: /^SELECT /,
  IMAP4rev2: /^ENABLE IMAP4rev2$/,
  'LITERAL+': /\{\{\+/,
  ID: /^ID /,
  ENABLE: /^ENABLE /,
  IDLE: /^IDLE$/,
  NAMESPACE: /^NAMESPACE$/,
  CHILDREN: /^LIST .* RETURN \(.*CHILDREN/,
  'LIST-EXTENDED': /^LIST \(SUBSCRIBED RECURSIVEMATCH\) /,
  'LIST-STATUS': /^LIST .* RETURN \(.*STATUS \(/,
  'LIST-METADATA': /^LIST .* RETURN \(.*METADATA \(/,
  'SPECIAL-USE': /^LIST \(SPECIAL-USE\) /,
  'CREATE-SPECIAL-USE': /^CREATE .* \(USE /,
  UNSELECT: /^UNSELECT$/,
  UIDPLUS: /^UID EXPUNGE /,
  MOVE: /^MOVE /,
  MULTIAPPEND: /^APPEND .*\{\{.*\{\{/,
  CATENATE: /^APPEND .* CATENATE \(.*URL /,
  REPLACE: /^REPLACE /,
  BINARY: /^FETCH .* BINARY\.PEEK\[/,
  'UTF8=ACCEPT': /^APPEND .* UTF8 \(/,
  'STATUS=SIZE': /^STATUS .*SIZE/,
  OBJECTID: /^FETCH .*EMAILID THREADID/,
  SAVEDATE: /^SEARCH SAVEDSINCE /,
  PREVIEW: /^FETCH .*PREVIEW/,
  CONDSTORE: /^STORE .*UNCHANGEDSINCE/,
  QRESYNC: /^SELECT .*QRESYNC/,
  UIDONLY: /^ENABLE UIDONLY$/,
  ESEARCH: /^SEARCH RETURN \(.*COUNT/,
  SEARCHRES: /^SEARCH RETURN \(SAVE/,
  WITHIN: /^SEARCH YOUNGER /,
  'I18NLEVEL=1': /^SEARCH CHARSET UTF-8 FROM "SENDER/,
  PARTIAL: /^UID FETCH .*\(PARTIAL /,
  'CONTEXT=SEARCH': /^SEARCH RETURN \(UPDATE/,
  SORT: /^SORT \(/,
  'SORT=DISPLAY': /^SORT \(DISPLAYFROM/,
  ESORT: /^SORT RETURN \(/,
  'CONTEXT=SORT': /^UID SORT RETURN \(UPDATE/,
  'THREAD=ORDEREDSUBJECT': /^THREAD ORDEREDSUBJECT /,
  'THREAD=REFERENCES': /^THREAD REFERENCES /,
  NOTIFY: /^NOTIFY SET /,
  METADATA: /^SETMETADATA /,
  QUOTA: /^GETQUOTA /,
  'QUOTA=RES-STORAGE': /^GETQUOTA /,
  'QUOTA=RES-MESSAGE': /^GETQUOTA /,
  'QUOTA=RES-MAILBOX': /^GETQUOTAROOT /,
  APPENDLIMIT: /^STATUS .*APPENDLIMIT/,
  'COMPRESS=DEFLATE': /^COMPRESS DEFLATE$/,
};
/** Other tests show these: curl sends initial responses, and progress comes after ten seconds (test/gateways/imap/search). */
const SHOWN_ELSEWHERE = ['SASL-IR', 'INPROGRESS'];
/** Every client of the tests and of `imap-clients.test.ts` sends these commands. */
const OF_CONNECTIONS = ['LOGIN', 'LOGOUT', 'STARTTLS', 'AUTHENTICATE'];

test('the groups show every command, and every capability that the server names', async (t) => {
  const { node, user } = t.context;
  const { name, password } = await user('shown');
  const client = await TesterClient.open(serverOf(node));
  await client.ok(`LOGIN "${name}" "${password}"`);
  const { untagged } = await client.ok('CAPABILITY');
  client.destroy();
  const named = untagged[0]!.text.split(' ').map((each) => each.replace(/^APPENDLIMIT=\d+$/, 'APPENDLIMIT'));
  t.deepEqual(named.sort(), [...Object.keys(SHOWN_BY), ...SHOWN_ELSEWHERE].sort());
  const sent = readdirSync(GROUPS).flatMap((file) =>
    parseScript(readFileSync(`${GROUPS}/${file}`, 'utf8')).steps.map(({ command }) => command),
  );
  for (const [capability, form] of Object.entries(SHOWN_BY)) {
    t.true(
      sent.some((command) => form.test(command)),
      `no group shows ${capability}`,
    );
  }
  const words = new Set(sent.map((command) => command.toUpperCase().replace(/^UID /, '').split(' ')[0]!));
  for (const command of table.keys()) {
    t.true(words.has(command) || OF_CONNECTIONS.includes(command), `no group has ${command}`);
  }
});

test('fifty clients on two mailboxes of one account see the same mailbox, by responses alone', async (t) => {
  const { node, user } = t.context;
  const account = await user('stress');
  const report = await stress({ servers: [serverOf(node)], users: [account], clients: 50, commands: 60, seed: 7 });
  t.true(report.commands > 2_000);
});

test('several accounts at once stay apart', async (t) => {
  const { node, user } = t.context;
  const users = await Promise.all(['one', 'two', 'three'].map((name) => user(`apart-${name}`)));
  const report = await stress({ servers: [serverOf(node)], users, clients: 5, commands: 80, seed: 11 });
  t.true(report.commands > 800);
});

test('clients that keep copies with QRESYNC, and connect again and again, see the same mailboxes', async (t) => {
  const { node, user } = t.context;
  const users = await Promise.all(['one', 'two'].map((name) => user(`resumed-${name}`)));
  const options = { servers: [serverOf(node)], users, clients: 6, commands: 60, seed: 5, qresync: true, pauseMs: 2 };
  const report = await stress(options);
  t.deepEqual(report.users.map(({ name }) => name).sort(), users.map(({ name }) => name).sort());
  for (const { commands, longest } of report.users) t.true(commands > 200 && longest !== '');
});

test('the stress fails when an EXPUNGE names the wrong message', async (t) => {
  const { node, user } = t.context;
  const account = await user('control');
  const wrong = await proxyThat(port(node, 'imap'), (line) =>
    line.replace(/^\* (\d+) EXPUNGE$/, (_, seq) => `* ${Math.max(1, Number(seq) - 1)} EXPUNGE`),
  );
  const { port: wrongPort } = wrong.address() as AddressInfo;
  await t.throwsAsync(
    stress({ servers: [{ host: '127.0.0.1', port: wrongPort }], users: [account], clients: 8, commands: 200, seed: 3 }),
    { name: 'ServerFault' },
  );
  wrong.close();
});

/** Forwards connections; `change` may change each line of the server. */
async function proxyThat(to: number, change: (line: string) => string): Promise<Server> {
  const server = createServer((client) => {
    const upstream = connect(to, '127.0.0.1');
    let rest = '';
    upstream.on('data', (chunk) => {
      const lines = (rest + chunk.toString('latin1')).split('\r\n');
      rest = lines.pop()!;
      if (lines.length > 0) client.write(`${lines.map(change).join('\r\n')}\r\n`, 'latin1');
    });
    client.pipe(upstream);
    for (const socket of [client, upstream]) {
      socket.on('error', () => socket.destroy());
      socket.on('close', () => {
        client.destroy();
        upstream.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}
