// Tests APPEND and REPLACE as a client sees them.
import { filter, firstValueFrom, mergeMap } from 'rxjs';
import test from '../../../support/test.js';
import { Literal } from '../client.js';
import { ALICE, startImap } from '../gateway.js';
import { BYTES, emailsIn, fetched, MESSAGE, uidOf } from './appended-messages.js';

test('the octets are kept as they are, with flags and date', async (t) => {
  const gateway = await startImap(t);
  const client = await gateway.open();
  const { tagged } = await client.command(
    'APPEND Drafts (\\Draft \\seen $Forwarded custom \\Recent) " 1-Feb-2020 03:04:05 +0100" ',
    new Literal(BYTES),
  );
  t.is(uidOf(tagged), '1');
  const shown = await fetched(client, 'Drafts', 1, 'FLAGS INTERNALDATE RFC822.SIZE BODY.PEEK[]');
  t.true(shown.includes(`BODY[] {${BYTES.length}}\r\n${MESSAGE}`), shown);
  t.true(shown.includes(`RFC822.SIZE ${BYTES.length}`));
  t.true(shown.includes('INTERNALDATE "01-Feb-2020 02:04:05 +0000"') || shown.includes('" 1-Feb-2020 02:04:05 +0000"'));
  for (const flag of ['\\Draft', '\\Seen', '$Forwarded', 'custom']) t.true(shown.includes(flag), flag);
  t.false(/recent/i.test(/FLAGS \([^)]*\)/.exec(shown)![0]));
  const [email] = await emailsIn(gateway, 'drafts');
  t.like(email, { subject: 'Hello', isRead: true });
});

test('the reply comes after the commit, and the inbox alone has new mail', async (t) => {
  const gateway = await startImap(t);
  const client = await gateway.open();
  for (const [mailbox, isNew] of [
    ['Archive', false],
    ['INBOX', true],
  ] as const) {
    const added = firstValueFrom(
      gateway.mailboxes.refs
        .of(ALICE)
        .events$()
        .pipe(
          mergeMap((events) => events),
          filter(({ type }) => type === 'EmailAdded'),
        ),
    );
    await client.command(`APPEND ${mailbox} `, new Literal(BYTES));
    t.is((await emailsIn(gateway, mailbox.toLowerCase())).length, 1);
    t.is(((await added).payload as { isNew?: boolean }).isNew ?? false, isNew);
  }
});

test('what can be refused is refused before the client is invited', async (t) => {
  const gateway = await startImap(t, { maxMessageSize: 1000 });
  const client = await gateway.open();
  const refused = async (text: string): Promise<string> => {
    const { untagged, tagged } = await client.command(text);
    t.deepEqual(untagged, [], text);
    return tagged;
  };
  t.regex(await refused('APPEND New {10}'), /^NO \[TRYCREATE\] /);
  t.regex(await refused('APPEND a//b {10}'), /^NO \[NONEXISTENT\] /);
  t.regex(await refused('APPEND Drafts {1001}'), /^NO \[TOOBIG\] /);
  t.regex(await refused('APPEND Drafts {0}'), /^NO /);
  t.regex(await refused('APPEND Drafts (\\Unheard) {10}'), /^NO \[CANNOT\] /);
  t.regex(await refused('APPEND Drafts "32-Feb-2020 00:00:00 +0000" {10}'), /^BAD /);
  t.regex(await refused('APPEND Drafts UTF8 (~{10}'), /^BAD /);
  t.regex(await refused('APPEND Drafts'), /^BAD /);
  t.regex(await refused('APPEND Drafts CATENATE (TEXT {1001}'), /^NO \[TOOBIG\] /);
  client.close();
  t.is(gateway.blobs.blobs.size, 0);
  t.is(gateway.context.spool.memory.used, 0);
});

test('a literal that was sent without an invitation is passed over when the message is refused', async (t) => {
  const gateway = await startImap(t, { maxMessageSize: 1000 });
  const client = await gateway.open();
  t.regex((await client.command('APPEND Drafts ', new Literal('x'.repeat(1500)))).tagged, /^NO \[TOOBIG\] /);
  t.regex((await client.command('APPEND New ', new Literal('x'.repeat(500)))).tagged, /^NO \[TRYCREATE\] /);
  t.regex((await client.command('APPEND Drafts ', new Literal('a\0b'))).tagged, /^BAD /);
  t.regex((await client.command('APPEND Drafts ', new Literal('a\0b', true))).tagged, /^NO \[UNKNOWN-CTE\] /);
  t.regex((await client.command('APPEND Drafts ', new Literal(BYTES, true))).tagged, /^OK /);
  t.is(gateway.context.spool.memory.used, 0);
});

test('a client that waits is invited once for each message', async (t) => {
  const gateway = await startImap(t);
  const client = await gateway.open();
  client.write(`x1 APPEND Drafts (\\Seen) {${BYTES.length}}\r\n`);
  t.regex(await client.next(), /^\+ /);
  client.write(BYTES).write(` {${BYTES.length}}\r\n`);
  t.regex(await client.next(), /^\+ /);
  client.write(BYTES).write('\r\n');
  t.regex(await client.next(), /^x1 OK \[APPENDUID \d+ 1:2\] /);
});

test('several messages of one command are all stored or none', async (t) => {
  const gateway = await startImap(t, { maxMessageSize: 1000 });
  const client = await gateway.open();
  const message = (n: number) => new Literal(`Subject: ${n}\r\n\r\n${n}\r\n`);
  const { tagged } = await client.command(
    'APPEND Drafts (\\Seen) ',
    message(1),
    ' (\\Flagged) ',
    message(2),
    ' ',
    message(3),
  );
  t.is(uidOf(tagged), '1:3');
  for (const last of [new Literal('x'.repeat(1001)), new Literal(''), new Literal('a\0', true)]) {
    const { tagged: refused } = await client.command('APPEND Drafts ', message(4), ' ', last);
    t.regex(refused, /^NO /);
  }
  t.regex((await client.command('APPEND Drafts ', message(5), ' (\\Unheard) ', message(6))).tagged, /^NO \[CANNOT\] /);
  t.regex((await client.command('APPEND Drafts ', message(7), ' junk')).tagged, /^BAD /);
  const shown = await emailsIn(gateway, 'drafts');
  t.deepEqual(shown.map(({ subject }) => subject).sort(), ['1', '2', '3']);
  const parts = Array.from({ length: 1_001 }, (_, n) => [' ', message(n)]).flat();
  t.regex((await client.command('APPEND Drafts', ...parts)).tagged, /^NO \[LIMIT\] /);
  t.is((await emailsIn(gateway, 'drafts')).length, 3);
});

test('UTF8 is for those who have enabled it', async (t) => {
  const gateway = await startImap(t);
  const client = await gateway.open();
  const message = new Literal('Subject: Zoë 💌\r\n\r\nx\r\n', true);
  t.regex((await client.command('APPEND Drafts UTF8 (', message, ')')).tagged, /^BAD /);
  t.regex((await client.command('APPEND Drafts CATENATE (UTF8 (', message, '))')).tagged, /^BAD /);
  await client.command('ENABLE UTF8=ACCEPT');
  t.regex((await client.command('APPEND Drafts (\\Draft) UTF8 (', message, ')')).tagged, /^OK \[APPENDUID /);
  t.regex((await client.command('APPEND Drafts UTF8 (', message, '')).tagged, /^BAD /);
  const header = new Literal('Subject: Zoë 2\r\n', true);
  const body = new Literal('\r\n💌\r\n');
  const parts = ['CATENATE (UTF8 (', header, ') TEXT ', body, ')'];
  t.regex((await client.command('APPEND Drafts ', ...parts)).tagged, /^OK \[APPENDUID /);
  t.regex((await client.command('APPEND Drafts CATENATE (UTF8 (', body, '))')).tagged, /^BAD /);
  t.regex((await client.command('APPEND Drafts CATENATE (UTF8 (', header, ')')).tagged, /^BAD /);
  t.deepEqual((await emailsIn(gateway, 'drafts')).map(({ subject }) => subject).sort(), ['Zoë 2', 'Zoë 💌']);
});

test('an account has so many keywords at most', async (t) => {
  const gateway = await startImap(t);
  const client = await gateway.open();
  const keywords = Array.from({ length: 201 }, (_, n) => `k${n}`);
  t.regex(
    (await client.command(`APPEND Drafts (${keywords.join(' ')}) `, new Literal(BYTES))).tagged,
    /^NO \[LIMIT\] /,
  );
  t.regex((await client.command(`APPEND Drafts (${keywords.slice(1).join(' ')}) `, new Literal(BYTES))).tagged, /^OK /);
});

test('a message that is appended to the selected mailbox is told before the reply', async (t) => {
  const gateway = await startImap(t);
  const client = await gateway.open();
  await client.command('SELECT Drafts');
  const { untagged } = await client.command('APPEND Drafts ', new Literal(BYTES));
  t.is(untagged[0], '1 EXISTS');
});

test('REPLACE puts one message in the place of another, in another mailbox too', async (t) => {
  const gateway = await startImap(t);
  const client = await gateway.open();
  await client.command('APPEND Drafts ', new Literal('Subject: 1\r\n\r\n1'), ' ', new Literal('Subject: 2\r\n\r\n2'));
  await client.command('SELECT Drafts');
  const first = await client.command('REPLACE 1 Drafts (\\Draft) ', new Literal('Subject: 3\r\n\r\n3'));
  t.regex(first.untagged[0]!, /^OK \[APPENDUID \d+ 3\] /);
  t.true(first.untagged.includes('1 EXPUNGE'));
  t.is(first.tagged, 'OK REPLACE completed');
  const second = await client.command('UID REPLACE 2 Archive ', new Literal('Subject: 4\r\n\r\n4'));
  t.regex(second.untagged[0]!, /^OK \[APPENDUID \d+ 1\] /);
  t.deepEqual(
    (await emailsIn(gateway, 'drafts')).map(({ subject }) => subject),
    ['3'],
  );
  t.deepEqual(
    (await emailsIn(gateway, 'archive')).map(({ subject }) => subject),
    ['4'],
  );
  const five = new Literal('Subject: 5\r\n\r\n5');
  t.regex((await client.command('UID REPLACE 2 Drafts ', five)).tagged, /^NO \[NONEXISTENT\] /);
  t.regex((await client.command('REPLACE 2 Drafts ', five)).tagged, /^BAD /);
  t.regex((await client.command('REPLACE 1 New ', five)).tagged, /^NO \[TRYCREATE\] /);
  t.regex((await client.command('REPLACE 1 Drafts ', five, ' ', five)).tagged, /^BAD /);
  await client.command('EXAMINE Drafts');
  t.regex((await client.command('REPLACE 1 Drafts ', five)).tagged, /^NO \[READ-ONLY\] /);
  t.deepEqual(
    (await emailsIn(gateway, 'drafts')).map(({ subject }) => subject),
    ['3'],
  );
});
