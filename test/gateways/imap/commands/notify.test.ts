// Tests NOTIFY: which changes of the selected mailbox and of others are told outside of commands.
import test from '../../../support/test.js';
import { type ImapClient, Literal } from '../client.js';
import { ALICE, startImap } from '../gateway.js';

const message = (subject: string) => `From: a@b.test\r\nSubject: ${subject}\r\n\r\nhello\r\n`;

async function received(client: ImapClient, count: number): Promise<string[]> {
  const lines: string[] = [];
  while (lines.length < count)
    lines.push((await client.next()).replace(/ UIDVALIDITY \d+| HIGHESTMODSEQ [1-9]\d*/g, ''));
  return lines;
}

test('new messages, flags and expunges of other mailboxes are told as STATUS', async (t) => {
  const gateway = await startImap(t);
  await gateway.deliver(ALICE, message('1'));
  const [client, other] = [await gateway.open(), await gateway.open()];
  await client.command('CREATE work');
  await client.command('SELECT work');
  const { tagged } = await client.command('NOTIFY SET (personal (MessageNew MessageExpunge FlagChange))');
  t.regex(tagged, /^OK/);
  await gateway.deliver(ALICE, message('2'));
  t.deepEqual(await received(client, 1), ['* STATUS INBOX (MESSAGES 2 UIDNEXT 3 UNSEEN 2)']);
  await other.command('SELECT INBOX');
  await other.command('STORE 1 +FLAGS (\\Seen \\Deleted)');
  t.deepEqual(await received(client, 1), ['* STATUS INBOX (MESSAGES 2 UIDNEXT 3 UNSEEN 1)']);
  await other.command('EXPUNGE');
  t.deepEqual(await received(client, 1), ['* STATUS INBOX (MESSAGES 1 UIDNEXT 3 UNSEEN 1)']);
  await other.command('COPY 1 work');
  t.deepEqual((await client.command('NOOP')).untagged, ['1 EXISTS', '0 RECENT'], 'the selected mailbox has no group');
});

test('STATUS at once for the mailboxes whose messages are wanted', async (t) => {
  const gateway = await startImap(t);
  await gateway.deliver(ALICE, message('1'));
  const client = await gateway.open();
  const set = 'NOTIFY SET STATUS (mailboxes (INBOX nowhere) (MessageNew MessageExpunge)) (personal (MailboxName))';
  const [, modseq] = /HIGHESTMODSEQ (\d+)/.exec((await client.command('STATUS INBOX (HIGHESTMODSEQ)')).untagged[0]!)!;
  const fresh = await gateway.open();
  const { untagged } = await fresh.command(set);
  t.deepEqual(
    untagged.map((line) => line.replace(/ UIDVALIDITY \d+/, '')),
    [`STATUS INBOX (MESSAGES 1 UIDNEXT 2 UNSEEN 1 HIGHESTMODSEQ ${modseq})`],
  );
});

test('mailboxes that are made, renamed, deleted and subscribed are told as LIST', async (t) => {
  const gateway = await startImap(t);
  const [client, other] = [await gateway.open(), await gateway.open()];
  await client.command('NOTIFY SET (subtree work (MailboxName SubscriptionChange))');
  await other.command('CREATE elsewhere');
  await other.command('CREATE work/a');
  t.regex((await received(client, 1))[0]!, /^\* LIST \(.*\) "\/" work\/a$/);
  await other.command('RENAME work/a work/b');
  t.regex((await received(client, 1))[0]!, /^\* LIST \(.*\) "\/" work\/b \("OLDNAME" \(work\/a\)\)$/);
  await other.command('UNSUBSCRIBE work/b');
  t.deepEqual(await received(client, 1), ['* LIST () "/" work/b']);
  await other.command('SUBSCRIBE work/b');
  t.deepEqual(await received(client, 1), ['* LIST (\\Subscribed) "/" work/b']);
  await other.command('RENAME work/b away');
  t.regex((await received(client, 1))[0]!, /away \("OLDNAME" \(work\/b\)\)$/);
  await other.command('RENAME away work/c');
  await received(client, 1);
  await other.command('DELETE work/c');
  t.deepEqual(await received(client, 1), ['* LIST (\\NonExistent) "/" work/c']);
});

test('the first group that has a mailbox counts for it', async (t) => {
  const gateway = await startImap(t);
  const [client, other] = [await gateway.open(), await gateway.open()];
  await client.command('NOTIFY SET (mailboxes INBOX NONE) (personal (MessageNew MessageExpunge))');
  await gateway.deliver(ALICE, message('1'));
  await other.command('SELECT INBOX');
  await other.command('COPY 1 Archive');
  t.deepEqual(await received(client, 1), ['* STATUS Archive (MESSAGES 1 UIDNEXT 2 UNSEEN 1)']);
});

test('new messages of the selected mailbox come with what was asked of them, and stay unread', async (t) => {
  const gateway = await startImap(t);
  await gateway.deliver(ALICE, message('1'));
  const client = await gateway.open();
  await client.command('SELECT INBOX');
  const set = 'NOTIFY SET (selected (MessageNew (UID BODY[HEADER.FIELDS (SUBJECT)]) MessageExpunge FlagChange))';
  t.regex((await client.command(set)).tagged, /^OK/);
  await gateway.deliver(ALICE, message('2'));
  const [exists, recent, fetch] = await received(client, 3);
  t.deepEqual([exists, recent], ['* 2 EXISTS', '* 0 RECENT']);
  t.regex(fetch!, /^\* 2 FETCH \(UID 2 BODY\[HEADER.FIELDS \(SUBJECT\)\] \{\d+\}\r\nSubject: 2/);
  t.deepEqual((await client.command('FETCH 2 FLAGS')).untagged, ['2 FETCH (FLAGS ())']);
  const other = await gateway.open();
  await other.command('SELECT INBOX');
  await other.command('STORE 1 +FLAGS (\\Deleted)');
  t.deepEqual(await received(client, 1), ['* 1 FETCH (UID 1 FLAGS (\\Deleted))']);
  await other.command('EXPUNGE');
  t.deepEqual(await received(client, 1), ['* 1 EXPUNGE']);
});

test('a client is not told of what it has put into mailboxes itself', async (t) => {
  const gateway = await startImap(t);
  const [client, other] = [await gateway.open(), await gateway.open()];
  await client.command('SELECT INBOX');
  const events = 'MessageNew MessageExpunge FlagChange';
  await client.command(`NOTIFY SET (selected (MessageNew (UID) MessageExpunge)) (personal (${events}))`);
  const { untagged } = await client.command('APPEND INBOX ', new Literal(message('1')));
  t.deepEqual(untagged, ['1 EXISTS', '0 RECENT']);
  await client.command('APPEND Archive ', new Literal(message('2')));
  await client.command('COPY 1 Archive');
  await client.command('COPY 1 INBOX');
  await client.command('UID MOVE 1 Trash');
  await other.command('APPEND INBOX ', new Literal(message('3')));
  const told = await received(client, 3);
  t.deepEqual(told, ['* 2 EXISTS', '* 0 RECENT', '* 2 FETCH (UID 3)'], 'of what others bring it is');
  await other.command('APPEND Archive ', new Literal(message('4')));
  t.deepEqual(await received(client, 1), ['* STATUS Archive (MESSAGES 3 UIDNEXT 4 UNSEEN 3)']);
});

test('a message of others that a command has told of comes with what was asked of it after the command', async (t) => {
  const gateway = await startImap(t);
  const [client, other] = [await gateway.open(), await gateway.open()];
  await client.command('SELECT INBOX');
  await client.command('NOTIFY SET (selected (MessageNew (UID) MessageExpunge))');
  client.write('x APPEND INBOX {6}\r\n');
  t.regex(await client.next(), /^\+ /, 'the command runs');
  client.write('123');
  await other.command('APPEND INBOX ', new Literal(message('1')));
  client.write('456\r\n');
  t.deepEqual((await client.answer('x')).untagged, ['2 EXISTS', '0 RECENT']);
  t.deepEqual(await received(client, 1), ['* 1 FETCH (UID 1)']);
  t.deepEqual((await client.command('NOOP')).untagged, []);
});

test('a change of others in a mailbox is told, whatever the client has changed there itself meanwhile', async (t) => {
  const gateway = await startImap(t);
  const [client, other] = [await gateway.open(), await gateway.open()];
  await client.command('NOTIFY SET (personal (MessageNew MessageExpunge FlagChange))');
  // Nothing is told while the command runs; another client puts messages before and after its message.
  for (const isFirst of [true, false]) {
    await client.command('CREATE work');
    client.write('x APPEND work {6}\r\n');
    t.regex(await client.next(), /^\+ /, 'the command runs');
    client.write('123');
    if (isFirst) await other.command('APPEND work ', new Literal(message('1')));
    client.write('456\r\ny NOOP\r\n');
    if (!isFirst) await other.command('APPEND work ', new Literal(message('1')));
    for (;;) {
      const line = await client.next();
      if (line.startsWith('* STATUS work (MESSAGES 2 ')) break;
      t.regex(line, /^([xy] OK|\* STATUS work \(MESSAGES 1 )/);
    }
    await client.command('DELETE work');
  }
});

test('a client is not told of the mailboxes that it makes, renames, subscribes and deletes itself', async (t) => {
  const gateway = await startImap(t);
  const [client, other] = [await gateway.open(), await gateway.open()];
  await client.command('NOTIFY SET (personal (MessageNew MessageExpunge MailboxName SubscriptionChange))');
  for (const own of ['CREATE a', 'CREATE a/b', 'RENAME a c', 'UNSUBSCRIBE c', 'DELETE c/b']) {
    t.regex((await client.command(own)).tagged, /^OK/);
  }
  await other.command('CREATE d');
  t.deepEqual(await received(client, 1), ['* LIST (\\Subscribed) "/" d']);
  await client.command('CREATE e');
  await other.command('APPEND e ', new Literal(message('1')));
  t.deepEqual(await received(client, 1), ['* STATUS e (MESSAGES 1 UIDNEXT 2 UNSEEN 1)']);
  await other.command('DELETE c');
  t.deepEqual(await received(client, 1), ['* LIST (\\NonExistent) "/" c']);
});

test('flags that were not asked for wait for a command', async (t) => {
  const gateway = await startImap(t);
  await gateway.deliver(ALICE, message('1'));
  const [client, other] = [await gateway.open(), await gateway.open()];
  await client.command('SELECT INBOX');
  await client.command('NOTIFY SET (selected (MessageNew MessageExpunge))');
  await other.command('SELECT INBOX');
  await other.command('STORE 1 +FLAGS (\\Flagged)');
  await gateway.deliver(ALICE, message('2'));
  t.deepEqual(await received(client, 2), ['* 2 EXISTS', '* 0 RECENT']);
  await gateway.deliver(ALICE, message('3'));
  t.deepEqual(await received(client, 2), ['* 3 EXISTS', '* 0 RECENT']);
  t.deepEqual((await client.command('NOOP')).untagged, ['1 FETCH (UID 1 FLAGS (\\Flagged))']);
});

test('flags that are told while the client sends a silent STORE are told again, as they are after it', async (t) => {
  const gateway = await startImap(t);
  for (const subject of ['1', '2', '3']) await gateway.deliver(ALICE, message(subject));
  const [client, other] = [await gateway.open(), await gateway.open()];
  await client.command('SELECT INBOX');
  await other.command('SELECT INBOX');
  await client.command('NOTIFY SET (selected (MessageNew (UID FLAGS) MessageExpunge FlagChange))');
  await other.command('STORE 1:2 +FLAGS (\\Answered)');
  // The STORE may be on its way by now, so the client cannot know which came first.
  t.deepEqual(await received(client, 2), [
    '* 1 FETCH (UID 1 FLAGS (\\Answered))',
    '* 2 FETCH (UID 2 FLAGS (\\Answered))',
  ]);
  t.deepEqual((await client.command('UID STORE 2:3 FLAGS.SILENT (\\Draft)')).untagged, [
    '2 FETCH (UID 2 FLAGS (\\Draft))',
  ]);
  t.deepEqual((await client.command('UID STORE 1:3 FLAGS.SILENT (\\Seen)')).untagged, [], 'now it is sure of all');
  await gateway.deliver(ALICE, message('4'));
  t.is((await received(client, 3))[2], '* 4 FETCH (UID 4 FLAGS ())');
  t.deepEqual((await client.command('UID STORE 1:* +FLAGS.SILENT (\\Seen)')).untagged, [
    '4 FETCH (UID 4 FLAGS (\\Seen))',
  ]);
});

test('flags of a new message that are told between commands are told again after a silent STORE', async (t) => {
  const gateway = await startImap(t);
  const client = await gateway.open();
  await client.command('SELECT INBOX');
  await client.command('NOTIFY SET (selected (MessageNew (UID FLAGS) MessageExpunge))');
  // The message arrives while a command runs, whose responses tell its number; its attributes follow the command.
  client.write('a APPEND INBOX {14}\r\n');
  t.regex(await client.next(), /^\+/);
  await gateway.deliver(ALICE, message('1'));
  client.write('Subject: 2\r\n\r\n\r\n');
  for (let line = ''; !line.startsWith('a OK'); ) line = await client.next();
  t.deepEqual(await received(client, 1), ['* 1 FETCH (UID 1 FLAGS ())']);
  t.deepEqual((await client.command('UID STORE 1 FLAGS.SILENT (\\Draft)')).untagged, [
    '1 FETCH (UID 1 FLAGS (\\Draft))',
  ]);
  t.deepEqual((await client.command('UID STORE 1 FLAGS.SILENT (\\Seen)')).untagged, []);
});

test('what IDLE tells is known before the next command', async (t) => {
  const gateway = await startImap(t);
  await gateway.deliver(ALICE, message('1'));
  const [client, other] = [await gateway.open(), await gateway.open()];
  await client.command('SELECT INBOX');
  await other.command('SELECT INBOX');
  await client.command('NOTIFY SET (selected (MessageNew MessageExpunge FlagChange))');
  client.write('i IDLE\r\n');
  t.is(await client.next(), '+ idling');
  await other.command('STORE 1 +FLAGS (\\Answered)');
  t.deepEqual(await received(client, 1), ['* 1 FETCH (UID 1 FLAGS (\\Answered))']);
  client.write('DONE\r\n');
  t.regex(await client.next(), /^i OK/);
  t.deepEqual((await client.command('STORE 1 +FLAGS.SILENT (\\Seen)')).untagged, []);
});

test('IDLE tells what NOTIFY has asked for and nothing else', async (t) => {
  const gateway = await startImap(t);
  await gateway.deliver(ALICE, message('1'));
  const [client, other] = [await gateway.open(), await gateway.open()];
  await client.command('SELECT INBOX');
  await other.command('SELECT INBOX');
  await client.command('NOTIFY SET (mailboxes Archive (MessageNew MessageExpunge))');
  const tag = client.send('IDLE');
  t.is(await client.next(), '+ idling');
  for (const count of [1, 2, 3]) {
    await gateway.deliver(ALICE, message(`${count + 1}`));
    await other.command('NOOP');
    await other.command(`COPY ${count} Archive`);
    t.regex((await received(client, 1))[0]!, /^\* STATUS Archive /);
  }
  client.write('DONE\r\n');
  t.deepEqual((await client.answer(tag)).untagged, ['4 EXISTS', '0 RECENT']);
});

test('expunges of selected-delayed wait for a command, or for IDLE', async (t) => {
  const gateway = await startImap(t);
  for (const subject of ['1', '2', '3']) await gateway.deliver(ALICE, message(subject));
  const [client, other] = [await gateway.open(), await gateway.open()];
  await client.command('SELECT INBOX');
  await client.command('NOTIFY SET (selected-delayed (MessageNew MessageExpunge))');
  await other.command('SELECT INBOX');
  await other.command('UID STORE 1:2 +FLAGS.SILENT \\Deleted');
  await other.command('UID EXPUNGE 1');
  await gateway.deliver(ALICE, message('4'));
  const lines = [];
  do lines.push(await client.next());
  while (!lines.includes('* 4 EXISTS'));
  t.false(lines.some((line) => line.includes('EXPUNGE')));
  t.true((await client.command('NOOP')).untagged.includes('1 EXPUNGE'));
  const tag = client.send('IDLE');
  await other.command('UID EXPUNGE 2');
  const idle = [];
  do idle.push(await client.next());
  while (!idle.includes('* 1 EXPUNGE'));
  client.write('DONE\r\n');
  t.regex((await client.answer(tag)).tagged, /^OK/);
});

test('a client that is told of its mailbox between commands hears that it was deleted, and the connection ends', async (t) => {
  const gateway = await startImap(t);
  const [client, other] = [await gateway.open(), await gateway.open()];
  await other.command('CREATE work');
  await client.command('SELECT work');
  await client.command('NOTIFY SET (selected (MessageNew MessageExpunge))');
  await other.command('DELETE work');
  t.true((await client.rest()).some((line) => line.startsWith('* BYE')));
});

test('annotations that change are told by name', async (t) => {
  const gateway = await startImap(t);
  const [client, other] = [await gateway.open(), await gateway.open()];
  await client.command('NOTIFY SET (personal (MailboxMetadataChange ServerMetadataChange))');
  await other.command('SETMETADATA INBOX (/private/comment "a")');
  t.deepEqual(await received(client, 1), ['* METADATA INBOX /private/comment']);
  await other.command('SETMETADATA "" (/private/comment "b")');
  t.deepEqual(await received(client, 1), ['* METADATA "" /private/comment']);
  await other.command('SETMETADATA "" ("/private/two (words" "c" /private/one "d")');
  t.deepEqual(await received(client, 1), ['* METADATA "" "/private/two (words" /private/one']);
});

test('what cannot be told is refused, and NONE ends it', async (t) => {
  const gateway = await startImap(t);
  const client = await gateway.open();
  const refused = async (groups: string) => (await client.command(`NOTIFY SET ${groups}`)).tagged;
  t.regex(await refused('(personal (AnnotationChange))'), /^NO \[BADEVENT \(MessageNew/);
  t.regex(await refused('(personal (MessageNew))'), /^BAD/);
  t.regex(await refused('(selected (MailboxName))'), /^BAD/);
  t.regex(await refused('(personal (MessageNew (UID) MessageExpunge))'), /^BAD/);
  t.regex(await refused('(selected (MessageNew (RFC822) MessageExpunge))'), /^BAD/);
  const messages = '(MessageNew MessageExpunge)';
  t.regex(await refused(`(selected ${messages}) (selected-delayed ${messages})`), /^BAD/);
  t.regex(await refused(`(personal ${messages})`), /^OK/);
  t.regex((await client.command('NOTIFY NONE')).tagged, /^OK/);
  await gateway.deliver(ALICE, message('1'));
  t.deepEqual((await client.command('NOOP')).untagged, []);
});

test('a takeover by another owner is not noticed', async (t) => {
  const gateway = await startImap(t);
  const client = await gateway.open();
  await client.command('NOTIFY SET (inboxes (MessageNew MessageExpunge))');
  gateway.mailboxes.reload();
  await gateway.deliver(ALICE, message('1'));
  t.deepEqual(await received(client, 1), ['* STATUS INBOX (MESSAGES 1 UIDNEXT 2 UNSEEN 1)']);
});
