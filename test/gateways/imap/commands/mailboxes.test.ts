// Tests CREATE, DELETE, RENAME, SUBSCRIBE, UNSUBSCRIBE, annotations and quota; the other protocols see each change at once.
import test from '../../../support/test.js';
import { Literal } from '../client.js';
import { ALICE, type ImapGateway, startImap } from '../gateway.js';

const foldersOf = async ({ mailboxes }: ImapGateway) =>
  (await mailboxes.refs.of(ALICE).ask('folders', {})).reply!.folders.slice(6);

async function start(t: Parameters<typeof startImap>[0]) {
  const gateway = await startImap(t);
  const client = await gateway.open();
  const tagged = async (text: string) => (await client.command(text)).tagged;
  const made = async () => (await foldersOf(gateway)).map(({ path }) => path);
  return { gateway, client, tagged, made };
}

test('CREATE makes a label, whose levels above need not exist', async (t) => {
  const { gateway, tagged, made } = await start(t);
  const answer = await tagged('CREATE Work/Clients/');
  const [folder] = await foldersOf(gateway);
  t.is(answer, `OK [MAILBOXID (${folder!.id})] CREATE completed`);
  t.like(folder, { path: 'Work/Clients', role: 'label', color: '#808080', isSubscribed: true });
  t.regex(await tagged('CREATE work/CLIENTS'), /^NO \[ALREADYEXISTS\] /);
  t.regex(await tagged('CREATE Inbox'), /^NO \[ALREADYEXISTS\] /);
  t.regex(await tagged('CREATE Outbox'), /^NO \[CANNOT\] /);
  for (const name of ['""', '/', '/a', 'a//b', '" a"', 'a/" "', `"${'x'.repeat(101)}"`]) {
    t.regex(await tagged(`CREATE ${name}`), /^(NO \[CANNOT\]|BAD) /, name);
  }
  t.regex(await tagged(`CREATE ${Array.from({ length: 21 }, () => 'a').join('/')}`), /^NO \[LIMIT\] /);
  t.regex(await tagged('CREATE Mail (USE (\\Sent))'), /^NO \[USEATTR\] /);
  t.regex(await tagged('CREATE Mail (USE (\\Flagged))'), /^NO \[USEATTR\] /);
  t.regex(await tagged('CREATE Mail (USE ())'), /^OK /);
  t.deepEqual(await made(), ['Mail', 'Work/Clients']);
});

test('a name of very many levels is refused before anything is compared with it', async (t) => {
  const { gateway, client } = await start(t);
  await client.command('CREATE Work');
  const deep = new Literal(`Work/${'a/'.repeat(100_000)}b`);
  const before = gateway.mailboxes.asked.length;
  t.is((await client.command('CREATE ', deep)).tagged, 'NO [LIMIT] The name is too long or has too many levels');
  t.is((await client.command('RENAME Work ', deep)).tagged, 'NO [LIMIT] The name is too long or has too many levels');
  t.is((await client.command('RENAME INBOX ', deep)).tagged, 'NO [LIMIT] The name is too long or has too many levels');
  t.is(gateway.mailboxes.asked.length, before);
});

test('a new name has the spelling of the levels above it, and IMAP4rev2 programs are told', async (t) => {
  const { client, tagged, made } = await start(t);
  await tagged('CREATE Work/a');
  await tagged('ENABLE IMAP4rev2');
  const { untagged } = await client.command('CREATE work/b');
  t.deepEqual(untagged, ['LIST () "/" Work/b ("OLDNAME" (work/b))']);
  await tagged('CREATE x');
  t.deepEqual((await client.command('RENAME x WORK/c')).untagged, ['LIST () "/" Work/c ("OLDNAME" (WORK/c))']);
  t.deepEqual(await made(), ['Work/a', 'Work/b', 'Work/c']);
});

test('DELETE keeps the subscription of the name, until it is given up', async (t) => {
  const { client, tagged } = await start(t);
  const untagged = async (line: string) => (await client.command(line)).untagged;
  for (const name of ['a', 'a/b', 'plain', 'x']) await tagged(`CREATE ${name}`);
  await tagged('UNSUBSCRIBE plain');
  for (const name of ['a/b', 'a', 'plain', 'x']) t.regex(await tagged(`DELETE ${name}`), /^OK /);
  t.deepEqual(await untagged('LIST "" (a* x plain)'), []);
  t.deepEqual(await untagged('LIST (SUBSCRIBED) "" (a* x plain)'), [
    'LIST (\\Noselect \\NonExistent \\HasNoChildren \\Subscribed) "/" a',
    'LIST (\\Noselect \\NonExistent \\HasNoChildren \\Subscribed) "/" a/b',
    'LIST (\\Noselect \\NonExistent \\HasNoChildren \\Subscribed) "/" x',
  ]);
  t.deepEqual(await untagged('LSUB "" a*'), ['LSUB () "/" a', 'LSUB () "/" a/b']);
  t.regex(await tagged('SELECT x'), /^NO /);
  t.regex(await tagged('DELETE x'), /^NO \[NONEXISTENT\] /);
  t.regex(await tagged('SUBSCRIBE X'), /^OK /);
  t.regex(await tagged('SUBSCRIBE plain'), /^NO \[NONEXISTENT\] /);
  t.regex(await tagged('UNSUBSCRIBE X'), /^OK /);
  t.deepEqual(await untagged('LSUB "" x'), []);
  await tagged('CREATE a');
  t.deepEqual(await untagged('LSUB "" a'), ['LSUB () "/" a']);
  await tagged('UNSUBSCRIBE a');
  await tagged('DELETE a');
  t.deepEqual(await untagged('LSUB "" a*'), ['LSUB () "/" a/b']);
});

test('names of deleted mailboxes stay subscribed within bounds, and are read as names whatever a client writes', async (t) => {
  const { client, tagged } = await start(t);
  const entry = '/private/vendor/mansio/subscriptions';
  const long = 'n'.repeat(90);
  const names = Array.from({ length: 600 }, (_, i) => `${long}${i}`);
  await tagged(`SETMETADATA "" (${entry} {${names.join('\n').length}+}\r\n${names.join('\n')})`);
  t.is((await client.command('LSUB "" n*')).untagged.length, 500);
  await tagged('CREATE new');
  await tagged('DELETE new');
  const listed = (await client.command('LSUB "" n*')).untagged;
  t.is(listed.at(-1), 'LSUB () "/" new');
  t.true(listed.length < 500 && listed.join('').length < 60_000);
  await tagged(`SETMETADATA "" (${entry} {12+}\r\nx//y\n\n\tz\nok\n)`);
  t.deepEqual((await client.command('LIST (SUBSCRIBED) "" (x* *z ok)')).untagged, [
    'LIST (\\Noselect \\NonExistent \\HasNoChildren \\Subscribed) "/" ok',
  ]);
});

test('a name that the client does not send composed is told as OLDNAME', async (t) => {
  const { client, tagged, made } = await start(t);
  await tagged('ENABLE IMAP4rev2');
  const [composed, written] = ['caf\u00e9', 'cafe\u0301'];
  const renamed = [`LIST () "/" "${composed}" ("OLDNAME" ("${written}"))`];
  const told = async (line: string) =>
    (await client.command(line)).untagged.filter((text) => text.includes('OLDNAME')).map(unquoted);
  const unquoted = (text: string) =>
    Buffer.from(text, 'latin1')
      .toString()
      .replace(/\(\\[^)]*\)/, '()');
  t.deepEqual(await told(`CREATE "${written}"`), renamed);
  t.deepEqual(await made(), [composed]);
  t.deepEqual(await told(`SELECT "${written}"`), renamed);
  t.deepEqual(await told(`EXAMINE "${written}"`), renamed);
  t.deepEqual(await told(`LIST "" "${written}"`), renamed);
  t.deepEqual(await told(`LIST "" (INBOX "${written}") RETURN (CHILDREN)`), renamed);
  t.deepEqual(await told(`LIST "" "${composed}"`), []);
  await tagged(`RENAME "${written}" x`);
  t.deepEqual(await told(`RENAME x "${written}"`), renamed);
});

test('DELETE leaves what is below the mailbox, and no mail is lost', async (t) => {
  const { client, gateway, tagged, made } = await start(t);
  await tagged('CREATE a');
  await tagged('CREATE a/b');
  await client.command('APPEND a/b ', new Literal('Subject: x\r\n\r\nx'));
  await client.command('APPEND a ', new Literal('Subject: y\r\n\r\ny'));
  t.is(await tagged('DELETE A'), 'OK DELETE completed');
  t.deepEqual(await made(), ['a/b']);
  t.regex(await tagged('DELETE a'), /^NO \[HASCHILDREN\] /);
  t.regex(await tagged('DELETE a/b/c'), /^NO \[NONEXISTENT\] /);
  for (const name of ['INBOX', 'Trash', 'junk']) t.regex(await tagged(`DELETE ${name}`), /^NO \[CANNOT\] /);
  const { reply } = await gateway.mailboxes.refs.of(ALICE).ask('list', { folder: 'archive', page: 1, pageSize: 10 });
  t.is(reply!.totalCount, 1);
});

test('DELETE of the selected mailbox closes it', async (t) => {
  const { client, tagged } = await start(t);
  await tagged('CREATE a');
  await tagged('SELECT a');
  const { untagged, tagged: answer } = await client.command('DELETE a');
  t.deepEqual(untagged, ['OK [CLOSED] The selected mailbox is deleted']);
  t.is(answer, 'OK DELETE completed');
  t.regex(await tagged('FETCH 1 FLAGS'), /^BAD /);
  t.regex(await tagged('SELECT INBOX'), /^OK /);
});

test('RENAME takes inferiors along', async (t) => {
  const { tagged, made } = await start(t);
  for (const name of ['a', 'a/b', 'a/b/c', 'z']) await tagged(`CREATE ${name}`);
  t.is(await tagged('RENAME a new/level/A'), 'OK RENAME completed');
  t.deepEqual(await made(), ['new/level/A', 'new/level/A/b', 'new/level/A/b/c', 'z']);
  t.is(await tagged('RENAME Z z2'), 'OK RENAME completed');
  t.is(await tagged('RENAME z2 Z2'), 'OK RENAME completed');
  t.regex(await tagged('RENAME Z2 new/level/a'), /^NO \[ALREADYEXISTS\] /);
  t.regex(await tagged('RENAME Z2 INBOX'), /^NO \[ALREADYEXISTS\] /);
  t.regex(await tagged('RENAME Z2 Z2'), /^NO \[ALREADYEXISTS\] /);
  t.regex(await tagged('RENAME new/level/a NEW/level/A'), /^NO \[ALREADYEXISTS\] /);
  t.regex(await tagged('RENAME Z2 Z2/x'), /^NO \[CANNOT\] /);
  t.regex(await tagged('RENAME Sent Gone'), /^NO \[CANNOT\] /);
  t.regex(await tagged('RENAME nothing x'), /^NO \[NONEXISTENT\] /);
  t.regex(await tagged('RENAME new x'), /^NO \[NONEXISTENT\] /);
  t.deepEqual(await made(), ['new/level/A', 'new/level/A/b', 'new/level/A/b/c', 'Z2']);
});

test('RENAME of INBOX moves its messages and leaves it empty', async (t) => {
  const { client, gateway, tagged, made } = await start(t);
  await tagged('CREATE INBOX/below');
  for (const text of ['one', 'two']) await gateway.deliver(ALICE, `Subject: ${text}\r\n\r\n${text}\r\n`);
  t.is(await tagged('RENAME INBOX Old/mail'), 'OK RENAME completed');
  t.deepEqual(await made(), ['INBOX/below', 'Old/mail']);
  t.deepEqual((await client.command('STATUS INBOX (MESSAGES)')).untagged, ['STATUS INBOX (MESSAGES 0)']);
  t.deepEqual((await client.command('STATUS Old/mail (MESSAGES)')).untagged, ['STATUS Old/mail (MESSAGES 2)']);
  t.regex(await tagged('RENAME INBOX Old/mail'), /^NO \[ALREADYEXISTS\] /);
});

test('subscriptions belong to mailboxes that are there', async (t) => {
  const { gateway, tagged } = await start(t);
  await tagged('CREATE a');
  t.is(await tagged('UNSUBSCRIBE A'), 'OK UNSUBSCRIBE completed');
  t.false((await foldersOf(gateway))[0]!.isSubscribed);
  t.is(await tagged('SUBSCRIBE a/'), 'OK SUBSCRIBE completed');
  t.true((await foldersOf(gateway))[0]!.isSubscribed);
  t.regex(await tagged('SUBSCRIBE nothing'), /^NO \[NONEXISTENT\] /);
  t.regex(await tagged('UNSUBSCRIBE nothing'), /^OK /);
});

test('what REST changes is there for the next command', async (t) => {
  const { client, gateway, tagged } = await start(t);
  const mailbox = gateway.mailboxes.refs.of(ALICE);
  const { reply } = await mailbox.ask('createLabel', { name: 'Red/one', color: '#ff0000', sortOrder: 1 });
  t.deepEqual((await client.command('LIST "" R*')).untagged, ['LIST (\\HasNoChildren) "/" Red/one']);
  await mailbox.ask('deleteLabel', { labelId: reply!.id });
  t.deepEqual((await client.command('LIST "" R*')).untagged, []);
  t.regex(await tagged('STATUS Red/one (MESSAGES)'), /^NO \[NONEXISTENT\] /);
});

test('annotations are set, read by depth and size, and removed', async (t) => {
  const { client, tagged } = await start(t);
  await tagged('CREATE a');
  const binary = new Literal(Buffer.from('a\0b'), true);
  const set = await client.command('SETMETADATA a (/private/comment "hello" /Shared/vendor/x/y ', binary, ')');
  t.is(set.tagged, 'OK SETMETADATA completed');
  const get = async (text: string) => {
    const { untagged, tagged: answer } = await client.command(`GETMETADATA ${text}`);
    return [...untagged, answer];
  };
  t.deepEqual(await get('a (/private/comment /private/none)'), [
    'METADATA a (/private/comment "hello" /private/none NIL)',
    'OK GETMETADATA completed',
  ]);
  t.deepEqual(await get('(DEPTH 1) a /shared/vendor'), ['OK GETMETADATA completed']);
  t.deepEqual(await get('(DEPTH infinity) a /shared'), [
    'METADATA a (/shared/vendor/x/y ~{3}\r\na\0b)',
    'OK GETMETADATA completed',
  ]);
  t.deepEqual(await get('a (MAXSIZE 4) (/private/comment /shared/vendor/x/y)'), [
    'METADATA a (/shared/vendor/x/y ~{3}\r\na\0b)',
    'OK [METADATA LONGENTRIES 5] GETMETADATA completed without long entries',
  ]);
  t.deepEqual((await client.command('LIST "" a RETURN (METADATA (/private/comment))')).untagged, [
    'LIST (\\HasNoChildren) "/" a',
    'METADATA a (/private/comment "hello")',
  ]);
  await tagged('SETMETADATA "" (/private/vendor/theme dark)'.replace('dark', '"dark"'));
  t.deepEqual(await get('"" /private/vendor/theme'), [
    'METADATA "" (/private/vendor/theme "dark")',
    'OK GETMETADATA completed',
  ]);
  t.regex(await tagged('SETMETADATA "" (/shared/comment "x")'), /^NO \[NOPERM\] /);
  t.regex(await tagged('SETMETADATA a (/other/comment "x")'), /^NO \[CANNOT\] /);
  t.regex(await tagged('SETMETADATA nothing (/private/comment "x")'), /^NO \[NONEXISTENT\] /);
  const large = await client.command('SETMETADATA a (/private/comment ', new Literal('x'.repeat(65_537)), ')');
  t.regex(large.tagged, /^NO \[METADATA MAXSIZE 65536\] /);
  const many = Array.from({ length: 101 }, (_, i) => `/private/n${i} "x"`).join(' ');
  t.regex(await tagged(`SETMETADATA a (${many})`), /^NO \[METADATA TOOMANY\] /);
  await tagged('SETMETADATA a (/private/comment NIL)');
  t.deepEqual(await get('a /private/comment'), ['METADATA a (/private/comment NIL)', 'OK GETMETADATA completed']);
});

test('the account is a quota root for octets, messages and mailboxes', async (t) => {
  const { gateway, client, tagged } = await start(t);
  await tagged('CREATE a');
  t.deepEqual((await client.command('GETQUOTAROOT a')).untagged, ['QUOTAROOT a ""', 'QUOTA "" (MAILBOX 7 506)']);
  t.deepEqual((await client.command('GETQUOTA ""')).untagged, ['QUOTA "" (MAILBOX 7 506)']);
  t.regex(await tagged('GETQUOTA other'), /^NO \[NONEXISTENT\] /);
  t.regex(await tagged('GETQUOTAROOT nothing'), /^NO \[NONEXISTENT\] /);
  const { context } = gateway;
  const used = { bytes: 2_049, messages: 7 };
  const limits = async (bytes: number | null, messages: number | null) => {
    Object.assign(context, { quotas: { usageOf: async () => ({ used, limit: { bytes, messages } }) } });
    return (await client.command('GETQUOTA ""')).untagged;
  };
  t.deepEqual(await limits(null, null), ['QUOTA "" (MAILBOX 7 506)']);
  t.deepEqual(await limits(10_240, 8), ['QUOTA "" (STORAGE 3 10 MESSAGE 7 8 MAILBOX 7 506)']);
  t.regex(await tagged('SETQUOTA "" (STORAGE 512)'), /^NO \[NOPERM\] /);
});
