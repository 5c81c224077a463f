// Tests `mansio import --imap` from a server that cuts the connection, repeated imports, and refusals. The server is Mansio.
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { statSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { join } from 'node:path';
import { ImapFlow } from 'imapflow';
import { startDovecot } from '../../../bench/support/peers/dovecot.js';
import { createAccount, port, storeOf, type TestAccount } from '../../../dev/node-accounts.js';
import { temporaryDirectory } from '../../../dev/temporary-directory.js';
import type { Sql } from '../../../src/store/postgres/driver/client.js';
import { mansio } from '../../support/command.js';
import { startTestNode } from '../../support/node.js';
import test from '../../support/test.js';

const COUNT = 500;
const FROM = 'From a@b.test Sat Feb  3 04:05:06 2001';

const mail = (i: number, body: string) =>
  `${FROM}\nFrom: A <a@b.test>\nSubject: mail ${i}\nMessage-ID: <${i}@b.test>\nX-Status: ${['', 'F', 'A', 'D'][i % 4]}\nX-Keywords: ${i % 3 === 0 ? 'Work' : ''}\n\n${body}\n\n`;

/** Forwards octets to a port; cuts the first connections after these numbers of octets from the server. `cutting` is called before. */
async function cuttingProxy(target: number, cuts: readonly number[], cutting = () => {}) {
  const left = [...cuts];
  const server = createServer((inner) => {
    const outer = connect(target, '127.0.0.1');
    let room = left.shift() ?? Number.POSITIVE_INFINITY;
    inner.on('error', () => {}).on('close', () => outer.destroy());
    outer.on('error', () => {}).on('close', () => inner.destroy());
    inner.pipe(outer);
    outer.on('data', (chunk: Buffer) => {
      const passed = chunk.subarray(0, room);
      room -= passed.length;
      inner.write(passed, () => {
        if (room > 0 || inner.destroyed) return;
        cutting();
        inner.destroy();
      });
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { port: (server.address() as AddressInfo).port, left, close: () => server.close() };
}

async function contents(sql: Sql, account: TestAccount) {
  const rows = await sql`
    select f.name, encode(e.blob, 'hex') as blob, e.flags::int as flags, e.keywords, p.deleted, e.received_at as date
    from placements p join folders f on f.account_id = p.account_id and f.id = p.folder_id
      join emails e on e.account_id = p.account_id and e.id = p.email_id
    where p.account_id = ${account.id} order by f.name, p.uid`;
  return rows.map((row) => ({ ...row }));
}

test('a mailbox of another server comes over although the connection breaks, and later what is new', async (t) => {
  const node = await startTestNode();
  t.teardown(() => node.stop());
  const sql = await storeOf(node);
  t.teardown(() => sql.end());
  const [source, target] = await Promise.all([
    createAccount(sql, 'a@example.test'),
    createAccount(sql, 'b@example.test'),
  ]);
  const file = join(temporaryDirectory('mansio-import-'), 'mbox');
  const put = async (folder: string, from: number, count: number) => {
    writeFileSync(
      file,
      Array.from({ length: count }, (_, i) => mail(from + i, randomBytes(3_000).toString('hex'))).join(''),
    );
    const args = ['--account', source.email, '--mbox', file, '--folder', folder, '--json'];
    const run = await mansio(node.dataDir, ['import', ...args]);
    t.is(run.code, 0, run.stderr);
  };
  await put('inbox', 0, COUNT - 100);
  await put('Zoë 💌/2001', COUNT - 100, 90);
  await put('Sent', COUNT - 10, 10);
  const proxy = await cuttingProxy(port(node, 'imap'), [2_000, 300_000, 900_000, 500_000]);
  t.teardown(() => proxy.close());
  const url = `imap://${encodeURIComponent(source.email)}:${source.key}@127.0.0.1:${proxy.port}`;
  const run = async (...more: string[]) => {
    const args = ['--account', target.email, '--imap', url, '--json', ...more];
    const { code, stdout, stderr } = await mansio(node.dataDir, ['import', ...args]);
    t.is(code, 0, stderr);
    return JSON.parse(stdout);
  };
  // The first connection is cut before the import has anything to resume from.
  const early = await mansio(node.dataDir, ['import', '--account', target.email, '--imap', url]);
  t.is(early.code, 1);
  t.regex(early.stderr, /^error: the IMAP server: /);
  t.deepEqual(await run(), { imported: COUNT, skipped: 0, failed: 0 });
  t.deepEqual(proxy.left, [], 'the connection was cut again and again');
  t.deepEqual(await contents(sql, target), await contents(sql, source));
  t.deepEqual(await run(), { imported: 0, skipped: COUNT, failed: 0 });
  await put('inbox', COUNT, 3);
  t.deepEqual(await run(), { imported: 3, skipped: COUNT, failed: 0 });
  t.deepEqual(await contents(sql, target), await contents(sql, source));
  const third = await createAccount(sql, 'c@example.test');
  const only = async (path: string) => {
    const args = ['--account', third.email, '--imap', `${url}/${path}`, '--json'];
    return JSON.parse((await mansio(node.dataDir, ['import', ...args])).stdout);
  };
  t.deepEqual(await only(encodeURIComponent('Zoë 💌')), { imported: 90, skipped: 0, failed: 0 }, 'what is below it');
  t.deepEqual(await only(encodeURIComponent('Zoë 💌/2001')), { imported: 0, skipped: 90, failed: 0 });
});

test('what the server or the command line refuses is said', async (t) => {
  const node = await startTestNode();
  t.teardown(() => node.stop());
  const sql = await storeOf(node);
  t.teardown(() => sql.end());
  const account = await createAccount(sql, 'a@example.test');
  const refused = async (...args: string[]) => {
    const { code, stderr } = await mansio(node.dataDir, ['import', '--account', account.email, ...args]);
    t.is(code, 1, stderr);
    return stderr;
  };
  const imap = port(node, 'imap');
  t.regex(await refused('--imap', `imap://a%40example.test:wrong@127.0.0.1:${imap}`), /refuses the login/);
  t.regex(await refused('--imap', 'http://a@b'), /is no URL of the form imaps:\/\/user@host/);
  t.regex(await refused('--imap', 'imaps://host'), /names no user/);
  t.regex(await refused('--imap', 'imaps://a@host'), /a password is needed: give it with --password-file/);
  t.regex(await refused('--imap', 'imaps://a%4@host'), /percent sign/);
  t.regex(await refused('--maildir', '/tmp', '--insecure'), /go with --imap/);
  const file = join(temporaryDirectory('mansio-import-'), 'password');
  writeFileSync(file, '\nkey\n');
  t.regex(await refused('--imap', 'imaps://a@host', '--password-file', file), /has no password in its first line/);
  t.regex(await refused('--imap', 'imaps://a@host', '--token-file', file), /has no token in its first line/);
  const both = ['--password-file', file, '--token-file', file];
  t.regex(await refused('--imap', 'imaps://a@host', ...both), /give --password-file or --token-file, not both/);
  writeFileSync(file, `${account.key}\n`);
  const url = `imap://a%40example.test@127.0.0.1:${imap}/Nowhere`;
  t.regex(await refused('--imap', url, '--password-file', file), /has no mailbox Nowhere/);
});

test('an access token opens the mailbox, and is read again for each connection', async (t) => {
  // The provider is never asked: API keys are accepted as tokens, and programs see that tokens are.
  const node = await startTestNode({ MANSIO_OIDC_AUTHORITY: 'http://127.0.0.1:1' });
  t.teardown(() => node.stop());
  const sql = await storeOf(node);
  t.teardown(() => sql.end());
  const [source, target] = await Promise.all([
    createAccount(sql, 'a@example.test'),
    createAccount(sql, 'b@example.test'),
  ]);
  const folder = temporaryDirectory('mansio-import-');
  const [mbox, token] = [join(folder, 'mbox'), join(folder, 'token')];
  writeFileSync(mbox, Array.from({ length: 20 }, (_, i) => mail(i, randomBytes(3_000).toString('hex'))).join(''));
  t.is((await mansio(node.dataDir, ['import', '--account', source.email, '--mbox', mbox])).code, 0);
  const run = (url: string) =>
    mansio(node.dataDir, ['import', '--account', target.email, '--imap', url, '--token-file', token, '--json']);
  const proxy = await cuttingProxy(port(node, 'imap'), [50_000], () => writeFileSync(token, 'expired\n'));
  t.teardown(() => proxy.close());
  writeFileSync(token, `${source.key}\n`);
  const expired = await run(`imap://a%40example.test@127.0.0.1:${proxy.port}`);
  t.is(expired.code, 1);
  t.regex(expired.stderr, /refuses the login/);
  writeFileSync(token, `${source.key}\n`);
  const { code, stdout, stderr } = await run(`imap://a%40example.test@127.0.0.1:${port(node, 'imap')}`);
  t.is(code, 0, stderr);
  const counts = JSON.parse(stdout);
  t.is(counts.imported + counts.skipped, 20);
  t.deepEqual(await contents(sql, target), await contents(sql, source));
});

test('mailboxes of a Dovecot come over, and it serves what an export writes', async (t) => {
  const dovecot = await startDovecot({ format: 'maildir' });
  if (dovecot === undefined) {
    t.log('not run: there is no Dovecot, or this is not root');
    t.pass();
    return;
  }
  t.teardown(() => dovecot.stop());
  const client = (user: string) =>
    new ImapFlow({
      host: '127.0.0.1',
      port: dovecot.port('imap'),
      auth: { user, pass: dovecot.password },
      tls: { rejectUnauthorized: false },
      logger: false,
      disableAutoIdle: true,
    });
  const before = client('old');
  await before.connect();
  for (const name of ['Sent Messages', 'Zoë 💌', 'Zoë 💌.Älter', 'Spam']) await before.mailboxCreate(name);
  const date = new Date(Date.UTC(2001, 1, 3, 4, 5, 6));
  const put = async (mailbox: string, subject: string, flags: string[]) => {
    const text = `From: a@b.test\r\nSubject: ${subject}\r\n\r\n${'x'.repeat(100)}\r\n`;
    await before.append(mailbox, Buffer.from(text), flags, date);
  };
  for (let i = 0; i < 30; i++) await put('INBOX', `inbox ${i}`, i % 2 === 0 ? ['\\Seen', 'Work'] : []);
  await put('Sent Messages', 'sent', ['\\Seen', '\\Answered']);
  await put('Zoë 💌', 'outer', ['\\Flagged']);
  await put('Zoë 💌.Älter', 'inner', ['\\Draft', '$Forwarded']);
  await put('Spam', 'junk', ['\\Deleted']);
  await before.logout();

  const node = await startTestNode();
  t.teardown(() => node.stop());
  const sql = await storeOf(node);
  t.teardown(() => sql.end());
  const account = await createAccount(sql, 'new@example.test');
  const url = `imap://old:${dovecot.password}@127.0.0.1:${dovecot.port('imap')}`;
  const run = async (...args: string[]) => {
    const { code, stdout, stderr } = await mansio(node.dataDir, [...args, '--account', account.email, '--json']);
    t.is(code, 0, stderr);
    return JSON.parse(stdout);
  };
  t.deepEqual(await run('import', '--imap', url), { imported: 34, skipped: 0, failed: 0 });
  t.deepEqual(await run('import', '--imap', url), { imported: 0, skipped: 34, failed: 0 });
  const rows = await sql`
    select f.name, e.subject, e.flags::int as flags, e.keywords, p.deleted, e.received_at as date from placements p
      join folders f on f.account_id = p.account_id and f.id = p.folder_id
      join emails e on e.account_id = p.account_id and e.id = p.email_id
    where p.account_id = ${account.id} and e.subject not like 'inbox %' order by f.name`;
  t.deepEqual(
    rows.map((row) => [row['name'], row['subject'], row['flags'], row['keywords'], row['deleted']]),
    [
      ['Junk', 'junk', 0, [], true],
      ['Sent', 'sent', 3, [], false],
      ['Zoë 💌', 'outer', 4, [], false],
      ['Zoë 💌/Älter', 'inner', 8 + 16, [], false],
    ],
  );
  t.true(rows.every((row) => (row['date'] as Date).getTime() === date.getTime()));

  const maildir = join(dovecot.mail, 'exported');
  t.deepEqual(await run('export', '--maildir', maildir), { exported: 34, skipped: 0 });
  const { uid, gid } = statSync(dovecot.mail);
  t.is(spawnSync('chown', ['-R', `${uid}:${gid}`, maildir]).status, 0);
  const after = client('exported');
  await after.connect();
  const seen: unknown[] = [];
  for (const { path } of await after.list()) {
    const lock = await after.getMailboxLock(path);
    const found =
      after.mailbox === false || after.mailbox.exists === 0
        ? []
        : await after.fetchAll('1:*', { envelope: true, flags: true, internalDate: true });
    for (const { envelope, flags, internalDate } of found) {
      if (envelope?.subject?.startsWith('inbox') === false)
        seen.push([path, envelope.subject, [...flags!].filter((flag) => flag !== '\\Recent').sort(), internalDate]);
      else if (envelope?.subject === 'inbox 2') t.true(flags?.has('Work'));
    }
    lock.release();
  }
  await after.logout();
  t.deepEqual(seen.sort(), [
    ['Junk', 'junk', ['\\Deleted'], date],
    ['Sent', 'sent', ['\\Answered', '\\Seen'], date],
    ['Zoë 💌', 'outer', ['\\Flagged'], date],
    ['Zoë 💌.Älter', 'inner', ['$Forwarded', '\\Draft'], date],
  ]);
});
