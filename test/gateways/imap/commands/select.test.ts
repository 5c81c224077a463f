// Tests SELECT, EXAMINE, CLOSE and UNSELECT, and what a session is told about its mailbox.
import test from '../../../support/test.js';
import type { ImapClient } from '../client.js';
import { ALICE, type ImapGateway, startImap } from '../gateway.js';

const message = (number: number) => `From: a@b.test\r\nSubject: ${number}\r\n\r\nhello\r\n`;

async function deliver(gateway: ImapGateway, count: number): Promise<void> {
  for (let i = 0; i < count; i++) await gateway.deliver(ALICE, message(i));
}

/** Returns the value of a response code of SELECT. */
function code(untagged: readonly string[], name: string): string | undefined {
  for (const line of untagged) {
    const match = new RegExp(`^OK \\[${name} ?([^\\]]*)\\]`).exec(line);
    if (match !== null) return match[1];
  }
  return undefined;
}

async function expunge(client: ImapClient, uids: string): Promise<void> {
  await client.command(`UID STORE ${uids} +FLAGS.SILENT \\Deleted`);
  await client.command(`UID EXPUNGE ${uids}`);
}

/** Returns the responses about messages. */
const about = (untagged: readonly string[]) => untagged.filter((line) => /EXISTS|EXPUNGE|FETCH|VANISHED/.test(line));

test('SELECT tells the state of the mailbox', async (t) => {
  const gateway = await startImap(t);
  await deliver(gateway, 3);
  const client = await gateway.open();
  await client.command('SELECT INBOX');
  await client.command('STORE 1 +FLAGS (\\Seen work)');
  const { untagged, tagged } = await client.command('SELECT INBOX');
  t.regex(tagged, /^OK \[READ-WRITE\]/);
  t.regex(untagged[0]!, /^OK \[CLOSED\]/);
  const flags = '\\Answered \\Flagged \\Deleted \\Seen \\Draft $Forwarded $MDNSent $Junk $NotJunk $Phishing work';
  t.is(untagged[1], `FLAGS (${flags})`);
  t.is(code(untagged, 'PERMANENTFLAGS'), `(${flags} \\*)`);
  t.true(untagged.includes('3 EXISTS'));
  t.true(untagged.includes('0 RECENT'));
  t.is(code(untagged, 'UNSEEN'), '2');
  t.is(code(untagged, 'UIDNEXT'), '4');
  t.regex(code(untagged, 'UIDVALIDITY')!, /^[1-9]\d*$/);
  t.regex(code(untagged, 'HIGHESTMODSEQ')!, /^[1-9]\d*$/);
  t.regex(code(untagged, 'MAILBOXID')!, /^\([\w-]+\)$/);
});

test('SELECT for IMAP4rev2 has LIST, and no RECENT and UNSEEN', async (t) => {
  const gateway = await startImap(t);
  await deliver(gateway, 1);
  const client = await gateway.open();
  await client.command('ENABLE IMAP4rev2');
  const { untagged } = await client.command('SELECT inbox');
  t.true(untagged.includes('LIST (\\HasNoChildren \\Subscribed) "/" INBOX'));
  t.false(untagged.includes('0 RECENT'));
  t.is(code(untagged, 'UNSEEN'), undefined);
  const { untagged: other } = await client.command('SELECT sent');
  t.true(other.some((line) => /^LIST \(.*\\Sent\) "\/" Sent \("OLDNAME" \(sent\)\)$/.test(line)));
});

test('EXAMINE keeps the mailbox as it is, and a mailbox that is not there leaves none selected', async (t) => {
  const gateway = await startImap(t);
  await deliver(gateway, 1);
  const client = await gateway.open();
  const { untagged, tagged } = await client.command('EXAMINE INBOX');
  t.regex(tagged, /^OK \[READ-ONLY\]/);
  t.is(code(untagged, 'PERMANENTFLAGS'), '()');
  t.regex((await client.command('STORE 1 +FLAGS \\Seen')).tagged, /^NO/);
  const failed = await client.command('SELECT nowhere');
  t.regex(failed.tagged, /^NO \[NONEXISTENT\]/);
  t.true(failed.untagged[0]?.startsWith('OK [CLOSED]'));
  t.regex((await client.command('FETCH 1 FLAGS')).tagged, /^BAD/);
});

test('CLOSE expunges without saying so, UNSELECT and CLOSE after EXAMINE do not', async (t) => {
  const gateway = await startImap(t);
  await deliver(gateway, 3);
  const client = await gateway.open();
  const count = async () => (await client.command('STATUS INBOX (MESSAGES)')).untagged[0];
  await client.command('SELECT INBOX');
  await client.command('STORE 1:2 +FLAGS.SILENT \\Deleted');
  t.regex((await client.command('UNSELECT')).tagged, /^OK/);
  t.is(await count(), 'STATUS INBOX (MESSAGES 3)');
  await client.command('EXAMINE INBOX');
  t.regex((await client.command('CLOSE')).tagged, /^OK/);
  t.is(await count(), 'STATUS INBOX (MESSAGES 3)');
  await client.command('SELECT INBOX');
  const { untagged, tagged } = await client.command('CLOSE');
  t.deepEqual(untagged, []);
  t.regex(tagged, /^OK/);
  t.is(await count(), 'STATUS INBOX (MESSAGES 1)');
  t.regex((await client.command('CLOSE')).tagged, /^BAD/);
});

test('another session is told in an order that its numbers allow', async (t) => {
  const gateway = await startImap(t);
  await deliver(gateway, 5);
  const [first, second] = [await gateway.open(), await gateway.open()];
  await first.command('SELECT INBOX');
  await second.command('SELECT INBOX');
  await expunge(first, '2,4');
  await deliver(gateway, 1);
  await first.command('UID STORE 5 +FLAGS.SILENT work');
  const held = await second.command('FETCH 3 (UID)');
  t.deepEqual(about(held.untagged), ['3 FETCH (UID 3)', '6 EXISTS', '5 FETCH (UID 5 FLAGS (work))']);
  t.true(held.untagged.some((line) => line.startsWith('FLAGS ') && line.includes(' work')));
  t.deepEqual(about((await second.command('NOOP')).untagged), ['4 EXPUNGE', '2 EXPUNGE']);
  t.deepEqual(about((await second.command('FETCH 3:4 (UID)')).untagged), ['3 FETCH (UID 5)', '4 FETCH (UID 6)']);
});

test('with QRESYNC expunges are told by UID, and changes of flags with modseqs', async (t) => {
  const gateway = await startImap(t);
  await deliver(gateway, 4);
  const [first, second] = [await gateway.open(), await gateway.open()];
  await second.command('ENABLE QRESYNC');
  await first.command('SELECT INBOX');
  await second.command('SELECT INBOX');
  await expunge(first, '1:2,4');
  await first.command('STORE 1 +FLAGS.SILENT \\Seen');
  const { untagged } = await second.command('NOOP');
  t.is(untagged[0], 'VANISHED 1:2,4');
  t.regex(untagged[1]!, /^1 FETCH \(UID 3 FLAGS \(\\Seen\) MODSEQ \(\d+\)\)$/);
});

test('with QRESYNC an EXPUNGE that removed messages ends with the modseq of the mailbox', async (t) => {
  const gateway = await startImap(t);
  await deliver(gateway, 2);
  const client = await gateway.open();
  await client.command('ENABLE QRESYNC');
  await client.command('SELECT INBOX');
  t.regex((await client.command('EXPUNGE')).tagged, /^OK EXPUNGE/);
  await client.command('STORE 1 +FLAGS \\Deleted');
  const { untagged, tagged } = await client.command('EXPUNGE');
  t.deepEqual(untagged, ['VANISHED 1']);
  const { untagged: selected } = await client.command('SELECT INBOX');
  t.is(/^OK \[HIGHESTMODSEQ (\d+)\]/.exec(tagged)?.[1], code(selected, 'HIGHESTMODSEQ'));
});

test('SELECT with QRESYNC tells what vanished and what changed since', async (t) => {
  const gateway = await startImap(t);
  await deliver(gateway, 6);
  const client = await gateway.open();
  t.regex((await client.command('SELECT INBOX (QRESYNC (1 1))')).tagged, /^BAD/);
  await client.command('ENABLE QRESYNC');
  const { untagged } = await client.command('SELECT INBOX');
  const uidValidity = code(untagged, 'UIDVALIDITY');
  const modseq = code(untagged, 'HIGHESTMODSEQ');
  await expunge(client, '2,5');
  await client.command('UID STORE 3 +FLAGS.SILENT \\Flagged');
  await client.command('UID STORE 6 +FLAGS.SILENT \\Flagged');
  const resync = async (rest: string) =>
    about((await client.command(`SELECT INBOX (QRESYNC (${uidValidity} ${rest}))`)).untagged).map((line) =>
      line.replace(/ MODSEQ \(\d+\)/, ''),
    );
  const changed3 = '2 FETCH (UID 3 FLAGS (\\Flagged))';
  const changed6 = '4 FETCH (UID 6 FLAGS (\\Flagged))';
  t.deepEqual(await resync(`${modseq}`), ['4 EXISTS', 'VANISHED (EARLIER) 2,5', changed3, changed6]);
  t.deepEqual(await resync(`${modseq} 1:4`), ['4 EXISTS', 'VANISHED (EARLIER) 2', changed3]);
  t.deepEqual(await resync(`${modseq} 4:4294967295 (1:2 1:2)`), ['4 EXISTS', 'VANISHED (EARLIER) 5', changed6]);
  t.deepEqual(await resync('9007199254740991'), ['4 EXISTS']);
  const other = await client.command(`SELECT INBOX (QRESYNC (${Number(uidValidity) + 1} 1))`);
  t.deepEqual(about(other.untagged), ['4 EXISTS']);
});

test('a client whose copy is older than what is known of expunges is told of all UIDs that are not there', async (t) => {
  const gateway = await startImap(t);
  await deliver(gateway, 8);
  const client = await gateway.open();
  await client.command('ENABLE QRESYNC');
  const { untagged } = await client.command('SELECT INBOX');
  const uidValidity = code(untagged, 'UIDVALIDITY');
  await expunge(client, '3,5,8');
  gateway.mailboxes.hook('folderChanges', (payload: { since: number | null }, proceed) => {
    // The owner no longer knows which messages were expunged.
    if (payload.since !== null) payload.since = 0;
    return proceed();
  });
  const resync = async (rest: string) =>
    (await client.command(`SELECT INBOX (QRESYNC (${uidValidity} ${rest}))`)).untagged.filter((line) =>
      line.startsWith('VANISHED'),
    );
  t.deepEqual(await resync('1'), ['VANISHED (EARLIER) 3,5,8']);
  t.deepEqual(await resync('1 1:5'), ['VANISHED (EARLIER) 3,5']);
  t.deepEqual(await resync('1 4:9,1 (1:3 1:2,4)'), ['VANISHED (EARLIER) 5,8']);
  t.deepEqual(await resync('1 1:2'), []);
});

test('a takeover by another owner is not noticed', async (t) => {
  const gateway = await startImap(t);
  await deliver(gateway, 5);
  const [first, second] = [await gateway.open(), await gateway.open()];
  await first.command('SELECT INBOX');
  await second.command('SELECT INBOX');
  await expunge(first, '1,3');
  gateway.mailboxes.reload();
  await deliver(gateway, 1);
  await first.command('UID STORE 4 +FLAGS.SILENT \\Seen');
  const { untagged } = await second.command('NOOP');
  t.deepEqual(about(untagged), ['3 EXPUNGE', '1 EXPUNGE', '4 EXISTS', '2 FETCH (UID 4 FLAGS (\\Seen))']);
});

test('a session whose mailbox is deleted ends', async (t) => {
  const gateway = await startImap(t);
  const [first, second] = [await gateway.open(), await gateway.open()];
  await first.command('CREATE work');
  await second.command('SELECT work');
  await first.command('DELETE work');
  second.send('NOOP');
  t.true((await second.rest())[0]?.startsWith('* BYE'));
});
