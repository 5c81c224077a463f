// Tests a backup as an operator makes it: of an embedded store whose node takes mail meanwhile, restored into a PostgreSQL of its own and
// into another embedded store. Every protocol shows the same mail there, and outbound email waits.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generateX25519Identity, identityToRecipient } from 'age-encryption';
import { ImapFlow } from 'imapflow';
import nodemailer from 'nodemailer';
import { createAccount, port, storeOf } from '../../../dev/node-accounts.js';
import { temporaryDirectory } from '../../../dev/temporary-directory.js';
import { openEventStream } from '../../support/clients/event-stream-client.js';
import { type EmailList, MailboxClient } from '../../support/clients/mailbox-client.js';
import { mansio } from '../../support/command.js';
import { preparedDirectory } from '../../support/database/prepared-cluster.js';
import { bareEnvironment, nodeDirectory, PROGRAM, startTestNode, type TestNode } from '../../support/node.js';
import test from '../../support/test.js';
import { eventually } from '../cluster/support/eventually.js';
import { world } from '../mail/outbound-remotes.js';
import { LineClient } from '../protocols/line-client.js';

const ZOE = 'zoe@example.test';

interface Folder {
  readonly uidValidity: bigint;
  /** Flags and the SHA-256 of each message, keyed by its UID. */
  readonly messages: ReadonlyMap<number, string>;
}

async function imapView(node: TestNode, key: string): Promise<Map<string, Folder>> {
  const client = new ImapFlow({
    host: '127.0.0.1',
    port: port(node, 'imap'),
    auth: { user: ZOE, pass: key },
    tls: { rejectUnauthorized: false },
    logger: false,
  });
  await client.connect();
  const folders = new Map<string, Folder>();
  for (const { path } of await client.list()) {
    const { uidValidity } = await client.mailboxOpen(path, { readOnly: true });
    const messages = new Map<number, string>();
    for await (const { uid, flags, source } of client.fetch('1:*', { uid: true, flags: true, source: true })) {
      const hash = createHash('sha256').update(source!).digest('hex');
      messages.set(uid, `${[...flags!].filter((flag) => flag !== '\\Recent').sort()} ${hash}`);
    }
    folders.set(path, { uidValidity, messages });
  }
  await client.logout();
  return folders;
}

async function pop3View(node: TestNode, key: string): Promise<readonly string[]> {
  const client = await LineClient.connect(port(node, 'pop3'));
  const taken = async () => {
    const line = await client.line();
    if (line?.startsWith('-ERR') !== false) throw new Error(`POP3: ${line}`);
    return line;
  };
  const say = (command: string) => {
    client.write(`${command}\r\n`);
    return taken();
  };
  await taken();
  await say('STLS');
  await client.secure();
  for (const command of [`USER ${ZOE}`, `PASS ${key}`]) await say(command);
  const lines = [await say('LIST')];
  for (let line = await taken(); line !== '.'; line = await taken()) lines.push(line);
  client.write('QUIT\r\n');
  return lines;
}

/** What users see of the mail; live mail, which came during the backup, is left out. */
async function view(node: TestNode, key: string) {
  const client = new MailboxClient(node, key);
  const emails = (await client.inbox()).filter(({ subject }) => !subject.startsWith('live'));
  const details = [];
  for (const { id } of emails)
    details.push(await client.get<{ subject: string; textBody: string }>(`/api/emails/${id}`));
  return {
    emails: emails.map(({ id, subject, isRead, receivedAt }) => ({ id, subject, isRead, receivedAt })),
    details: details.map(({ subject, textBody }) => ({ subject, textBody })),
    labels: await client.get('/api/labels'),
    filters: await client.get('/api/filters'),
    drafts: (await client.get<{ items: unknown[] }>('/api/outbound/drafts')).items,
    outbox: (await client.get<EmailList>('/api/outbound/outbox')).items.map(({ id, subject }) => ({ id, subject })),
    found: (await client.get<EmailList>('/api/emails/search?query=Zo%C3%AB')).items.map(({ id }) => id).sort(),
  };
}

const statusOf = async (node: TestNode, name: string) => {
  const response = await fetch(`http://127.0.0.1:${port(node, 'http')}/healthz`);
  const { checks } = (await response.json()) as { checks: { name: string; status: string; data: object }[] };
  return checks.find((check) => check.name === name);
};

test('a store is saved while mail comes in, and restored into both kinds of store', async (t) => {
  let isOpen = false;
  const behaviour = { rcpt: () => (isOpen ? undefined : '451 4.7.1 come back later') };
  const settings = { MANSIO_DATA_DIR: await preparedDirectory('mansio-backup-') };
  const { node, remotes, messagesAt, dns } = await world(t, { 'far.test': [{ behaviour }] }, settings);
  t.truthy(dns);
  t.is(remotes.size, 1);
  const sql = await storeOf(node);
  const { key } = await createAccount(sql, ZOE, ['app', 'smtp', 'imap', 'pop3']);
  const client = new MailboxClient(node, key);
  const post = async <T>(path: string, body: unknown) => {
    const response = await client.request('POST', path, body);
    t.true(response.ok, `${path}: ${await response.clone().text()}`);
    return (await response.json()) as T;
  };
  const { id: labelId } = await post<{ id: string }>('/api/labels', { name: 'Zoë 💌', color: '#ff0000', sortOrder: 1 });
  await post('/api/filters', {
    name: 'f',
    isEnabled: true,
    priority: 1,
    subjectContains: 'mail 3',
    assignLabelId: labelId,
  });
  const transport = nodemailer.createTransport({
    host: '127.0.0.1',
    port: port(node, 'mx'),
    pool: true,
    tls: { rejectUnauthorized: false },
  });
  t.teardown(() => transport.close());
  const send = (subject: string, attachments: object[] = []) =>
    transport.sendMail({ from: 'ann@far.test', to: ZOE, subject, text: `${subject} for Zoë 💌`, attachments });
  const attachment = Buffer.from(Array.from({ length: 700_000 }, (_, i) => (i * 7919) % 251));
  for (let i = 0; i < 12; i++) await send(`mail ${i}`, i === 5 ? [{ filename: 'Büro.bin', content: attachment }] : []);
  const inbox = await eventually('the mail', async () => {
    const emails = await client.inbox();
    return emails.length === 12 ? emails : undefined;
  });
  for (const { id } of inbox!.slice(0, 4)) await client.request('PATCH', `/api/emails/${id}`, { isRead: true });
  await client.request('DELETE', `/api/emails/${inbox![6]!.id}`);
  const recipients = [{ address: 'x@far.test', type: 'To' }];
  const outgoing = { fromAddress: ZOE, subject: 'Hello', textBody: 'It leaves.', recipients };
  await post('/api/outbound/drafts', { ...outgoing, subject: 'Draft' });
  const { id: outboundId } = await post<{ id: string }>('/api/outbound/send', outgoing);
  await eventually(
    'the first attempt',
    async () => (await client.get<{ retryCount: number }>(`/api/outbound/${outboundId}`)).retryCount > 0,
  );
  t.is((await mansio(node.dataDir, ['domain', 'add', 'saved.test'])).code, 0);
  const events = await openEventStream(`http://127.0.0.1:${port(node, 'http')}/api/events`, { key });
  await events.until(() => events.lastId() !== undefined);
  const cursor = events.lastId()!;
  events.close();

  // Mail goes on while the store is saved; everything before the start is in the file.
  const folder = temporaryDirectory('mansio-backups-');
  const identity = await generateX25519Identity();
  const file = join(folder, 'encrypted');
  let [isOver, live] = [false, 0];
  const incoming = (async () => {
    while (!isOver) {
      await send(`live ${live++}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  })();
  const placed = async () => (await client.inbox()).filter(({ subject }) => subject.startsWith('live')).length;
  const acknowledged = await eventually('live mail', async () => {
    const count = await placed();
    return count > 1 ? count : undefined;
  });
  const saved = await mansio(node.dataDir, [
    'backup',
    file,
    '--json',
    '--recipient',
    await identityToRecipient(identity),
  ]);
  const plain = await mansio(node.dataDir, ['backup', join(folder, 'plain')]);
  isOver = true;
  await incoming;
  t.is(saved.code, 0, saved.stderr);
  t.is(saved.stderr, '');
  const counts = JSON.parse(saved.stdout);
  t.deepEqual(Object.keys(counts), ['emails', 'accounts', 'bytes']);
  t.is(counts.bytes, statSync(file).size);
  t.is(counts.accounts, 3);
  t.true(counts.emails >= 12 + acknowledged!);
  t.regex(plain.stderr, /^warning: the backup is not encrypted/);
  t.deepEqual(readdirSync(folder).sort(), ['encrypted', 'plain']);
  for (const name of ['encrypted', 'plain']) t.is(statSync(join(folder, name)).mode & 0o777, 0o600);
  t.like(await statusOf(node, 'backup'), { status: 'Healthy', data: { ageHours: 0 } });
  const before = { ...(await view(node, key)), imap: await imapView(node, key), pop3: await pop3View(node, key) };
  t.is(before.outbox.length, 1);
  t.is(before.drafts.length, 1);
  t.is(before.found.length > 5, true);
  const certificate = readFileSync(join(node.dataDir, 'tls-cert.pem'), 'utf8');
  await sql.end();
  await node.stop();

  const identityFile = join(folder, 'identity');
  writeFileSync(identityFile, `# created by a test\n${identity}\n`);
  const open = ['--identity-file', identityFile];
  const refused = await mansio(node.dataDir, ['restore', file, ...open]);
  t.deepEqual([refused.code, refused.stdout], [1, '']);
  t.regex(refused.stderr, /the store is not empty/);

  const { MANSIO_DATA_DIR: _, DATABASE_URL: __, ...others } = node.env;
  const own = settingsOf(others);
  const database = await nodeDirectory('mansio-restored-');
  const embedded = join(temporaryDirectory('mansio-restored-'), 'new');
  for (const [dataDir, more] of [
    [database, []],
    [embedded, ['--release-queue']],
  ] as const) {
    const checked = await mansio(dataDir, ['restore', '--check', file, ...open, '--json']);
    t.deepEqual(JSON.parse(checked.stdout), counts);
    const restored = await mansio(dataDir, ['restore', file, ...open, ...more, '--json']);
    t.is(restored.code, 0, restored.stderr);
    t.deepEqual(JSON.parse(restored.stdout), counts);
    t.is(
      restored.stderr,
      more.length === 0
        ? '1 outbound emails wait: mansio queue list shows them, mansio queue release delivers them\n'
        : '',
    );
    t.is(readFileSync(join(dataDir, 'tls-cert.pem'), 'utf8'), certificate);
  }

  const second = await startTestNode({ ...own, MANSIO_DATA_DIR: database });
  t.teardown(() => second.stop());
  const running = await mansio(database, ['restore', file, ...open]);
  t.regex(running.stderr, /nodes run on this store|is not empty/);
  const after = { ...(await view(second, key)), imap: await imapView(second, key), pop3: await pop3View(second, key) };
  for (const name of ['emails', 'details', 'labels', 'filters', 'drafts', 'outbox'] as const)
    t.deepEqual(after[name], before[name], name);
  for (const [path, { uidValidity, messages }] of before.imap) {
    const folderAfter = after.imap.get(path)!;
    t.true(folderAfter.uidValidity > uidValidity, `${path} has a new UIDVALIDITY`);
    // The first store took more mail after the snapshot.
    for (const [uid, message] of folderAfter.messages) t.is(message, messages.get(uid)!, `${path} ${uid}`);
    if (path !== 'INBOX') t.is(folderAfter.messages.size, messages.size, path);
  }
  t.true(after.imap.get('INBOX')!.messages.size >= 11 + acknowledged!);
  t.deepEqual(after.pop3.slice(1), before.pop3.slice(1, after.pop3.length));
  t.true(after.found.length > 5);
  const resumed = await openEventStream(`http://127.0.0.1:${port(second, 'http')}/api/events`, {
    key,
    lastEventId: cursor,
  });
  await resumed.until(() => resumed.events.length > 0);
  t.is(resumed.events[0]!.type, 'Resync');
  resumed.close();
  t.regex((await mansio(database, ['domain', 'list'])).stdout, /saved\.test/);

  // Nothing leaves before the release, though its time has come and the server would take it.
  isOpen = true;
  t.like(await statusOf(second, 'delivery-queue'), { status: 'Degraded', data: { awaitingRelease: 1 } });
  const [queued] = JSON.parse((await mansio(database, ['queue', 'list', '--json'])).stdout);
  // The snapshot may show the email in the middle of an attempt, which nobody continues.
  t.like(queued, { id: outboundId, awaitsRelease: true });
  t.true(['Queued', 'Sending'].includes(queued.status), queued.status);
  const fresh = new MailboxClient(second, key);
  const { id: freshId } = (await (await fresh.request('POST', '/api/outbound/send', outgoing)).json()) as {
    id: string;
  };
  await eventually(
    'new mail',
    async () => (await fresh.get<{ status: string }>(`/api/outbound/${freshId}`)).status === 'Sent',
  );
  t.is(messagesAt('far.test').length, 1, 'new mail does not wait');
  const released = await mansio(database, ['queue', 'release', '--json']);
  t.deepEqual(JSON.parse(released.stdout), { released: 1, requested: 0 }, released.stderr);
  await eventually(
    'the restored mail',
    async () => (await fresh.get<{ status: string }>(`/api/outbound/${outboundId}`)).status === 'Sent',
  );
  t.is(messagesAt('far.test').length, 2);
  // A report of health is kept for a moment.
  await eventually('health', async () => (await statusOf(second, 'delivery-queue'))?.status === 'Healthy');
  t.like(await statusOf(second, 'delivery-queue'), { data: { awaitingRelease: 0 } });
  await second.stop();

  const third = await startTestNode({ ...own, MANSIO_DATA_DIR: embedded });
  t.teardown(() => third.stop());
  const last = new MailboxClient(third, key);
  await eventually(
    'mail that was released with the restore',
    async () => (await last.get<{ status: string }>(`/api/outbound/${outboundId}`)).status === 'Sent',
  );
  t.deepEqual((await view(third, key)).emails, before.emails);

  // Debian's age opens what a server without a secret has encrypted.
  if (spawnSync('age', ['--version']).status !== 0) return void t.log('age is not installed: its part is skipped');
  const opened = join(folder, 'opened');
  t.is(spawnSync('age', ['-d', '-i', identityFile, '-o', opened, file]).status, 0);
  t.deepEqual(JSON.parse((await mansio(embedded, ['restore', '--check', opened, '--json'])).stdout), {
    ...counts,
    bytes: statSync(opened).size,
  });
});

/** The settings of a node, without those of its listeners' ports. */
function settingsOf(env: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => /^MANSIO_(HOST|OUTBOUND)/.test(name)));
}

test('what cannot be saved or restored is refused in a sentence, and leaves nothing', async (t) => {
  const dataDir = join(temporaryDirectory('mansio-backup-none-'), 'none');
  const folder = temporaryDirectory('mansio-backups-');
  const file = join(folder, 'backup');
  const [empty, secret, foreign] = ['empty', 'secret', 'foreign'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  writeFileSync(empty, '\n');
  writeFileSync(secret, 'Zoë 💌\n');
  writeFileSync(foreign, 'From a@b.test\n');
  const refusals: readonly (readonly [readonly string[], RegExp])[] = [
    [['backup', file], /there is no store in /],
    [['backup', file, '--passphrase-file', empty], /its first line is empty/],
    [['backup', file, '--passphrase-file', secret, '--recipient', 'age1x'], /for a passphrase or for recipients/],
    [['backup', file, '--recipient', 'age1x'], /not a recipient of age: age1x/],
    [['backup', file, '--recipient', 'AGE-SECRET-KEY-1QQ'], /--recipient is a secret key of age: (?!.*QQ)/],
    [['restore', join(folder, 'nothing')], /there is no such file/],
    [['restore', foreign], /the file is no backup of Mansio/],
    [['restore', '--check', foreign], /the file is no backup of Mansio/],
    [['restore', foreign, '--identity-file', foreign], /the file is no backup of Mansio/],
    [['restore', foreign, '--identity-file', empty], /it has no identity/],
  ];
  for (const [args, words] of refusals) {
    const { code, stdout, stderr } = await mansio(dataDir, args);
    t.deepEqual([code, stdout], [1, ''], args.join(' '));
    t.regex(stderr, words);
    t.is(
      stderr
        .trimEnd()
        .split('\n')
        .filter((line) => !line.startsWith('warning')).length,
      1,
    );
  }
  t.false(existsSync(dataDir), 'no store was made');
  t.deepEqual(readdirSync(folder).sort(), ['empty', 'foreign', 'secret']);

  mkdirSync(join(folder, 'a-directory'));
  t.is((await mansio(dataDir, ['domain', 'add', 'example.test', '--create'])).code, 0);
  t.regex((await mansio(dataDir, ['backup', join(folder, 'a-directory')])).stderr, /it is a directory/);
  writeFileSync(`${file}.part`, 'of a killed backup', { mode: 0o644 });
  t.is((await mansio(dataDir, ['backup', file, '--passphrase-file', secret])).code, 0);
  t.is(statSync(file).mode & 0o777, 0o600);
  t.false(existsSync(`${file}.part`));
  const other = join(temporaryDirectory('mansio-backup-none-'), 'other');
  t.regex((await mansio(other, ['restore', file])).stderr, /is encrypted: give --passphrase-file/);
  writeFileSync(join(folder, 'cut'), readFileSync(file).subarray(0, -1));
  t.regex((await mansio(other, ['restore', join(folder, 'cut'), '--passphrase-file', secret])).stderr, /broken or cut/);
  t.false(existsSync(other));
  t.is((await mansio(other, ['restore', file, '--passphrase-file', secret])).code, 0);
  t.regex((await mansio(other, ['domain', 'list'])).stdout, /example\.test/);
});

test('a backup goes through a pipe, and a stream that ends early leaves an empty store', async (t) => {
  const [from, to] = [0, 1].map(() => join(temporaryDirectory('mansio-backup-pipe-'), 'data')) as [string, string];
  t.is((await mansio(from, ['domain', 'add', 'example.test', '--create'])).code, 0);
  const script = (text: string) =>
    spawnSync('/bin/bash', ['-o', 'pipefail', '-c', text], {
      encoding: 'utf8',
      env: { ...bareEnvironment(), FROM: from, TO: to, MANSIO: PROGRAM },
    });
  const backup = 'MANSIO_DATA_DIR="$FROM" "$MANSIO" backup -';
  const restore = 'MANSIO_DATA_DIR="$TO" "$MANSIO" restore - --json';
  writeFileSync(join(from, 'tls-cert.pem'), 'of the backup');
  mkdirSync(to);
  writeFileSync(join(to, 'tls-cert.pem'), 'of this machine');
  const certificate = () => readFileSync(join(to, 'tls-cert.pem'), 'utf8');
  for (const octets of ['12000', '-1']) {
    const cut = script(`${backup} | head -c ${octets} | ${restore}`);
    t.is(cut.status, 1);
    t.regex(cut.stderr, /the backup is broken or cut/);
    const listed = await mansio(to, ['domain', 'list', '--json']);
    t.is(listed.stdout, '[]\n', listed.stderr);
    t.is(certificate(), 'of this machine');
  }
  const whole = script(`${backup} --json | ${restore}`);
  t.is(whole.status, 0, whole.stderr);
  t.like(JSON.parse(whole.stdout), { emails: 0, accounts: 0 });
  t.regex(
    whole.stderr,
    /^\{"emails":0,"accounts":0,"bytes":\d+\}$/m,
    'stdout has the backup, so stderr has the result',
  );
  t.regex((await mansio(to, ['domain', 'list'])).stdout, /example\.test/);
  t.is(certificate(), 'of the backup');

  t.is(script(`${backup} | true`).status, 1, 'a reader that has gone is an error');
  const full = await mansio(from, ['backup', '/dev/full']);
  t.is(full.code, 1);
  t.regex(full.stderr, /no space is left on the disk/);
  t.is((await mansio(from, ['backup', '/dev/null'])).code, 0);
  t.true(statSync('/dev/null').isCharacterDevice(), 'a device stays one');
});
