// Tests IDLE: what the client is told, and how it ends.

import { createFolderMirrors } from '../../../../src/gateways/imap/view/folder-mirrors.js';
import test from '../../../support/test.js';
import type { ImapClient } from '../client.js';
import { ALICE, startImap } from '../gateway.js';

const MESSAGE = 'From: a@b.test\r\nSubject: x\r\n\r\nhello\r\n';

/** Begins IDLE and returns its tag. */
async function idle(client: ImapClient): Promise<string> {
  const tag = client.send('IDLE');
  const answer = await client.next();
  if (!answer.startsWith('+ ')) throw new Error(answer);
  return tag;
}

async function received(client: ImapClient, count: number): Promise<string[]> {
  const lines: string[] = [];
  while (lines.length < count) lines.push(await client.next());
  return lines;
}

test('changes are told while the client idles, and DONE ends it', async (t) => {
  const gateway = await startImap(t);
  await gateway.deliver(ALICE, MESSAGE);
  const [client, other] = [await gateway.open(), await gateway.open()];
  await client.command('SELECT INBOX');
  await other.command('SELECT INBOX');
  const tag = await idle(client);
  await gateway.deliver(ALICE, MESSAGE);
  t.deepEqual(await received(client, 2), ['* 2 EXISTS', '* 0 RECENT']);
  await other.command('STORE 1 +FLAGS \\Deleted');
  t.deepEqual(await received(client, 1), ['* 1 FETCH (UID 1 FLAGS (\\Deleted))']);
  await other.command('EXPUNGE');
  t.deepEqual(await received(client, 3), ['* 1 EXPUNGE', '* 1 EXISTS', '* 0 RECENT']);
  client.write('done\r\n');
  const { untagged, tagged } = await client.answer(tag);
  t.deepEqual(untagged, []);
  t.regex(tagged, /^OK/);
  await gateway.deliver(ALICE, MESSAGE);
  t.deepEqual((await client.command('NOOP')).untagged, ['2 EXISTS', '0 RECENT']);
});

test('the number of messages is told again when messages go after others have come, and not otherwise', async (t) => {
  const gateway = await startImap(t);
  for (let i = 0; i < 3; i++) await gateway.deliver(ALICE, MESSAGE);
  const [client, other] = [await gateway.open(), await gateway.open()];
  await client.command('ENABLE QRESYNC IMAP4rev2');
  await client.command('SELECT INBOX');
  await other.command('SELECT INBOX');
  await other.command('STORE 1:2 +FLAGS.SILENT (\\Deleted)');
  await client.command('NOOP');
  const tag = await idle(client);
  await other.command('UID EXPUNGE 1');
  t.deepEqual(await received(client, 1), ['* VANISHED 1']);
  await gateway.deliver(ALICE, MESSAGE);
  t.deepEqual(await received(client, 1), ['* 3 EXISTS']);
  await other.command('UID EXPUNGE 2');
  t.deepEqual(await received(client, 2), ['* VANISHED 2', '* 2 EXISTS']);
  client.write('DONE\r\n');
  t.regex((await client.answer(tag)).tagged, /^OK/);
});

test('the number of messages is told again also when the first change of IDLE is new and gone messages together', async (t) => {
  const gateway = await startImap(t);
  for (let i = 0; i < 3; i++) await gateway.deliver(ALICE, MESSAGE);
  const [client, other] = [await gateway.open(), await gateway.open()];
  for (const each of [client, other]) {
    await each.command('ENABLE QRESYNC IMAP4rev2');
    await each.command('SELECT INBOX');
  }
  await other.command('STORE 1:3 +FLAGS.SILENT (\\Deleted)');
  await client.command('NOOP');
  await other.command('UID EXPUNGE 1:2');
  await gateway.deliver(ALICE, MESSAGE);
  t.deepEqual((await other.command('NOOP')).untagged, ['2 EXISTS']);
  const tag = await idle(client);
  t.deepEqual(await received(client, 2), ['* VANISHED 1:2', '* 2 EXISTS']);
  await other.command('UID EXPUNGE 3');
  t.deepEqual(await received(client, 2), ['* VANISHED 3', '* 1 EXISTS']);
  client.write('DONE\r\n');
  const { untagged, tagged } = await client.answer(tag);
  t.deepEqual(untagged, []);
  t.regex(tagged, /^OK/);
});

test('what waited to be told is told when the client begins to idle', async (t) => {
  const gateway = await startImap(t);
  await gateway.deliver(ALICE, MESSAGE);
  await gateway.deliver(ALICE, MESSAGE);
  const [client, other] = [await gateway.open(), await gateway.open()];
  await client.command('SELECT INBOX');
  await other.command('SELECT INBOX');
  await other.command('STORE 1 +FLAGS.SILENT \\Deleted');
  await other.command('EXPUNGE');
  t.deepEqual((await client.command('FETCH 2 UID')).untagged, ['2 FETCH (UID 2)']);
  const tag = await idle(client);
  t.deepEqual(await received(client, 1), ['* 1 EXPUNGE']);
  client.write('DONE\r\n');
  t.regex((await client.answer(tag)).tagged, /^OK/);
});

test('what comes before DONE is read is told before the end of IDLE', async (t) => {
  const gateway = await startImap(t);
  const client = await gateway.open();
  await client.command('SELECT INBOX');
  for (let i = 1; i <= 20; i++) {
    const tag = await idle(client);
    await gateway.deliver(ALICE, MESSAGE);
    client.write('DONE\r\n');
    t.deepEqual((await client.answer(tag)).untagged, [`${i} EXISTS`, '0 RECENT']);
  }
});

test('the number of messages is told again also when messages go between DONE and the end of IDLE', async (t) => {
  const gateway = await startImap(t);
  const { refs } = gateway.mailboxes;
  let arrived = () => {};
  let wait: Promise<void> | undefined;
  const ask: typeof refs.of = (accountId) => {
    const ref = refs.of(accountId);
    const heldBack: typeof ref.ask = async (name, ...rest) => {
      if (name === 'folderChanges') arrived();
      await wait;
      return ref.ask(name, ...rest);
    };
    return { ...ref, ask: heldBack };
  };
  Object.assign(gateway.context, { mirrors: createFolderMirrors({ mailboxes: { of: ask } }) });
  for (let i = 0; i < 2; i++) await gateway.deliver(ALICE, MESSAGE);
  const [client, other] = [await gateway.open(), await gateway.open()];
  await client.command('SELECT INBOX');
  await client.command('STORE 1 +FLAGS.SILENT (\\Deleted)');
  const tag = await idle(client);
  await gateway.deliver(ALICE, MESSAGE);
  t.deepEqual(await received(client, 2), ['* 3 EXISTS', '* 0 RECENT']);
  let release = () => {};
  wait = new Promise<void>((resolve) => {
    release = resolve;
  });
  const asked = new Promise<void>((resolve) => {
    arrived = resolve;
  });
  await refs.of(ALICE).ask('expunge', { folderId: 'inbox' });
  await asked;
  client.write('DONE\r\n');
  // Once the node has answered these commands, it has read DONE as well.
  for (let i = 0; i < 3; i++) await other.command('NOOP');
  release();
  t.deepEqual((await client.answer(tag)).untagged, ['1 EXPUNGE', '2 EXISTS', '0 RECENT']);
});

test('anything but DONE is refused, and a line that is too long', async (t) => {
  const client = await (await startImap(t)).open();
  await client.command('SELECT INBOX');
  let tag = await idle(client);
  client.write('NOOP\r\n');
  t.regex((await client.answer(tag)).tagged, /^BAD/);
  tag = await idle(client);
  client.write(`${'DONE'.repeat(100)}\r\n`);
  t.regex((await client.answer(tag)).tagged, /^BAD/);
  t.regex((await client.command('NOOP')).tagged, /^OK/);
});

test('a client may idle without a mailbox, and hears that the connection is alive', async (t) => {
  const client = await (await startImap(t, { limits: { heartbeatMs: 10 } })).open();
  const tag = await idle(client);
  t.deepEqual(await received(client, 2), ['* OK Still here', '* OK Still here']);
  client.write('DONE\r\n');
  t.regex((await client.answer(tag)).tagged, /^OK/);
});

test('a client that idles goes on after a takeover', async (t) => {
  const gateway = await startImap(t);
  await gateway.deliver(ALICE, MESSAGE);
  const client = await gateway.open();
  await client.command('SELECT INBOX');
  const tag = await idle(client);
  gateway.mailboxes.reload();
  await gateway.deliver(ALICE, MESSAGE);
  t.deepEqual(await received(client, 2), ['* 2 EXISTS', '* 0 RECENT']);
  client.write('DONE\r\n');
  t.regex((await client.answer(tag)).tagged, /^OK/);
});

test('a client whose mailbox is deleted while it idles is told so, and the connection ends', async (t) => {
  const gateway = await startImap(t);
  const [client, other] = [await gateway.open(), await gateway.open()];
  await other.command('CREATE work');
  await client.command('SELECT work');
  await idle(client);
  await other.command('DELETE work');
  t.true((await client.rest()).some((line) => line.startsWith('* BYE')));
});

test('IDLE ends after the time that a session may be idle', async (t) => {
  // A busy machine logs in within this time.
  const client = await (await startImap(t, { limits: { idleMs: 5000 } })).open();
  await idle(client);
  t.true((await client.rest()).some((line) => line.startsWith('* BYE')));
});
