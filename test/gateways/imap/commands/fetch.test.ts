// Tests FETCH: every attribute, what marks a message as read, messages that change or go meanwhile.
import { randomBytes } from 'node:crypto';
import test from '../../../support/test.js';
import { ALICE, type ImapGateway, startImap } from '../gateway.js';
import { inbox, message } from './fetched-inbox.js';

/** Counts how often the mailbox was asked to store flags. */
const stores = ({ mailboxes }: ImapGateway) => mailboxes.asked.filter(({ name }) => name === 'storeFlags').length;

test('facts, flags and ids', async (t) => {
  const gateway = await startImap(t);
  const client = await inbox(gateway, 1);
  const value = async (attribute: string) => (await client.command(`FETCH 1 ${attribute}`)).untagged;
  t.deepEqual(await value('UID'), ['1 FETCH (UID 1)']);
  t.deepEqual(await value('FLAGS'), ['1 FETCH (FLAGS ())']);
  t.deepEqual(await value('INTERNALDATE'), ['1 FETCH (INTERNALDATE " 2-Jan-2026 03:04:05 +0000")']);
  t.deepEqual(await value('RFC822.SIZE'), [`1 FETCH (RFC822.SIZE ${message(1).length})`]);
  t.deepEqual(await value('PREVIEW'), ['1 FETCH (PREVIEW "text 1")']);
  t.deepEqual(await value('(PREVIEW (LAZY))'), ['1 FETCH (PREVIEW "text 1")']);
  t.regex((await value('EMAILID'))[0]!, /^1 FETCH \(EMAILID \([\w-]{1,255}\)\)$/);
  t.regex((await value('THREADID'))[0]!, /^1 FETCH \(THREADID \([\w-]{1,255}\)\)$/);
  t.regex((await value('SAVEDATE'))[0]!, /^1 FETCH \(SAVEDATE "[ \d]\d-\w{3}-\d{4} \d\d:\d\d:\d\d \+0000"\)$/);
  // RFC 7162 §3.1: this is the first command with a modseq.
  t.regex((await value('MODSEQ')).join(), /^OK \[HIGHESTMODSEQ \d+\] Highest modseq,1 FETCH \(MODSEQ \(\d+\)\)$/);
  t.deepEqual(await value('RFC822.HEADER'), [
    `1 FETCH (RFC822.HEADER {${message(1).length - 8}}\r\n${message(1).slice(0, -8)})`,
  ]);
  t.regex((await value('ALL'))[0]!, /^1 FETCH \(FLAGS \(\) INTERNALDATE "[^"]+" RFC822.SIZE \d+ ENVELOPE \(.*\)\)$/);
  t.regex((await value('FULL'))[0]!, /ENVELOPE \(.*\) BODY \("text" "plain" .*\)\)$/);
  t.deepEqual((await client.command('UID FETCH 1:* (FLAGS)')).untagged, ['1 FETCH (UID 1 FLAGS ())']);
  t.is(stores(gateway), 0);
});

test('names of sections are as the client wrote them', async (t) => {
  const client = await inbox(await startImap(t), 1);
  const { untagged } = await client.command('FETCH 1 (BODY.PEEK[HEADER.FIELDS (FROM "x y")]<2.5> BODY.PEEK[1]<4.9>)');
  t.deepEqual(untagged, ['1 FETCH (BODY[HEADER.FIELDS (FROM "x y")]<2> {5}\r\nom: a BODY[1]<4> {4}\r\n 1\r\n)']);
});

test('what shows the body marks as read, once a batch, and says so in the same response', async (t) => {
  const gateway = await startImap(t);
  const client = await inbox(gateway, 3);
  t.deepEqual((await client.command('FETCH 1 BODY[TEXT]')).untagged, [
    '1 FETCH (BODY[TEXT] {8}\r\ntext 1\r\n FLAGS (\\Seen))',
  ]);
  const all = await client.command('FETCH 1:3 (FLAGS BODY[1])');
  t.deepEqual(
    all.untagged,
    [1, 2, 3].map((n) => `${n} FETCH (FLAGS (\\Seen) BODY[1] {8}\r\ntext ${n}\r\n)`),
  );
  t.is(stores(gateway), 2);
  t.deepEqual((await client.command('FETCH 2 RFC822.TEXT')).untagged, ['2 FETCH (RFC822.TEXT {8}\r\ntext 2\r\n)']);
  t.is(stores(gateway), 2);
  t.is((await gateway.mailboxes.refs.of(ALICE).ask('unreadCount', {})).reply?.unread, 0);
});

test('a header that is no peek marks as read too; PEEK and EXAMINE do not', async (t) => {
  const gateway = await startImap(t);
  const client = await inbox(gateway, 2);
  await client.command('FETCH 1:2 (BODY.PEEK[] BINARY.PEEK[1] RFC822.HEADER BODYSTRUCTURE)');
  t.is(stores(gateway), 0);
  t.regex((await client.command('FETCH 1 BODY[HEADER]')).untagged[0]!, /FLAGS \(\\Seen\)\)$/);
  await client.command('EXAMINE INBOX');
  t.notRegex((await client.command('FETCH 2 BODY[]')).untagged[0]!, /FLAGS/);
  t.is(stores(gateway), 1);
});

test('with CONDSTORE the flags that a FETCH has set come with their modseq', async (t) => {
  const client = await inbox(await startImap(t), 1);
  await client.command('ENABLE CONDSTORE');
  const { untagged } = await client.command('FETCH 1 BODY[TEXT]');
  t.is(untagged.length, 1);
  t.regex(untagged[0]!, / FLAGS \(\\Seen\) MODSEQ \(\d+\)\)$/);
});

test('flags that another session changed are told once', async (t) => {
  const gateway = await startImap(t);
  const client = await inbox(gateway, 2);
  const other = await gateway.open();
  await other.command('SELECT INBOX');
  await other.command('STORE 2 +FLAGS.SILENT (\\Flagged work)');
  const { untagged } = await client.command('FETCH 1:2 FLAGS');
  t.deepEqual(
    untagged.filter((line) => line.includes(' FETCH ')),
    ['1 FETCH (FLAGS ())', '2 FETCH (FLAGS (\\Flagged work))'],
  );
  t.deepEqual((await client.command('NOOP')).untagged, []);
});

test('CHANGEDSINCE: what changed after, with modseqs, and VANISHED what is gone', async (t) => {
  const gateway = await startImap(t);
  const client = await inbox(gateway, 4);
  const modseq = /HIGHESTMODSEQ (\d+)/.exec((await client.command('STATUS INBOX (HIGHESTMODSEQ)')).untagged[0]!)![1]!;
  await client.command('STORE 2 +FLAGS.SILENT (\\Flagged)');
  const changed = await client.command(`FETCH 1:* (FLAGS) (CHANGEDSINCE ${modseq})`);
  t.is(changed.untagged.length, 1);
  t.regex(changed.untagged[0]!, /^2 FETCH \(MODSEQ \(\d+\) FLAGS \(\\Flagged\)\)$/);
  await client.command('STORE 3 +FLAGS.SILENT (\\Deleted)');
  t.is((await client.command(`UID FETCH 1:* (FLAGS) (CHANGEDSINCE ${modseq} VANISHED)`)).tagged.slice(0, 3), 'BAD');
  const all = await client.command('FETCH 1:* (FLAGS) (CHANGEDSINCE 0)');
  t.is(all.untagged.length, 4);
  await client.command('ENABLE QRESYNC');
  await client.command('EXPUNGE');
  const { untagged: copied } = await client.command('UID FETCH 1:* (UID) (CHANGEDSINCE 0 VANISHED)');
  t.is(copied[0], 'VANISHED (EARLIER) 3');
  t.is(copied.length, 4);
  const { untagged } = await client.command(`UID FETCH 1:* (FLAGS) (CHANGEDSINCE ${modseq} VANISHED)`);
  t.is(untagged[0], 'VANISHED (EARLIER) 3');
  t.regex(untagged[1]!, /^2 FETCH \(UID 2 MODSEQ/);
  t.is(untagged.length, 2);
  t.deepEqual((await client.command(`UID FETCH 1:2 (UID) (CHANGEDSINCE ${modseq} VANISHED)`)).untagged.length, 1);
  t.is((await client.command(`FETCH 1:* (FLAGS) (CHANGEDSINCE ${modseq} VANISHED)`)).tagged.slice(0, 3), 'BAD');
});

test('PARTIAL: a page of the messages, from either end', async (t) => {
  const client = await inbox(await startImap(t), 5);
  const uids = async (page: string) =>
    (await client.command(`UID FETCH 1:* (UID) (PARTIAL ${page})`)).untagged.map((line) => Number(line.split(' ')[0]));
  t.deepEqual(await uids('1:2'), [1, 2]);
  t.deepEqual(await uids('4:9'), [4, 5]);
  t.deepEqual(await uids('6:9'), []);
  t.deepEqual(await uids('-1:-2'), [4, 5]);
  t.deepEqual(await uids('-4:-100'), [1, 2]);
  t.deepEqual(await uids('-6:-7'), []);
});

test('with UIDONLY responses name messages by UID', async (t) => {
  const client = await inbox(await startImap(t), 2);
  await client.command('ENABLE UIDONLY');
  t.deepEqual((await client.command('UID FETCH 2 (FLAGS)')).untagged, ['2 UIDFETCH (FLAGS ())']);
  t.deepEqual((await client.command('UID FETCH 2 (BODY[TEXT])')).untagged, [
    '2 UIDFETCH (BODY[TEXT] {8}\r\ntext 2\r\n FLAGS (\\Seen))',
  ]);
});

test('messages that are gone are left out, and the completion says so', async (t) => {
  const gateway = await startImap(t);
  const client = await inbox(gateway, 3);
  const other = await gateway.open();
  await other.command('SELECT INBOX');
  await other.command('STORE 2 +FLAGS.SILENT (\\Deleted)');
  await other.command('EXPUNGE');
  for (const attribute of ['FLAGS', 'RFC822.SIZE', 'BODY.PEEK[TEXT]']) {
    const { untagged, tagged } = await client.command(`FETCH 1:3 ${attribute}`);
    t.deepEqual(
      untagged.map((line) => line[0]),
      ['1', '3'],
      attribute,
    );
    t.regex(tagged, /^OK \[EXPUNGEISSUED\]/);
  }
  t.deepEqual((await client.command('NOOP')).untagged, ['2 EXPUNGE']);
  t.deepEqual((await client.command('FETCH 1:2 UID')).untagged, ['1 FETCH (UID 1)', '2 FETCH (UID 3)']);
});

test('BINARY: decoded, as a literal8 where there is a NUL; an unknown encoding fails', async (t) => {
  const gateway = await startImap(t);
  const part = (encoding: string, body: string) =>
    `--b\r\nContent-Type: application/octet-stream\r\nContent-Transfer-Encoding: ${encoding}\r\n\r\n${body}\r\n`;
  await gateway.deliver(
    ALICE,
    `Content-Type: multipart/mixed; boundary=b\r\n\r\n${part('base64', 'AAECAw==')}${part('x-zip', 'x')}` +
      `${part('quoted-printable', 'a=3Db=\r\nc')}--b--\r\n`,
  );
  const client = await gateway.open();
  await client.command('EXAMINE INBOX');
  const { untagged } = await client.command(
    'FETCH 1 (BINARY.SIZE[1] BINARY[1] BINARY[1]<1.2> BINARY[3] BINARY.SIZE[3] BINARY[3]<9.1>)',
  );
  t.deepEqual(untagged, [
    '1 FETCH (BINARY.SIZE[1] 4 BINARY[1] ~{4}\r\n\0\x01\x02\x03 BINARY[1]<1> {2}\r\n\x01\x02 ' +
      'BINARY[3] {4}\r\na=bc BINARY.SIZE[3] 4 BINARY[3]<9> {0}\r\n)',
  ]);
  const unknown = await client.command('FETCH 1 (BINARY[2])');
  t.regex(unknown.tagged, /^NO \[UNKNOWN-CTE\]/);
  t.deepEqual(unknown.untagged, ['1 FETCH (BINARY[2] NIL)'], 'not an empty part that a client would keep');
  t.regex((await client.command('FETCH 1 (BINARY.SIZE[2])')).tagged, /^NO \[UNKNOWN-CTE\]/);
});

test('large parts are decoded and cut while they are sent', async (t) => {
  const gateway = await startImap(t);
  const octets = randomBytes(1_500_000);
  const encoded = octets.toString('base64').replace(/.{76}/g, '$&\r\n');
  await gateway.deliver(ALICE, `Content-Type: image/png\r\nContent-Transfer-Encoding: base64\r\n\r\n${encoded}\r\n`);
  const client = await gateway.open();
  await client.command('EXAMINE INBOX');
  const literal = async (attribute: string) => {
    const { untagged } = await client.command(`FETCH 1 (${attribute})`);
    return Buffer.from(/\{\d+\}\r\n(.*)\)$/s.exec(untagged[0]!)![1]!, 'latin1');
  };
  t.true((await literal('BINARY.PEEK[1]')).equals(octets));
  t.true((await literal('BINARY.PEEK[1]<700000.400000>')).equals(octets.subarray(700_000, 1_100_000)));
  t.deepEqual((await client.command('FETCH 1 (BINARY.SIZE[1])')).untagged, ['1 FETCH (BINARY.SIZE[1] 1500000)']);
  t.is((await literal('BODY.PEEK[1]')).toString(), `${encoded}\r\n`);
  t.is((await literal('BODY.PEEK[1]<1000000.500000>')).toString(), `${encoded}\r\n`.slice(1_000_000, 1_500_000));
});

test('an embedded message that is fetched again has the same structure', async (t) => {
  const gateway = await startImap(t);
  const inner = 'Subject: inner\r\nFrom: a@b.test\r\n\r\ntext\r\n';
  await gateway.deliver(ALICE, `Content-Type: message/rfc822\r\n\r\n${inner}`);
  const client = await gateway.open();
  await client.command('EXAMINE INBOX');
  const author = '((NIL NIL "a" "b.test"))';
  const expected =
    `1 FETCH (BODY ("message" "rfc822" NIL NIL NIL "7bit" ${inner.length} (NIL "inner" ${author} ${author} ${author} ` +
    'NIL NIL NIL NIL NIL) ("text" "plain" ("charset" "us-ascii") NIL NIL "7bit" 6 1) 4))';
  t.deepEqual((await client.command('FETCH 1 BODY')).untagged, [expected]);
  t.deepEqual((await client.command('FETCH 1 BODY')).untagged, [expected]);
});

test('flags are those of the message although others go while its body is read', async (t) => {
  const gateway = await startImap(t);
  for (let n = 1; n <= 3; n++) await gateway.deliver(ALICE, message(n, 'x'.repeat(300_000)));
  const client = await gateway.open();
  await client.command('SELECT INBOX');
  await client.command('STORE 2 +FLAGS.SILENT (\\Flagged)');
  await client.command('STORE 3 +FLAGS.SILENT (\\Answered)');
  const other = await gateway.open();
  await other.command('SELECT INBOX');
  const { blobs } = gateway;
  const read = blobs.read.bind(blobs);
  const expunging = async (uid: number) => {
    blobs.read = read;
    await other.command(`UID STORE ${uid} +FLAGS.SILENT (\\Deleted)`);
    await other.command('EXPUNGE');
  };
  blobs.read = async (...args) => {
    await expunging(1);
    return read(...args);
  };
  t.deepEqual((await client.command('FETCH 2:3 (BODY.PEEK[1]<0.3> FLAGS)')).untagged, [
    `2 FETCH (BODY[1]<0> {3}\r\nxxx FLAGS (\\Flagged))`,
    `3 FETCH (BODY[1]<0> {3}\r\nxxx FLAGS (\\Answered))`,
  ]);
  blobs.read = async (...args) => {
    await expunging(2);
    return read(...args);
  };
  const { untagged, tagged } = await client.command('UID FETCH 2:3 (BODY.PEEK[1]<0.3> FLAGS)');
  t.deepEqual(
    untagged.filter((line) => line.includes('FETCH')),
    [`3 FETCH (UID 3 BODY[1]<0> {3}\r\nxxx FLAGS (\\Answered))`],
  );
  t.regex(tagged, /^OK \[EXPUNGEISSUED\]/);
});
