// Tests `mansio import` as operators run it: with a running node and without, repeated, and with broken input.
import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createAccount, storeOf } from '../../../dev/node-accounts.js';
import { temporaryDirectory } from '../../../dev/temporary-directory.js';
import type { Sql } from '../../../src/store/postgres/driver/client.js';
import { MailboxClient } from '../../support/clients/mailbox-client.js';
import { mansio } from '../../support/command.js';
import { startTestNode } from '../../support/node.js';
import test from '../../support/test.js';

const ACCOUNT = 'zoe@example.test';

const mail = (i: number) =>
  `From a@b.test Sat Feb  3 04:05:06 2001\nFrom: A <a@b.test>\nSubject: mail ${i}\nMessage-ID: <${i}@b.test>\nStatus: ${i % 2 === 0 ? 'RO' : 'O'}\n\n>From ${i}\n\n`;

function mbox(count: number): string {
  const file = join(temporaryDirectory('mansio-import-'), 'mbox');
  writeFileSync(file, Array.from({ length: count }, (_, i) => mail(i)).join(''));
  return file;
}

test('a mailbox file comes into the inbox, a folder or under a label, once', async (t) => {
  const node = await startTestNode();
  const sql = await storeOf(node);
  const account = await createAccount(sql, ACCOUNT);
  const file = mbox(300);
  const run = (...more: string[]) =>
    mansio(node.dataDir, ['import', '--account', ACCOUNT, '--mbox', file, '--json', ...more]);
  const first = await run();
  t.is(first.code, 0, first.stderr);
  t.deepEqual(JSON.parse(first.stdout), { imported: 300, skipped: 0, failed: 0 });
  t.is(first.stderr, '');
  t.deepEqual(JSON.parse((await run()).stdout), { imported: 0, skipped: 300, failed: 0 });
  const inFolder = await run('--folder', 'Zoë 💌/alt', '--label', 'Umzug');
  t.deepEqual(JSON.parse(inFolder.stdout), { imported: 300, skipped: 0, failed: 0 });
  const client = new MailboxClient(node, account.key);
  const inbox = await client.inbox();
  t.is(inbox.length, 300);
  t.true(inbox.every(({ receivedAt }) => Date.parse(receivedAt) === Date.UTC(2001, 1, 3, 4, 5, 6)));
  t.is(inbox.filter(({ isRead }) => isRead).length, 150);
  const folders = await sql`select name, role, total, unread from folders where total > 0 order by name`;
  t.deepEqual(
    folders.map((row) => [row['name'], row['role'], row['total'], row['unread']]),
    [
      ['INBOX', 'inbox', 300, 150],
      ['Umzug', 'label', 300, 150],
      ['Zoë 💌/alt', 'folder', 300, 150],
    ],
  );
  const threads = await sql`select count(distinct thread_id)::int as count from emails`;
  t.is(threads[0]!['count'], 300, 'a copy in another folder is of the thread of the first');
  await sql.end();
  await node.stop();
});

test('without a node the mail waits for one, and broken input is reported by its place', async (t) => {
  const settings = { MANSIO_DATA_DIR: temporaryDirectory('mansio-import-node-') };
  const made = await mansio(settings.MANSIO_DATA_DIR, [
    'account',
    'create',
    '--email',
    ACCOUNT,
    '--name',
    'Z',
    '--create',
  ]);
  t.is(made.code, 0, made.stderr);
  const file = join(temporaryDirectory('mansio-import-'), 'mbox');
  writeFileSync(file, `${mail(0)}From x Sat Feb  3 04:05:06 2001\n\n${mail(1)}`);
  const args = ['import', '--account', ACCOUNT, '--mbox', file];
  const run = await mansio(settings.MANSIO_DATA_DIR, args);
  t.is(run.code, 1);
  t.regex(run.stderr, /^not imported: message 2 at octet \d+: empty\n/);
  t.regex(run.stdout, /^2 imported, 0 already there\n1 could not be imported.*\n2 wait to be placed/);
  const again = await mansio(settings.MANSIO_DATA_DIR, [...args, '--json']);
  t.deepEqual(JSON.parse(again.stdout), { imported: 0, skipped: 2, failed: 1, waiting: 2 });
  const node = await startTestNode(settings);
  const sql = await storeOf(node);
  const placed = async () => (await sql`select 1 from emails`).length;
  while ((await placed()) < 2) await new Promise((resolve) => setTimeout(resolve, 20));
  t.deepEqual(JSON.parse((await mansio(node.dataDir, [...args, '--json'])).stdout), {
    imported: 0,
    skipped: 2,
    failed: 1,
  });
  t.is(await placed(), 2);
  await sql.end();
  await node.stop();
});

/** Returns everything that a mail program can see of an account, except ids. */
async function contents(sql: Sql, accountId: string) {
  const rows = await sql`
    select f.name, f.role, encode(e.blob, 'hex') as blob, e.flags::int as flags, e.keywords, p.deleted, e.received_at as date
    from placements p join folders f on f.account_id = p.account_id and f.id = p.folder_id
      join emails e on e.account_id = p.account_id and e.id = p.email_id
    where p.account_id = ${accountId} order by f.name, p.uid`;
  return rows.map((row) => ({ ...row }));
}

test('an account that is exported and imported again is the same', async (t) => {
  const node = await startTestNode();
  const sql = await storeOf(node);
  const [first, second] = await Promise.all([createAccount(sql, ACCOUNT), createAccount(sql, 'other@example.test')]);
  const root = temporaryDirectory('mansio-maildir-');
  const put = (name: string, content: string, at: number) => {
    const file = join(root, name);
    mkdirSync(join(file, '..'), { recursive: true });
    writeFileSync(file, content);
    utimesSync(file, at / 1000, at / 1000);
  };
  const from = Date.UTC(2001, 1, 3, 4, 5, 6, 789);
  for (let i = 0; i < 40; i++) {
    const flags = ['', 'S', 'FS', 'DR', 'Tab'][i % 5];
    const folder = ['', '.Sent Items', '.Zo&AOs- &2D3cjA-.v1&AC4-2', 'Spam', '.Drafts'][i % 5];
    put(
      join(folder!, 'cur', `${i}.x:2,${flags}`),
      `Subject: ${i}\nMessage-ID: <${i}@x>\n\n\xe4 ${i}\n`,
      from - i * 1e7,
    );
    if (i < 5) put(join(folder!, 'dovecot-keywords'), '0 Work\n1 $Junk\n', from);
  }
  put('.Zo&AOs- &2D3cjA-.v1&AC4-2/cur/99.large:2,S', `Subject: large\r\n\r\n${'x'.repeat(1e6)}\r\n`, from);
  const imported = await mansio(node.dataDir, ['import', '--account', ACCOUNT, '--maildir', root, '--json']);
  t.deepEqual(JSON.parse(imported.stdout), { imported: 41, skipped: 0, failed: 0 }, imported.stderr);
  const before = await contents(sql, first.id);
  t.deepEqual([...new Set(before.map((row) => row['name']))].sort(), [
    'Drafts',
    'INBOX',
    'Junk',
    'Sent',
    'Zoë 💌/v1.2',
  ]);
  t.true(before.some((row) => row['deleted'] === true && row['keywords'].length === 1));
  const copy = join(temporaryDirectory('mansio-maildir-'), 'new', 'directory');
  const run = async (...args: string[]) => {
    const { stdout, stderr, code } = await mansio(node.dataDir, [...args, '--maildir', copy, '--json']);
    t.is(code, 0, stderr);
    return JSON.parse(stdout);
  };
  t.deepEqual(await run('export', '--account', ACCOUNT), { exported: 41, skipped: 0 });
  t.deepEqual(await run('export', '--account', ACCOUNT), { exported: 0, skipped: 41 });
  t.deepEqual(await run('import', '--account', second.email), { imported: 41, skipped: 0, failed: 0 });
  t.deepEqual(await contents(sql, second.id), before);
  t.deepEqual(
    await run('import', '--account', ACCOUNT),
    { imported: 0, skipped: 41, failed: 0 },
    'the octets are the same',
  );
  await sql.end();
  await node.stop();
});

test('a command line that cannot be is refused', async (t) => {
  const dataDir = temporaryDirectory('mansio-import-node-');
  const refused = async (...args: string[]) => {
    const { code, stderr } = await mansio(dataDir, ['import', '--account', ACCOUNT, ...args]);
    t.is(code, 1, stderr);
    return stderr;
  };
  const file = mbox(1);
  t.regex(await refused(), /name one source: --mbox, --maildir or --imap/);
  t.regex(await refused('--mbox', file, '--maildir', '/'), /name one source/);
  t.regex(await refused('--maildir', '/', '--folder', 'a'), /--folder goes with --mbox/);
  t.regex(await refused('--mbox', file, '--label', 'Sent'), /--label Sent is the name of a folder of the system/);
  t.regex(await refused('--mbox', file, '--folder', 'a//b'), /--folder must have/);
  t.regex(
    await refused('--mbox', '/nowhere/mbox'),
    /^error: --mbox \/nowhere\/mbox: there is no such file or directory\n$/,
  );
  t.regex(await refused('--mbox', '/'), /^error: --mbox \/: it is not a file\n$/);
  const missing = join(dataDir, 'missing');
  t.is(await refused('--maildir', missing), `error: --maildir ${missing}: there is no such file or directory\n`);
  t.is(await refused('--maildir', file), `error: --maildir ${file}: it is not a directory\n`);
  t.is(await refused('--maildir', `${file}/x`), `error: --maildir ${file}/x: a part of the path is not a directory\n`);
  t.regex(await refused('--maildir', dataDir), /is no Maildir: neither it nor a directory in it has "cur" or "new"/);
  t.is(
    await refused('--imap', 'imaps://a@b.test', '--password-file', missing),
    `error: --password-file ${missing}: there is no such file or directory\n`,
  );
  t.regex(await refused('--mbox', file), /there is no store/);
});
