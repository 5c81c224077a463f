// Tests STORE: flags that are added, removed and replaced, conditions, answers, and messages that are gone.
import test from '../../../support/test.js';
import type { ImapClient } from '../client.js';
import { ALICE, type ImapGateway, startImap } from '../gateway.js';

async function selected(gateway: ImapGateway, count: number): Promise<ImapClient> {
  for (let n = 1; n <= count; n++) await gateway.deliver(ALICE, `Subject: ${n}\r\n\r\ntext\r\n`);
  return opened(gateway);
}

async function opened(gateway: ImapGateway): Promise<ImapClient> {
  const client = await gateway.open();
  await client.command('SELECT INBOX');
  return client;
}

const ofMessages = ({ untagged }: { readonly untagged: readonly string[] }) =>
  untagged.filter((line) => /^\d+ (?:UID)?FETCH /.test(line));

test('flags are added, removed and replaced; all named messages are answered', async (t) => {
  const client = await selected(await startImap(t), 2);
  t.deepEqual(ofMessages(await client.command('STORE 1 +FLAGS (\\Flagged work)')), [
    '1 FETCH (FLAGS (\\Flagged work))',
  ]);
  t.deepEqual(ofMessages(await client.command('STORE 1:2 +FLAGS \\Flagged')), [
    '1 FETCH (FLAGS (\\Flagged work))',
    '2 FETCH (FLAGS (\\Flagged))',
  ]);
  t.deepEqual(ofMessages(await client.command('UID STORE 1 -FLAGS (WORK \\Seen)')), [
    '1 FETCH (UID 1 FLAGS (\\Flagged))',
  ]);
  t.deepEqual(ofMessages(await client.command('STORE 1 FLAGS (\\Deleted $Junk)')), [
    '1 FETCH (FLAGS ($Junk \\Deleted))',
  ]);
  t.deepEqual(ofMessages(await client.command('STORE 1 FLAGS ()')), ['1 FETCH (FLAGS ())']);
  t.deepEqual((await client.command('NOOP')).untagged, []);
});

test('with SILENT nothing is answered but what somebody else changed', async (t) => {
  const gateway = await startImap(t);
  const client = await selected(gateway, 3);
  const other = await opened(gateway);
  t.deepEqual((await client.command('STORE 1:3 +FLAGS.SILENT (\\Seen)')).untagged, []);
  t.deepEqual(ofMessages(await other.command('NOOP')).length, 3);
  await other.command('STORE 2 +FLAGS.SILENT (\\Answered)');
  t.deepEqual(ofMessages(await client.command('STORE 1:3 +FLAGS.SILENT (\\Flagged)')), [
    '2 FETCH (UID 2 FLAGS (\\Seen \\Answered \\Flagged))',
  ]);
});

test('UNCHANGEDSINCE: what changed meanwhile is left alone and named as the command names messages', async (t) => {
  const gateway = await startImap(t);
  const client = await selected(gateway, 4);
  const status = await client.command('STATUS INBOX (HIGHESTMODSEQ)');
  const modseq = /HIGHESTMODSEQ (\d+)/.exec(status.untagged[0]!)![1]!;
  await client.command('STORE 1 +FLAGS.SILENT (\\Deleted)');
  await client.command('EXPUNGE');
  await client.command('STORE 1,3 +FLAGS.SILENT (\\Answered)');
  const conditional = await client.command(`STORE 1:3 (UNCHANGEDSINCE ${modseq}) +FLAGS.SILENT (\\Flagged)`);
  t.regex(conditional.tagged, /^OK \[MODIFIED 1,3\]/);
  t.is(conditional.untagged.length, 1);
  t.regex(conditional.untagged[0]!, /^2 FETCH \(MODSEQ \(\d+\)\)$/);
  const byUid = await client.command(`UID STORE 2:4 (UNCHANGEDSINCE ${modseq}) +FLAGS (\\Flagged)`);
  t.regex(byUid.tagged, /^OK \[MODIFIED 2:4\]/);
  t.deepEqual(ofMessages(byUid), []);
  t.deepEqual(
    ofMessages(await client.command('FETCH 1:3 FLAGS')),
    ['\\Answered', '\\Flagged', '\\Answered'].map((flags, i) => `${i + 1} FETCH (FLAGS (${flags}))`),
  );
  t.regex((await client.command('STORE 1 (UNCHANGEDSINCE 0) FLAGS (x)')).tagged, /^OK \[MODIFIED 1\]/);
});

test('with CONDSTORE and SILENT the modseqs are answered', async (t) => {
  const client = await selected(await startImap(t), 1);
  await client.command('ENABLE CONDSTORE');
  const silent = await client.command('STORE 1 +FLAGS.SILENT (\\Seen)');
  t.is(silent.untagged.length, 1);
  t.regex(silent.untagged[0]!, /^1 FETCH \(MODSEQ \(\d+\)\)$/);
  t.regex(
    (await client.command('STORE 1 +FLAGS (\\Seen)')).untagged[0]!,
    /^1 FETCH \(FLAGS \(\\Seen\) MODSEQ \(\d+\)\)$/,
  );
});

test('with UIDONLY the answers name messages by UID', async (t) => {
  const client = await selected(await startImap(t), 1);
  await client.command('ENABLE UIDONLY');
  t.deepEqual(ofMessages(await client.command('UID STORE 1 +FLAGS (\\Seen)')), ['1 UIDFETCH (FLAGS (\\Seen))']);
});

test('numbers of messages that are gone are NO, UIDs are passed over, and the others are stored', async (t) => {
  const gateway = await startImap(t);
  const client = await selected(gateway, 3);
  const other = await opened(gateway);
  await other.command('STORE 2 +FLAGS.SILENT (\\Deleted)');
  await other.command('EXPUNGE');
  const byNumber = await client.command('STORE 1:3 +FLAGS (\\Seen)');
  t.regex(byNumber.tagged, /^NO \[EXPUNGEISSUED\]/);
  t.deepEqual(ofMessages(byNumber), ['1 FETCH (FLAGS (\\Seen))', '3 FETCH (FLAGS (\\Seen))']);
  const silent = await client.command('STORE 1:3 +FLAGS.SILENT (\\Flagged)');
  t.deepEqual(silent.untagged, []);
  t.regex(silent.tagged, /^OK /);
  t.regex((await client.command('STORE 2 -FLAGS.SILENT (\\Flagged)')).tagged, /^OK /);
  await client.command('STORE 1:3 -FLAGS.SILENT (\\Flagged)');
  const byUid = await client.command('UID STORE 1:3 +FLAGS (\\Answered)');
  t.regex(byUid.tagged, /^OK /);
  t.deepEqual(byUid.untagged, [
    '1 FETCH (UID 1 FLAGS (\\Seen \\Answered))',
    '3 FETCH (UID 3 FLAGS (\\Seen \\Answered))',
    '2 EXPUNGE',
  ]);
});

test('a message that goes while the command runs', async (t) => {
  const gateway = await startImap(t);
  const client = await selected(gateway, 2);
  const other = await opened(gateway);
  await other.command('STORE 2 +FLAGS.SILENT (\\Deleted)');
  gateway.mailboxes.hook('storeFlags', async (_, proceed) => {
    gateway.mailboxes.hook('storeFlags', (_again, go) => go());
    await other.command('EXPUNGE');
    return proceed();
  });
  const { untagged, tagged } = await client.command('STORE 1:2 +FLAGS (\\Seen)');
  t.regex(tagged, /^NO \[EXPUNGEISSUED\]/);
  t.deepEqual(untagged, ['1 FETCH (FLAGS (\\Seen))']);
  t.deepEqual((await client.command('NOOP')).untagged, ['2 EXPUNGE']);
});

test('what cannot be stored is refused', async (t) => {
  const client = await selected(await startImap(t), 1);
  t.regex((await client.command('STORE 1 +FLAGS (\\Unknown)')).tagged, /^(?:NO|BAD) /);
  t.regex((await client.command('STORE 2 +FLAGS (\\Seen)')).tagged, /^BAD /);
  const keywords = (from: number) => Array.from({ length: 150 }, (_, i) => `k${from + i}`).join(' ');
  t.regex((await client.command(`STORE 1 +FLAGS.SILENT (${keywords(0)})`)).tagged, /^OK /);
  t.regex((await client.command(`STORE 1 +FLAGS.SILENT (${keywords(150)})`)).tagged, /^NO \[LIMIT\]/);
  await client.command('EXAMINE INBOX');
  t.regex((await client.command('STORE 1 +FLAGS (\\Seen)')).tagged, /^NO \[READ-ONLY\]/);
});
