// Tests IMAP when the database hangs or the node stops, with sessions in every state. A command soon gets NO [UNAVAILABLE],
// the session continues with the next one, and a refused message is not there.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { TesterClient } from '../../../dev/imap-tester/tester-client.js';
import { createAccount, port, storeOf, type TestAccount } from '../../../dev/node-accounts.js';
import { hangDatabase } from '../../support/database/hung-database.js';
import { preparedDirectory } from '../../support/database/prepared-cluster.js';
import { startTestNode, type TestNode } from '../../support/node.js';
import test from '../../support/test.js';
import { eventually } from '../cluster/support/eventually.js';

const SETTINGS = { MANSIO_HOSTED_DOMAINS: 'example.test', MANSIO_ALLOW_PLAINTEXT_AUTH: 'true' };

const message = (subject: string, octets = 10) =>
  Buffer.from(`Message-ID: <${subject}@fault.test>\r\nSubject: ${subject}\r\n\r\n${'x'.repeat(octets)}\r\n`);

async function accountOn(node: TestNode): Promise<TestAccount> {
  const sql = await storeOf(node);
  const account = await createAccount(sql, 'anna@example.test');
  await sql.end();
  return account;
}

async function session(node: TestNode, { email, key }: TestAccount): Promise<TesterClient> {
  const client = await TesterClient.open({ host: '127.0.0.1', port: port(node, 'imap') });
  await client.ok(`LOGIN "${email}" "${key}"`);
  await client.select('INBOX');
  return client;
}

test('while the database hangs commands are refused for now, and the sessions go on afterwards', async (t) => {
  t.timeout(600_000);
  const node = await startTestNode({ ...SETTINGS, MANSIO_DATA_DIR: await preparedDirectory('mansio-hang-') });
  t.teardown(() => node.stop());
  const account = await accountOn(node);
  const commands: readonly (readonly [name: string, ...pieces: (string | Buffer)[]])[] = [
    ['APPEND', 'APPEND INBOX ', message('refused')],
    ['APPEND of much', 'APPEND INBOX ', message('refused too', 1_000_000)],
    ['STORE', 'STORE 1 +FLAGS (\\Flagged)'],
    ['COPY', 'COPY 1 Archive'],
    ['MOVE', 'MOVE 1 Archive'],
    ['EXPUNGE', 'EXPUNGE'],
    ['CREATE', 'CREATE Refused'],
    ['FETCH', 'FETCH 2 BODY.PEEK[]'],
  ];
  const clients = await Promise.all(commands.map(() => session(node, account)));
  const waiting = await session(node, account);
  for (const subject of ['one', 'two']) await clients[0]!.ok('APPEND INBOX ', message(subject));
  await Promise.all(clients.map((client) => client.ok('NOOP')));
  await waiting.ok('NOOP');
  await waiting.ok('STORE 2 +FLAGS (\\Deleted)');
  await Promise.all(clients.map((client) => client.ok('NOOP')));
  const idle = await waiting.idle();

  const goOn = hangDatabase(t, node);
  const refused = await Promise.all(
    commands.map(async ([name, ...pieces], i) => {
      const { completion } = await clients[i]!.run(...pieces);
      return `${name}: ${completion.name} ${completion.code}`;
    }),
  );
  goOn();
  t.deepEqual(
    refused,
    commands.map(([name]) => `${name}: NO UNAVAILABLE`),
  );
  await eventually('the sessions to be served again', async () => {
    const { completion } = await clients[0]!.run('APPEND INBOX ', message('afterwards'));
    return completion.name === 'OK';
  });
  // The connections that hung are replaced one by one.
  for (const [i, client] of clients.entries())
    await eventually(
      `session ${i} to be served again`,
      async () => (await client.run('NOOP')).completion.name === 'OK',
    );
  await idle.done();
  // A change that the database received before it hung may be there; all sessions know the true state.
  const fresh = await session(node, account);
  for (const client of [...clients, waiting]) {
    await client.ok('NOOP');
    t.is(client.mailbox!.messages.length, fresh.mailbox!.messages.length);
  }
  const { untagged } = await fresh.ok('FETCH 1:* (ENVELOPE)');
  const texts = untagged.map(({ raw }) => raw).join('\n');
  t.true(texts.includes('afterwards'));
  t.false(texts.includes('refused'), 'a message that was refused is there');
  fresh.destroy();
  for (const client of [...clients, waiting]) client.destroy();
});

/** Returns everything that the server sends until it closes. */
async function untilClosed(socket: Socket): Promise<string> {
  let received = '';
  socket.on('data', (chunk) => {
    received += chunk.toString('latin1');
  });
  socket.on('error', () => {});
  await once(socket, 'close');
  return received;
}

test('a node that stops says BYE to sessions in every state, and stops in time', async (t) => {
  const node = await startTestNode(SETTINGS);
  const { email, key } = await accountOn(node);
  const open = async (...lines: string[]) => {
    const socket = connect(port(node, 'imap'), '127.0.0.1');
    await once(socket, 'data');
    for (const line of lines) {
      socket.write(line);
      if (line.endsWith('\n')) await once(socket, 'data');
    }
    return socket;
  };
  const login = `a LOGIN "${email}" "${key}"\r\n`;
  const states: Record<string, Socket> = {
    'before the login': await open(),
    'after the login': await open(login),
    'with a mailbox': await open(login, 'b SELECT INBOX\r\n'),
    'in IDLE': await open(login, 'b SELECT INBOX\r\n', 'c IDLE\r\n'),
    'in half a line': await open(login, 'b NOO'),
    'in a literal': await open(login, 'b APPEND INBOX {100}\r\n', 'Subject: half'),
  };
  const ends = Object.entries(states).map(async ([state, socket]) => [state, await untilClosed(socket)] as const);
  t.deepEqual(await node.stop(), { code: 0, signal: null });
  for (const [state, said] of await Promise.all(ends)) {
    const isCut = state.startsWith('in half') || state.startsWith('in a');
    t.true(isCut || said.includes('* BYE'), `${state}: ${said}`);
  }
});
