// Tests sessions: greeting, states, commands of every state, pipelining, invalid commands, compression, and how they end.
import diagnostics from 'node:diagnostics_channel';
import { once } from 'node:events';
import net, { type Socket } from 'node:net';
import zlib from 'node:zlib';
import type { ExecutionContext } from 'ava';
import { ActorFault } from '../../../src/actors/runtime/errors.js';
import { deferred } from '../../support/deferred.js';
import { NO_TOKENS } from '../../support/no-tokens.js';
import { patiently } from '../../support/patience.js';
import test from '../../support/test.js';
import { type ImapClient, Literal } from './client.js';
import { ALICE, startImap } from './gateway.js';

const MESSAGE = 'From: a@remote.test\r\nSubject: One\r\n\r\nBody.\r\n';

const codes = async (client: ImapClient, ...lines: readonly string[]): Promise<string[]> => {
  const ends: string[] = [];
  for (const line of lines) ends.push(/^\w+( \[\w+)?/.exec((await client.command(line)).tagged)![0]);
  return ends;
};

test('each state takes its commands and no others', async (t) => {
  const gateway = await startImap(t);
  const client = await gateway.connect();
  t.deepEqual(
    await codes(client, 'NOOP', 'CHECK', 'SELECT INBOX', 'FETCH 1 FLAGS', 'ENABLE CONDSTORE', 'COMPRESS DEFLATE'),
    ['OK', ...Array<string>(5).fill('BAD')],
  );
  t.is((await client.command('LOGIN alice@example.test alice-key')).tagged.slice(0, 14), 'OK [CAPABILITY');
  t.deepEqual(
    await codes(
      client,
      'LOGIN alice@example.test alice-key',
      'AUTHENTICATE PLAIN',
      'STARTTLS',
      'CHECK',
      'FETCH 1 FLAGS',
      'SELECT INBOX',
      'CHECK',
    ),
    ['BAD', 'BAD', 'BAD', 'BAD', 'BAD', 'OK [READ', 'OK'],
  );
  t.deepEqual(await codes(client, 'EXAMINE INBOX', 'STORE 1 +FLAGS (x)', 'EXPUNGE', 'CLOSE', 'CHECK'), [
    'OK [READ',
    'NO [READ',
    'NO [READ',
    'OK',
    'BAD',
  ]);
});

test('what is no command is BAD, and the next one is read', async (t) => {
  const gateway = await startImap(t, { limits: { errors: 100 } });
  const client = await gateway.open();
  for (const line of ['NONSENSE', 'UID NOOP', 'UID', 'NOOP more', 'LIST', 'ID (', 'ID ("name")', 'SELECT', 'ENABLE']) {
    t.regex((await client.command(line)).tagged, /^BAD /, line);
    t.is((await client.command('NOOP')).tagged, 'OK NOOP completed');
  }
  for (const line of ['\r\n', '* NOOP\r\n', '+ NOOP\r\n', 'a(b NOOP\r\n']) {
    client.write(line);
    t.regex(await client.next(), /^\S+ BAD /, JSON.stringify(line));
  }
  t.is((await client.command('noop')).tagged, 'OK NOOP completed');
});

test('pipelined commands are answered in order, also those behind a literal', async (t) => {
  const gateway = await startImap(t);
  const client = await gateway.connect();
  client.write(
    'a LOGIN {18+}\r\nalice@example.test {9+}\r\nalice-key\r\nb SELECT INBOX\r\nc NOOP\r\nd UNKNOWN\r\ne CAPABILITY\r\nf LOGOUT\r\ng NOOP\r\n',
  );
  const tagged = (await client.rest()).filter((line) => /^[a-g] /.test(line));
  t.deepEqual(
    tagged.map((line) => line.split(' ').slice(0, 2).join(' ')),
    ['a OK', 'b OK', 'c OK', 'd BAD', 'e OK', 'f OK'],
  );
});

test('a client that waits is asked for its literals', async (t) => {
  const gateway = await startImap(t);
  const client = await gateway.connect();
  client.write('a LOGIN {18}\r\n');
  t.regex(await client.next(), /^\+ /);
  client.write('alice@example.test {9}\r\n');
  t.regex(await client.next(), /^\+ /);
  client.write('alice-key\r\n');
  t.regex(await client.next(), /^a OK /);
});

test('mechanisms for tokens are announced where an identity provider is configured', async (t) => {
  const client = await (await startImap(t, { tokens: NO_TOKENS })).connect();
  const [announced] = (await client.command('CAPABILITY')).untagged;
  t.regex(announced!, / AUTH=PLAIN AUTH=LOGIN AUTH=OAUTHBEARER AUTH=XOAUTH2$/);
});

test('capabilities are those of the state', async (t) => {
  const gateway = await startImap(t, { allowPlaintextAuth: false });
  const client = await gateway.connect();
  const capabilities = async () => (await client.command('CAPABILITY')).untagged[0]!.split(' ').slice(1);
  t.deepEqual(await capabilities(), [
    ...['IMAP4rev1', 'IMAP4rev2', 'SASL-IR', 'LITERAL+', 'ID', 'ENABLE', 'STARTTLS', 'LOGINDISABLED'],
  ]);
  await client.startTls();
  const before = await capabilities();
  t.deepEqual(before.slice(6), ['AUTH=PLAIN', 'AUTH=LOGIN']);
  const { tagged } = await client.command('LOGIN alice@example.test alice-key');
  const after = await capabilities();
  t.is(/\[CAPABILITY (.*)\]/.exec(tagged)![1], after.join(' '));
  t.deepEqual(
    after.filter((name) => /^(AUTH|STARTTLS|LOGIN)/.test(name)),
    [],
  );
  for (const name of [
    'IDLE',
    'UIDPLUS',
    'MOVE',
    'CONDSTORE',
    'QRESYNC',
    'ESEARCH',
    'SORT',
    'THREAD=REFERENCES',
    'APPENDLIMIT=36700160',
  ]) {
    t.true(after.includes(name), name);
  }
});

test('ENABLE tells what is new; what is not offered is passed over', async (t) => {
  const gateway = await startImap(t);
  const client = await gateway.open();
  t.deepEqual((await client.command('ENABLE imap4rev2 QRESYNC NONSENSE IDLE')).untagged, [
    'ENABLED IMAP4REV2 QRESYNC CONDSTORE',
  ]);
  t.deepEqual((await client.command('ENABLE CONDSTORE')).untagged, ['ENABLED']);
});

test('ID has 30 pairs of the longest names and values before the login, quoted or as literals', async (t) => {
  const gateway = await startImap(t);
  const client = await gateway.connect();
  const pairs = (pair: (number: string) => string) =>
    Array.from({ length: 30 }, (_, i) => pair(String(i + 10))).join(' ');
  const escaped = (octets: number) => '\\"'.repeat(octets);
  const quoted = pairs((number) => `"${number}${escaped(28)}" "${escaped(1024)}"`);
  t.regex((await client.command(`ID (${quoted})`)).tagged, /^OK /);
  const literal = (text: string) => `{${text.length}+}\r\n${text}`;
  const literals = pairs((number) => `${literal(number.padEnd(30, 'x'))} ${literal('v'.repeat(1024))}`);
  t.regex((await client.command(`ID (${literals})`)).tagged, /^OK /);
});

test('SEARCH has no charset but UTF-8 once UTF8=ACCEPT is enabled', async (t) => {
  const client = await (await startImap(t)).open();
  await client.command('SELECT INBOX');
  t.regex((await client.command('SEARCH CHARSET US-ASCII TEXT x')).tagged, /^OK /);
  await client.command('ENABLE UTF8=ACCEPT');
  for (const command of ['SEARCH', 'UID SEARCH', 'SEARCH RETURN (COUNT)']) {
    t.regex((await client.command(`${command} CHARSET US-ASCII TEXT x`)).tagged, /^BAD /);
    t.regex((await client.command(`${command} CHARSET ISO-8859-1 TEXT x`)).tagged, /^BAD /);
    t.regex((await client.command(`${command} CHARSET utf-8 TEXT x`)).tagged, /^OK /);
    t.regex((await client.command(`${command} TEXT x`)).tagged, /^OK /);
  }
  t.regex((await client.command('SORT (DATE) US-ASCII ALL')).tagged, /^OK /);
});

test('ID names the server, its version after the login only', async (t) => {
  const gateway = await startImap(t);
  const client = await gateway.connect();
  t.deepEqual((await client.command('ID ("name" "mutt" "version" NIL)')).untagged, ['ID ("name" "Mansio")']);
  await client.command('LOGIN alice@example.test alice-key');
  t.deepEqual((await client.command('ID NIL')).untagged, ['ID ("name" "Mansio" "version" "1.2.3")']);
  t.deepEqual(gateway.logged.find(({ client: named }) => named !== undefined)?.['client'], {
    name: 'mutt',
    version: null,
  });
});

test('with UIDONLY messages are named by UID alone', async (t) => {
  const gateway = await startImap(t);
  await gateway.deliver(ALICE, MESSAGE);
  const client = await gateway.open();
  t.deepEqual(await codes(client, 'ENABLE UIDONLY', 'SELECT INBOX'), ['OK', 'OK [READ']);
  for (const line of [
    'FETCH 1 FLAGS',
    'STORE 1 +FLAGS (x)',
    'SEARCH ALL',
    'SORT (DATE) UTF-8 ALL',
    'COPY 1 Archive',
    'MOVE 1 Archive',
  ]) {
    t.regex((await client.command(line)).tagged, /^BAD \[UIDREQUIRED\] /, line);
  }
  t.regex((await client.command('UID FETCH 1 FLAGS')).tagged, /^OK /);
  t.regex((await client.command('EXPUNGE')).tagged, /^OK /);
});

test('a fault of the mailbox is NO and temporary, what was done before stays, and a bug is logged', async (t) => {
  const gateway = await startImap(t);
  const client = await gateway.open();
  gateway.mailboxes.fault = 'unreachable';
  t.regex((await client.command('STATUS INBOX (MESSAGES)')).tagged, /^NO \[UNAVAILABLE\] /);
  gateway.mailboxes.fault = 'bug';
  t.is((await client.command('STATUS INBOX (MESSAGES)')).tagged, 'NO [SERVERBUG] Internal error');
  t.is(gateway.logged.filter(({ msg }) => msg === 'a command failed').length, 1);
  gateway.mailboxes.fault = undefined;
  t.regex((await client.command('STATUS INBOX (MESSAGES)')).tagged, /^OK /);
});

test('what was committed is OK although what changed cannot be read', async (t) => {
  const gateway = await startImap(t);
  await gateway.deliver(ALICE, MESSAGE);
  const client = await gateway.open();
  await client.command('SELECT INBOX');
  gateway.mailboxes.hook('append', async (_, proceed) => {
    const reply = await proceed();
    gateway.mailboxes.hook('folderChanges', () => {
      throw new ActorFault('unreachable', 'gone');
    });
    return reply;
  });
  t.regex((await client.command('APPEND INBOX ', new Literal(MESSAGE))).tagged, /^OK \[APPENDUID /);
  t.regex((await client.command('FETCH 1 FLAGS')).tagged, /^NO \[UNAVAILABLE\] /);
  gateway.mailboxes.hook('folderChanges', (_, proceed) => proceed());
  const { untagged, tagged } = await client.command('NOOP');
  t.true(untagged.includes('2 EXISTS'));
  t.is(tagged, 'OK NOOP completed');
});

test('a UID that the client knows names its message although the new size could not be told', async (t) => {
  const gateway = await startImap(t);
  const client = await gateway.open();
  await client.command('SELECT INBOX');
  gateway.mailboxes.hook('folderChanges', async (_, proceed) => {
    gateway.mailboxes.hook('folderChanges', (_again, go) => go());
    await proceed();
    throw new ActorFault('unreachable', 'the node of the mailbox has gone');
  });
  const { untagged, tagged } = await client.command('APPEND INBOX ', new Literal('Subject: 1\r\n\r\ntext\r\n'));
  t.deepEqual(untagged, []);
  const [, uid] = /^OK \[APPENDUID \d+ (\d+)\]/.exec(tagged)!;
  const stored = await client.command(`UID STORE ${uid} +FLAGS.SILENT (\\Deleted)`);
  t.deepEqual(stored.untagged.slice(0, 2), ['1 EXISTS', '0 RECENT']);
  t.deepEqual((await client.command(`UID EXPUNGE ${uid}`)).untagged, ['1 EXPUNGE']);
});

test('a client that goes away in the middle of anything harms nobody', async (t) => {
  const gateway = await startImap(t);
  for (const piece of [
    'a LOG',
    'a LOGIN {100}\r\n',
    'a AUTHENTICATE PLAIN\r\n',
    'a LOGIN alice@example.test alice-key\r\nb IDLE\r\n',
    'a LOGIN alice@example.test alice-key\r\nb APPEND INBOX {1000+}\r\nx',
  ]) {
    const client = await gateway.connect();
    client.write(piece);
    if (piece.includes('\n')) await client.next();
    client.socket.end();
    await client.rest();
    client.close();
  }
  const client = await gateway.open();
  t.is((await client.command('NOOP')).tagged, 'OK NOOP completed');
  t.deepEqual(
    gateway.logged.filter(({ level }) => (level as number) >= 40),
    [],
  );
});

test('COMPRESS: commands and responses travel compressed, and once only', async (t) => {
  const gateway = await startImap(t);
  await gateway.deliver(ALICE, `Subject: long\r\n\r\n${'The same line again and again.\r\n'.repeat(20_000)}`);
  for (const isSecure of [false, true]) {
    const client = await gateway.connect();
    if (isSecure) await client.startTls();
    await client.command('LOGIN alice@example.test alice-key');
    t.true((await client.command('CAPABILITY')).untagged[0]!.includes('COMPRESS=DEFLATE'));
    t.regex((await client.command('COMPRESS LZ4')).tagged, /^BAD /);
    t.regex((await client.command('COMPRESS DEFLATE')).tagged, /^OK /);
    client.compress();
    t.false((await client.command('CAPABILITY')).untagged[0]!.includes('COMPRESS'));
    t.regex((await client.command('COMPRESS DEFLATE')).tagged, /^NO \[COMPRESSIONACTIVE\] /);
    t.regex((await client.command('SELECT INBOX')).tagged, /^OK /);
    const { untagged } = await client.command('FETCH 1 BODY.PEEK[TEXT]');
    t.is(untagged[0]!.length, '1 FETCH (BODY[TEXT] {640000}\r\n)'.length + 640_000);
    t.regex((await client.command('APPEND INBOX ', new Literal(MESSAGE.repeat(2_000)))).tagged, /^OK /);
    client.send('IDLE');
    t.regex(await client.next(), /^\+ /);
    client.write('DONE\r\n');
    client.send('LOGOUT');
    t.regex((await client.rest()).at(-1)!, / OK LOGOUT completed$/);
  }
});

test('COMPRESS: what is no deflate ends the connection', async (t) => {
  const gateway = await startImap(t);
  const client = await gateway.open();
  t.regex((await client.command('COMPRESS DEFLATE')).tagged, /^OK /);
  client.write(Buffer.alloc(1000, 0xff));
  await client.rest();
  t.pass();
});

/** Collects the server's sockets of new connections. */
function acceptedSockets(t: ExecutionContext): readonly Socket[] {
  const sockets: Socket[] = [];
  const accepted = (message: unknown) => void sockets.push((message as { readonly socket: Socket }).socket);
  diagnostics.subscribe('net.server.socket', accepted);
  t.teardown(() => diagnostics.unsubscribe('net.server.socket', accepted));
  return sockets;
}

test('COMPRESS: what a client has sent before the OK is carried out, also when the client has ended its side', async (t) => {
  const gateway = await startImap(t);
  const accepted = acceptedSockets(t);
  const { Z_FINISH, Z_SYNC_FLUSH } = zlib.constants;
  // The client ends deflate with its last block, or without.
  for (const finishFlush of [Z_FINISH, Z_SYNC_FLUSH]) {
    const gate = deferred();
    gateway.mailboxes.hook('folderStatus', async (_, proceed) => {
      await gate.promise;
      return proceed();
    });
    const socket = net.connect({ port: gateway.port, host: '127.0.0.1', allowHalfOpen: true });
    const chunks: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    await once(socket, 'data');
    // A client of another test in this process may have had the same port before.
    const isOwn = ({ localPort, remotePort }: Socket) => localPort === gateway.port && remotePort === socket.localPort;
    const ended = once(accepted.find(isOwn)!, 'end');
    const plain = ['v LOGIN alice@example.test alice-key', 'w STATUS INBOX (MESSAGES)', 'x COMPRESS DEFLATE', ''];
    const compressed = zlib.deflateRawSync('y NOOP\r\nz LOGOUT\r\n', { finishFlush });
    socket.end(Buffer.concat([Buffer.from(plain.join('\r\n')), compressed]));
    await patiently(ended, () => 'the server to read to the end');
    gate.resolve();
    await patiently(once(socket, 'close'), () => 'the end of the session');
    const received = Buffer.concat(chunks);
    const end = 'x OK DEFLATE begins now\r\n';
    const from = received.indexOf(end) + end.length;
    const inflated = zlib.inflateRawSync(received.subarray(from), { finishFlush: Z_SYNC_FLUSH });
    t.regex(inflated.toString(), /^y OK .*\r\n\* BYE .*\r\nz OK .*\r\n$/);
  }
});

test('stopping: the command under way is answered, then the session is told to go', async (t) => {
  const gateway = await startImap(t);
  const busy = await gateway.open();
  const idle = await gateway.open();
  idle.send('IDLE');
  await idle.next();
  const waiting = await gateway.connect();
  const gate = deferred();
  const asked = deferred();
  gateway.mailboxes.hook('folderStatus', async (_, proceed) => {
    asked.resolve();
    await gate.promise;
    return proceed();
  });
  const tag = busy.send('STATUS INBOX (MESSAGES)');
  await asked.promise;
  gateway.listener.beginDrain();
  const bye = '* BYE [UNAVAILABLE] The server is stopping, connect again';
  t.is((await idle.rest()).at(-1), bye);
  t.is((await waiting.rest()).at(-1), bye);
  gate.resolve();
  t.regex((await busy.answer(tag)).tagged, /^OK /);
  t.deepEqual(await busy.rest(), [bye]);
  await gateway.listener.stop(5_000);
  t.is(gateway.listener.connections, 0);
});
