// Tests COPY, MOVE and EXPUNGE.
import test from '../../../support/test.js';
import { type ImapClient, Literal } from '../client.js';
import { ALICE, type ImapGateway, startImap } from '../gateway.js';

async function start(t: Parameters<typeof startImap>[0], messages = 4) {
  const gateway = await startImap(t);
  for (let i = 1; i <= messages; i++) await gateway.deliver(ALICE, `Subject: ${i}\r\n\r\n${i}\r\n`);
  const client = await gateway.open();
  await client.command('SELECT INBOX');
  return { gateway, client, tagged: async (text: string) => (await client.command(text)).tagged };
}

const validityOf = async (client: ImapClient, mailbox: string): Promise<string> => {
  const [line] = (await client.command(`STATUS ${mailbox} (UIDVALIDITY)`)).untagged;
  return /UIDVALIDITY (\d+)/.exec(line!)![1]!;
};

const subjectsIn = async ({ mailboxes }: ImapGateway, folder: string): Promise<string[]> => {
  const { reply } = await mailboxes.refs.of(ALICE).ask('list', { folder, page: 1, pageSize: 100 });
  return reply!.items.map(({ subject }) => subject).sort();
};

test('COPY says which UIDs became which, in the same order', async (t) => {
  const { gateway, client, tagged } = await start(t);
  const archive = await validityOf(client, 'Archive');
  t.is(await tagged('COPY 3 Archive'), `OK [COPYUID ${archive} 3 1] COPY completed`);
  // Archive has two copies of the third message then.
  t.is(await tagged('UID COPY 1:4,99 Archive'), `OK [COPYUID ${archive} 1:4 2:5] COPY completed`);
  t.deepEqual(await subjectsIn(gateway, 'archive'), ['1', '2', '3', '3', '4']);
  t.deepEqual(await subjectsIn(gateway, 'inbox'), ['1', '2', '3', '4']);
  t.is(await tagged('UID COPY 99 Archive'), 'OK No messages to copy');
});

test('a mailbox that is not there may be created, unless its name is unfit', async (t) => {
  const { tagged } = await start(t, 1);
  for (const name of ['COPY 1', 'MOVE 1', 'UID COPY 1', 'UID MOVE 1']) {
    t.regex(await tagged(`${name} New`), /^NO \[TRYCREATE\] /);
    t.regex(await tagged(`${name} a//b`), /^NO \[NONEXISTENT\] /);
  }
  t.regex(await tagged('COPY 2 Archive'), /^BAD /);
});

test('MOVE says the new UIDs before the messages leave', async (t) => {
  const { gateway, client } = await start(t);
  const trash = await validityOf(client, 'Trash');
  const { untagged, tagged } = await client.command('MOVE 2:3 Trash');
  t.deepEqual(untagged, [`OK [COPYUID ${trash} 2:3 1:2] Moved`, '3 EXPUNGE', '2 EXPUNGE']);
  t.is(tagged, 'OK MOVE completed');
  t.deepEqual(await subjectsIn(gateway, 'inbox'), ['1', '4']);
  t.deepEqual(await subjectsIn(gateway, 'trash'), ['2', '3']);
  await client.command('ENABLE QRESYNC');
  const second = await client.command('UID MOVE 1:* Trash');
  t.deepEqual(second.untagged, [`OK [COPYUID ${trash} 1,4 3:4] Moved`, 'VANISHED 1,4']);
  t.is((await client.command('UID MOVE 9 Trash')).tagged, 'OK No messages to move');
});

test('more messages than a mailbox takes at once are moved in several commands, and refused to COPY', async (t) => {
  const { gateway, client } = await start(t, 1);
  const asked: unknown[] = [];
  for (const name of ['copy', 'move']) {
    gateway.mailboxes.hook(name, (payload: { selection: { uids: [number, number][] } }) => {
      asked.push([name, payload.selection.uids]);
      const { uids } = payload.selection;
      // The mailbox moves only a part of the second 2,500 messages when it is first asked for them.
      const isComplete = uids[0]![0] !== 2_501 || asked.length > 2;
      const moved: [number, number][] = isComplete ? uids : [[2_501, 3_000]];
      const folderModseqs = { folderId: 'another', before: 1, after: 2 };
      return { reply: { count: 0, isComplete, uidValidity: 7, from: moved, to: moved, folderModseqs } };
    });
  }
  for (let i = 1; i <= 10_000; i++) await gateway.deliver(ALICE, 'Subject: x\r\n\r\nx\r\n');
  await client.command('NOOP');
  t.regex((await client.command('COPY 1:* Archive')).tagged, /^NO \[LIMIT\] /);
  const { untagged } = await client.command('MOVE 1:* Archive');
  t.deepEqual(asked, [
    ['move', [[1, 2_500]]],
    ['move', [[2_501, 5_000]]],
    ['move', [[2_501, 5_000]]],
    ['move', [[5_001, 7_500]]],
    ['move', [[7_501, 10_000]]],
    ['move', [[10_001, 10_001]]],
  ]);
  t.is(untagged[1], 'OK [COPYUID 7 2501:3000 2501:3000] Moved');
  t.deepEqual([untagged[0], untagged[5]], ['OK [COPYUID 7 1:2500 1:2500] Moved', 'OK [COPYUID 7 10001 10001] Moved']);
});

test('EXPUNGE removes what is deleted, UID EXPUNGE some of it', async (t) => {
  const { gateway, client, tagged } = await start(t);
  await client.command('STORE 1:3 +FLAGS.SILENT (\\Deleted)');
  t.deepEqual((await client.command('UID EXPUNGE 2,4,77')).untagged, ['2 EXPUNGE']);
  t.deepEqual((await client.command('EXPUNGE')).untagged, ['2 EXPUNGE', '1 EXPUNGE']);
  t.deepEqual(await subjectsIn(gateway, 'inbox'), ['4']);
  t.deepEqual((await client.command('EXPUNGE')).untagged, []);
  t.is(await tagged('UID EXPUNGE 1:3'), 'OK No messages to expunge');
});

test('a mailbox that is open for reading is left as it is', async (t) => {
  const { gateway, client, tagged } = await start(t);
  await client.command('STORE 1 +FLAGS (\\Deleted)');
  await client.command('EXAMINE INBOX');
  for (const text of ['MOVE 1 Trash', 'UID MOVE 1 Trash', 'EXPUNGE', 'UID EXPUNGE 1']) {
    t.regex(await tagged(text), /^NO \[READ-ONLY\] /);
  }
  t.regex(await tagged('COPY 1 Trash'), /^OK /);
  await client.command('SELECT INBOX');
  await client.command('STORE 1 -FLAGS.SILENT (\\Deleted)');
  t.deepEqual(await subjectsIn(gateway, 'inbox'), ['1', '2', '3', '4']);
});

test('messages that another session has expunged are not copied by number, and passed over by UID', async (t) => {
  const { gateway, client } = await start(t);
  const other = await gateway.open();
  await other.command('SELECT INBOX');
  await other.command('UID STORE 2 +FLAGS (\\Deleted)');
  // A response to FETCH by number must not report the expunge, so the client still counts the message.
  await other.command('EXPUNGE');
  await client.command('FETCH 1 UID');
  const answer = await client.command('COPY 1:2 Archive');
  t.regex(answer.tagged, /^NO \[EXPUNGEISSUED\] /);
  t.deepEqual(
    answer.untagged.filter((line) => line.endsWith('EXPUNGE')),
    ['2 EXPUNGE'],
  );
  t.regex((await client.command('UID COPY 1:3 Archive')).tagged, /^OK \[COPYUID \d+ 1,3 1:2\] /);
});

test('a message that is copied to its own mailbox is there twice, and one that is moved there has a new UID', async (t) => {
  const { gateway, client } = await start(t, 2);
  const inbox = await validityOf(client, 'INBOX');
  await client.command('STORE 2 +FLAGS.SILENT (\\Flagged work)');
  for (const [name, uid] of [
    ['COPY 2 INBOX', 3],
    ['UID COPY 2 inbox', 4],
  ] as const) {
    const { untagged, tagged } = await client.command(name);
    t.deepEqual(untagged, [`${uid} EXISTS`, '0 RECENT'].slice(0, untagged.length));
    t.is(tagged, `OK [COPYUID ${inbox} 2 ${uid}] COPY completed`);
  }
  const { untagged: fetched } = await client.command('UID FETCH 2:4 (FLAGS)');
  const flags = fetched.filter((line) => line.includes('FETCH'));
  t.deepEqual(
    flags.map((line) => line.replace(/^\d+ FETCH \(UID \d+ /, '')),
    Array.from({ length: 3 }, () => 'FLAGS (\\Flagged work))'),
  );
  t.deepEqual((await client.command('UID MOVE 3 INBOX')).untagged.slice(0, 2), [
    `OK [COPYUID ${inbox} 3 5] Moved`,
    '3 EXPUNGE',
  ]);
  await client.command('UID STORE 5 +FLAGS.SILENT (\\Deleted)');
  await client.command('UID EXPUNGE 5');
  t.deepEqual(await subjectsIn(gateway, 'inbox'), ['1', '2', '2'], 'deleting one leaves the others');
});

test('a message that is brought back is not deleted with its earlier placement', async (t) => {
  const bringBack: readonly (readonly string[])[] = [
    ['MOVE 1 INBOX'],
    ['COPY 1 INBOX', 'STORE 1 +FLAGS.SILENT (\\Deleted)', 'CLOSE'],
    ['UID MOVE 1 INBOX'],
  ];
  for (const commands of bringBack) {
    const { gateway, client } = await start(t, 1);
    const inbox = await validityOf(client, 'INBOX');
    const other = await gateway.open();
    await other.command('SELECT INBOX');
    await client.command('COPY 1 Trash');
    await client.command('STORE 1 +FLAGS.SILENT (\\Deleted)');
    await client.command('SELECT Trash');
    const [first, ...rest] = commands;
    const { untagged, tagged } = await client.command(first!);
    t.true([...untagged, tagged].join().includes(`[COPYUID ${inbox} 1 2]`), tagged);
    for (const command of rest) await client.command(command);
    const seen = (await other.command('NOOP')).untagged;
    t.deepEqual(
      seen.filter((line) => /EXPUNGE|EXISTS/.test(line)),
      ['1 EXPUNGE', '1 EXISTS'],
      'the other session sees another message',
    );
    t.deepEqual((await other.command('FETCH 1 (UID FLAGS)')).untagged, ['1 FETCH (UID 2 FLAGS ())']);
    await other.command('EXPUNGE');
    t.deepEqual(await subjectsIn(gateway, 'inbox'), ['1']);
    t.deepEqual(await subjectsIn(gateway, 'trash'), []);
  }
});

test('a copy of a message that the folder has already is a message of its own', async (t) => {
  const { gateway, client } = await start(t, 2);
  const archive = await validityOf(client, 'Archive');
  await client.command('COPY 1 Archive');
  t.is((await client.command('COPY 1 Archive')).tagged, `OK [COPYUID ${archive} 1 2] COPY completed`);
  const { untagged } = await client.command('MOVE 1 Archive');
  t.is(untagged[0], `OK [COPYUID ${archive} 1 3] Moved`);
  await client.command('SELECT Archive');
  const ids = (await client.command('FETCH 1:3 (EMAILID THREADID RFC822.SIZE)')).untagged.map((line) => ({
    email: /EMAILID \(([^)]+)/.exec(line)![1],
    thread: /THREADID \(([^)]+)/.exec(line)![1],
  }));
  t.is(new Set(ids.map(({ email }) => email)).size, 3);
  t.is(new Set(ids.map(({ thread }) => thread)).size, 1);
  await client.command('STORE 1,3 +FLAGS.SILENT (\\Deleted)');
  await client.command('CLOSE');
  t.deepEqual(await subjectsIn(gateway, 'archive'), ['1']);
});

test('an email that leaves a mailbox stays in the others', async (t) => {
  const { gateway, client } = await start(t, 1);
  await client.command('COPY 1 Archive');
  await client.command('STORE 1 +FLAGS (\\Deleted)');
  await client.command('EXPUNGE');
  t.deepEqual(await subjectsIn(gateway, 'inbox'), []);
  t.deepEqual(await subjectsIn(gateway, 'archive'), ['1']);
});

test('a mailbox that has given its last UID takes no more messages, and everything stays readable', async (t) => {
  const gateway = await startImap(t);
  const { folders } = gateway.mailboxes.tables.of(ALICE);
  const archive = [...folders.values()].find(({ role }) => role === 'archive')!;
  folders.set(archive.id, { ...archive, uidNext: 4_294_967_293 });
  await gateway.deliver(ALICE, 'Subject: 1\r\n\r\n1\r\n');
  const client = await gateway.open();
  await client.command('SELECT INBOX');
  const append = async () => (await client.command('APPEND Archive ', new Literal('Subject: a\r\n\r\na'))).tagged;
  t.regex(await append(), /^OK \[APPENDUID \d+ 4294967293\]/);
  t.regex((await client.command('COPY 1 Archive')).tagged, /^OK \[COPYUID \d+ 1 4294967294\]/);
  const refused = [await append()];
  for (const text of ['COPY 1 Archive', 'MOVE 1 Archive', 'UID MOVE 1 Archive']) {
    refused.push((await client.command(text)).tagged);
  }
  const many = await client.command('APPEND Archive ', new Literal('a'), ' ', new Literal('b'));
  for (const tagged of [...refused, many.tagged]) t.regex(tagged, /^NO \[LIMIT\] /);
  t.deepEqual((await client.command('STATUS Archive (MESSAGES UIDNEXT)')).untagged, [
    'STATUS Archive (MESSAGES 2 UIDNEXT 4294967295)',
  ]);
  t.deepEqual(await subjectsIn(gateway, 'inbox'), ['1']);
  await client.command('SELECT Archive');
  t.is((await client.command('UID FETCH 4294967293:* (UID)')).untagged.length, 2);
});
