// Tests how an appended message gets into the store: with the commit of the mailbox or before it, in bounded memory, and not at all when
// the connection is cut or the store fails.
import { temporaryDirectory } from '../../../../dev/temporary-directory.js';
import type { MailboxProtocol } from '../../../../src/actors/mailbox/protocol.js';
import { ActorFault } from '../../../../src/actors/runtime/errors.js';
import type { Payload } from '../../../../src/actors/runtime/protocol.js';
import { encodeModifiedUtf7 } from '../../../../src/mail-format/modified-utf7.js';
import { Spool } from '../../../../src/message-content/spool/spool.js';
import { StoreFault } from '../../../../src/store/errors.js';
import { InlineMessages } from '../../../../src/store/inline/inline-messages.js';
import test from '../../../support/test.js';
import { turn } from '../../../support/turns.js';
import { Literal } from '../client.js';
import { startImap } from '../gateway.js';
import { BYTES, emailsIn, uidOf } from './appended-messages.js';

test('a connection that is cut in a message leaves nothing behind', async (t) => {
  const gateway = await startImap(t);
  const client = await gateway.open();
  client.write('x1 APPEND Drafts {500000+}\r\n').write(Buffer.alloc(300_000, 'x'));
  const { spool } = gateway.context;
  const until = async (isReached: () => boolean) => {
    while (!isReached()) await turn();
  };
  await until(() => spool.memory.used > 0);
  client.close();
  await until(() => spool.memory.used === 0 && spool.disk.used === 0);
  t.is(gateway.blobs.blobs.size, 0);
  t.deepEqual(await emailsIn(gateway, 'drafts'), []);
  t.deepEqual(
    gateway.logged.filter(({ level }) => (level as number) >= 50),
    [],
  );
});

test('a large message passes through bounded memory', async (t) => {
  const gateway = await startImap(t);
  const client = await gateway.open();
  const large = Buffer.concat([Buffer.from('Subject: large\r\n\r\n'), Buffer.alloc(20_000_000, 'line of text\r\n')]);
  let most = 0;
  const { spool, blobs } = gateway.context;
  const watch = setInterval(() => {
    most = Math.max(most, spool.memory.used);
  }, 1);
  const { tagged } = await client.command('APPEND Archive ', new Literal(large));
  clearInterval(watch);
  t.is(uidOf(tagged), '1');
  t.true(most < 1_000_000, `${most}`);
  t.is(spool.memory.used, 0);
  t.is(spool.disk.used, 0);
  const [hash] = [...gateway.blobs.blobs.keys()];
  t.true(large.equals(Buffer.from(await blobs.read(hash!, 0, large.length))));
});

function handleOf(payload: unknown): 'inline' | 'stored' {
  const { messages } = payload as Payload<MailboxProtocol, 'append'>;
  return 'inlineId' in messages[0]! ? 'inline' : 'stored';
}

/** Returns whether the appended messages are inline or stored, in order. */
function appendsAsked(gateway: Awaited<ReturnType<typeof startImap>>): string[] {
  const asked: string[] = [];
  gateway.mailboxes.hook('append', (payload, ask) => {
    asked.push(handleOf(payload));
    return ask();
  });
  return asked;
}

test('a message that the mailbox does not take is stored first', async (t) => {
  const gateway = await startImap(t);
  const client = await gateway.open();
  const asked = appendsAsked(gateway);
  const append = async (mailbox: string, ...message: (string | Literal)[]) => {
    asked.length = 0;
    const { tagged } = await client.command(`APPEND ${mailbox} `, ...message);
    return [uidOf(tagged), ...asked];
  };
  t.deepEqual(await append('Drafts', new Literal(BYTES)), ['1', 'inline']);
  t.deepEqual(await append('Drafts', new Literal(BYTES), ' ', new Literal(BYTES)), ['2:3', 'inline']);
  t.deepEqual(await append('Sent', new Literal(BYTES)), ['1', 'inline']);
  t.deepEqual(await append('Sent', new Literal(BYTES)), ['2', 'inline']);
  t.deepEqual(await append('Sent', new Literal(BYTES), ' ', new Literal(BYTES)), ['3:4', 'inline']);
  t.deepEqual(await append('Drafts', new Literal(Buffer.alloc(300_000, 'x\r\n'))), ['4', 'stored']);
  const many = (count: number, octets: number) =>
    Array.from({ length: count }, (_, n) => [' ', new Literal(`Subject: ${n}\r\n\r\n${'x'.repeat(octets)}`)])
      .flat()
      .slice(1);
  t.deepEqual(await append('Archive', ...many(100, 5_000)), ['1:100', 'inline']);
  t.deepEqual(await append('Archive', ...many(101, 10)), ['101:201', 'stored']);
  t.deepEqual(await append('Archive', ...many(3, 200_000)), ['202:204', 'stored']);
  const inline = (around: (ask: () => Promise<unknown>) => Promise<unknown>) =>
    gateway.mailboxes.hook('append', (payload, ask) => {
      if (handleOf(payload) === 'inline') return around(ask);
      asked.push('stored');
      return ask();
    });
  const gone = new ActorFault('unreachable', 'the owner is gone');
  inline(() => Promise.reject(gone));
  t.deepEqual(await append('Drafts', new Literal(BYTES)), ['5', 'stored']);
  t.deepEqual(await append('Archive', ...many(2, 10)), ['205:206', 'stored']);
  // The mailbox takes the message, but its answer is lost.
  inline(async (ask) => {
    await ask();
    throw gone;
  });
  t.deepEqual(await append('Drafts', new Literal(BYTES)), ['6']);
  t.is(gateway.context.spool.memory.used, 0);
});

test('a message that nobody asks for goes to the mailbox of that name at the time of its commit', async (t) => {
  const gateway = await startImap(t);
  const [client, other] = [await gateway.open(), await gateway.open()];
  const name = `"${encodeModifiedUtf7('Zoë 💌')}"`;
  const asked: string[] = [];
  const { mailboxes, blobs } = gateway;
  /** `around`: of an inline message. */
  const hooked = (around: (ask: () => Promise<unknown>) => Promise<unknown> = (ask) => ask()) =>
    mailboxes.hook('append', (payload, ask) => {
      asked.push(handleOf(payload));
      return handleOf(payload) === 'inline' ? around(ask) : ask();
    });
  const append = async (mailbox: string, ...messages: string[]) => {
    asked.length = 0;
    const parts = messages.flatMap((text) => [' ', new Literal(`Subject: ${text}\r\n\r\n${text}`)]);
    const { tagged } = await client.command(`APPEND ${mailbox}`, ...parts);
    return [/^OK/.test(tagged) ? uidOf(tagged) : tagged.split(' ')[1], ...asked];
  };
  mailboxes.hook('folderAt', (_, ask) => {
    asked.push('folderAt');
    return ask();
  });
  hooked();
  t.deepEqual(await append(name, 'lost'), ['[TRYCREATE]', 'inline', 'folderAt']);
  t.deepEqual(await append('a//b', 'lost'), ['[NONEXISTENT]', 'inline', 'folderAt']);
  t.deepEqual(await append(name, 'lost', 'lost'), ['[TRYCREATE]', 'folderAt']);
  t.is(blobs.blobs.size, 0);
  await client.command(`CREATE ${name}`);
  t.deepEqual(await append(name, 'first'), ['1', 'inline']);
  t.deepEqual(await append(name.replace('Zo', 'zO'), 'second'), ['2', 'inline']);
  t.deepEqual(await append(name, 'third', 'fourth'), ['3:4', 'folderAt', 'inline']);
  t.deepEqual(await append('sEnt', 'sent'), ['1', 'inline']);
  t.deepEqual(await append(name, 'x'.repeat(300_000)), ['5', 'folderAt', 'stored']);
  const { size } = blobs.blobs;
  // After the rename no mailbox has this name, so the message is refused.
  hooked(async (ask) => {
    await other.command(`RENAME ${name} Elsewhere`);
    return ask();
  });
  t.deepEqual(await append(name, 'lost'), ['[TRYCREATE]', 'inline', 'folderAt']);
  t.is(blobs.blobs.size, size);
  hooked(async (ask) => {
    const answer = await ask();
    await other.command(`CREATE ${name}`);
    return answer;
  });
  t.deepEqual(await append(name, 'sixth'), ['1', 'inline', 'folderAt', 'inline']);
  hooked(() => Promise.reject(new ActorFault('unreachable', 'the owner is gone')));
  t.deepEqual(await append(name, 'seventh'), ['2', 'inline', 'folderAt', 'stored']);
  t.is(gateway.context.spool.memory.used, 0);
});

test('messages wait for the commit of the mailbox in bounded memory, and not in files', async (t) => {
  const directory = temporaryDirectory('mansio-held-');
  const gateway = await startImap(t, {
    limits: { bufferedOctetsPerAccount: 100_000 },
    spool: new Spool({ directory, memoryShare: 200_000 }),
  });
  const { spool, memory } = gateway.context;
  const client = await gateway.open();
  const asked = appendsAsked(gateway);
  const append = async (count: number, text: string) => {
    asked.length = 0;
    const parts = Array.from({ length: count }, (_, n) => [' ', new Literal(`Subject: ${n} 💌\r\n${text}`)]).flat();
    const { tagged } = await client.command('APPEND Drafts', ...parts);
    t.regex(tagged, /^OK /);
    t.deepEqual([spool.memory.used, memory.messages.used], [0, 0]);
    return asked.join();
  };
  const parts = `Content-Type: multipart/mixed; boundary=b\r\n\r\n${'--b\r\n\r\n'.repeat(900)}`;
  t.is(await append(5, '\r\nx\r\n'), 'inline');
  t.is(await append(50, '\r\nx\r\n'), 'stored');
  t.is(await append(1, parts), 'inline');
  t.is(await append(2, parts), 'stored');
  // The second message is in a file.
  t.is(await append(2, `\r\n${'x'.repeat(120_000)}`), 'stored');
  // The client is cut off here.
  client.write('x1 APPEND Drafts');
  for (let i = 0; i < 5; i++) client.write(' {10+}\r\nSubject: x');
  while (memory.messages.used === 0) await turn();
  client.close();
  while (memory.messages.used > 0) await turn();
  t.is(spool.memory.used, 0);
});

test('a store that fails is a temporary failure, and nothing is kept', async (t) => {
  const gateway = await startImap(t);
  const client = await gateway.open();
  const { put } = gateway.blobs;
  let puts = 0;
  gateway.blobs.put = (content) =>
    ++puts === 2
      ? Promise.reject(new StoreFault('store-unavailable', 'no database', { temporary: true }))
      : put.call(gateway.blobs, content);
  const body = 'x'.repeat(20_000);
  const messages = Array.from({ length: 40 }, (_, n) => [' ', new Literal(`Subject: ${n}\r\n\r\n${body}`)]).flat();
  t.regex((await client.command('APPEND Drafts', ...messages)).tagged, /^NO \[UNAVAILABLE\] /);
  t.true(puts < 40, `${puts}`);
  t.is(gateway.context.spool.memory.used, 0);
  gateway.mailboxes.fault = 'unreachable';
  t.regex((await client.command('APPEND Drafts ', new Literal(BYTES))).tagged, /^NO \[UNAVAILABLE\] /);
  gateway.mailboxes.fault = undefined;
  t.regex((await client.command('APPEND Drafts ', new Literal(BYTES))).tagged, /^OK /);
  t.is((await emailsIn(gateway, 'drafts')).length, 1);
  t.is(gateway.context.spool.memory.used, 0);
});

/** Appends two messages, the second one by CATENATE; `x1` is the tag. */
const COMMAND = Buffer.concat([
  Buffer.from(`x1 APPEND {6+}\r\nDrafts (\\Seen) "01-Feb-2020 03:04:05 +0100" {${BYTES.length}+}\r\n`),
  BYTES,
  Buffer.from(' CATENATE (URL {15+}\r\n/Archive/;UID=1 TEXT {5+}\r\n\r\nend URL /Archive/;UID=1)\r\n'),
]);

test('a connection that is cut at any octet of the command leaves nothing behind', async (t) => {
  const gateway = await startImap(t);
  const client = await gateway.open();
  await client.command('APPEND Archive ', new Literal('Subject: source\r\n\r\nx'));
  for (let cut = 0; cut < COMMAND.length; cut += 3) {
    const other = await gateway.open();
    other.write(COMMAND.subarray(0, cut));
    other.socket.end();
    await other.rest();
  }
  t.deepEqual(await emailsIn(gateway, 'drafts'), []);
  t.is(gateway.context.spool.memory.used, 0);
  t.regex((await client.command('NOOP')).tagged, /^OK /);
  const bugs = gateway.logged.filter(({ level }) => (level as number) >= 50);
  t.deepEqual(bugs, []);
});

test('the pieces in which a command arrives make no difference', async (t) => {
  const gateway = await startImap(t);
  const client = await gateway.open();
  await client.command('APPEND Archive ', new Literal('Subject: source\r\n\r\nx'));
  let uids = 0;
  for (const size of [1, 2, 7, 40, COMMAND.length]) {
    const other = await gateway.open();
    other.socket.setNoDelay(true);
    for (let at = 0; at < COMMAND.length; at += size) {
      await new Promise((resolve) => other.socket.write(COMMAND.subarray(at, at + size), resolve));
    }
    t.regex(await other.next(), new RegExp(`^x1 OK \\[APPENDUID \\d+ ${uids + 1}:${uids + 2}\\] `));
    other.close();
    uids += 2;
  }
  const subjects = (await emailsIn(gateway, 'drafts')).map(({ subject }) => subject);
  t.deepEqual(subjects.sort(), [...Array(5).fill('Hello'), ...Array(5).fill('source')]);
});

test('an owner on another node that has no such mailbox is still given the next message', async (t) => {
  const gateway = await startImap(t, { inlineMessages: new InlineMessages(() => false) });
  const client = await gateway.open();
  const asked = appendsAsked(gateway);
  t.regex((await client.command('APPEND nowhere ', new Literal(BYTES))).tagged, /^NO \[TRYCREATE\]/);
  t.is(uidOf((await client.command('APPEND Archive ', new Literal(BYTES))).tagged), '1');
  t.deepEqual(asked, ['inline', 'inline']);
});
