// Tests stock IMAP clients against a whole node, over STARTTLS and TLS: imapflow, Python's imaplib, curl and fetchmail (mbsync and
// offlineimap: `imap-sync.test.ts`). REST shows a change of theirs at once, and they one of REST.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestFn } from 'ava';
import type { DownloadObject } from 'imapflow';
import { createTransport } from 'nodemailer';
import { accountOn, port } from '../../../dev/node-accounts.js';
import { temporaryDirectory } from '../../../dev/temporary-directory.js';
import { imapFlow, messageOf } from '../../support/clients/imap-programs.js';
import { MailboxClient } from '../../support/clients/mailbox-client.js';
import { placed } from '../../support/clients/placed.js';
import { startTestNode, type TestNode } from '../../support/node.js';
import { runProgram } from '../../support/run-program.js';
import anyTest from '../../support/test.js';
import { testWith } from '../../support/test-with.js';
import { eventually } from '../cluster/support/eventually.js';

interface Context {
  node: TestNode;
}

const test = anyTest as TestFn<Context>;
const NAME = 'Zoë 💌';

test.before(async (t) => {
  t.context.node = await startTestNode({
    MANSIO_HOSTED_DOMAINS: 'example.test',
    // Programs use mechanisms for tokens only where these are announced.
    MANSIO_OIDC_AUTHORITY: 'https://login.example.test',
  });
});

test.after.always((t) => t.context.node.stop());

/** Returns once the message is in the mailbox: so the order of several is certain. */
async function deliver(node: TestNode, to: string, mail: object): Promise<void> {
  await createTransport({ host: '127.0.0.1', port: port(node, 'mx'), tls: { rejectUnauthorized: false } }).sendMail({
    from: `${NAME} <zoe@remote.test>`,
    to,
    ...mail,
  });
  await placed(node);
}

for (const isSecure of [true, false]) {
  test(`imapflow works with mailboxes, messages, flags and searches, ${isSecure ? 'over TLS' : 'after STARTTLS'}`, async (t) => {
    const { node } = t.context;
    const account = await accountOn(node, `flow-${isSecure}`);
    const rest = new MailboxClient(node, account.key);
    const client = imapFlow(node, account, isSecure);
    await client.connect();

    const boxes = await client.list();
    t.deepEqual(boxes.map(({ path, specialUse = '' }) => [path, specialUse]).sort(), [
      ['Archive', '\\Archive'],
      ['Drafts', '\\Drafts'],
      ['INBOX', '\\Inbox'],
      ['Junk', '\\Junk'],
      ['Sent', '\\Sent'],
      ['Trash', '\\Trash'],
    ]);
    await client.mailboxCreate(`${NAME}/under & it`);
    await client.mailboxRename(`${NAME}/under & it`, `${NAME}/it's "new"`);
    await client.mailboxSubscribe(`${NAME}/it's "new"`);
    const names = (await client.list()).map(({ path }) => path);
    t.true(names.includes(`${NAME}/it's "new"`), names.join());
    t.false(names.includes(`${NAME}/under & it`));

    await deliver(node, account.email, {
      subject: `Grüße ${NAME}`,
      text: 'first words',
      html: '<p>first <b>words</b></p>',
    });
    await deliver(node, account.email, {
      subject: 'with a file',
      text: 'see the file',
      attachments: [{ filename: 'é 💌.bin', content: Buffer.alloc(100_000, 7) }],
    });
    const lock = await client.getMailboxLock('INBOX');
    try {
      await eventually('both messages to be there', async () => {
        await client.noop();
        return client.mailbox !== false && client.mailbox.exists === 2;
      });
      const [first, second] = await client.fetchAll('1:*', {
        envelope: true,
        bodyStructure: true,
        flags: true,
        size: true,
        internalDate: true,
        threadId: true,
        labels: true,
        source: true,
      });
      t.is(first!.envelope!.subject, `Grüße ${NAME}`);
      t.is(first!.envelope!.from![0]!.name, NAME);
      t.is(first!.source!.length, first!.size!);
      t.is(second!.bodyStructure!.childNodes!.length, 2);
      t.is(second!.bodyStructure!.childNodes![1]!.dispositionParameters!['filename'], 'é 💌.bin');
      const { content, meta } = (await client.download(`${second!.uid}`, '2', {
        uid: true,
      })) as Required<DownloadObject>;
      const pieces: Buffer[] = [];
      for await (const piece of content) pieces.push(piece as Buffer);
      t.deepEqual(Buffer.concat(pieces), Buffer.alloc(100_000, 7));
      t.is(meta.filename, 'é 💌.bin');

      await client.messageFlagsAdd('1', ['\\Seen', '\\Flagged', 'custom']);
      const shown = await rest.get<{ items: { subject: string; isRead: boolean; isFlagged: boolean }[] }>(
        '/api/emails',
      );
      t.deepEqual(
        shown.items.map(({ subject, isRead, isFlagged }) => [subject, isRead, isFlagged]),
        [
          ['with a file', false, false],
          [`Grüße ${NAME}`, true, true],
        ],
      );
      t.deepEqual(await client.search({ flagged: true }), [1]);
      t.deepEqual(await client.search({ subject: 'grü' }), [1]);
      t.deepEqual(await client.search({ body: 'first words' }), [1]);
      t.deepEqual(await client.search({ keyword: 'custom' }), [1]);
      t.deepEqual(await client.search({ seen: false }), [2]);

      const copied = await client.messageCopy('1', NAME);
      t.is(copied === false, true, 'the superior of a mailbox is no mailbox');
      const moved = await client.messageMove('1', `${NAME}/it's "new"`);
      t.true(moved !== false && moved.uidMap!.size === 1);
      t.is(client.mailbox !== false && client.mailbox.exists, 1);
    } finally {
      lock.release();
    }
    const status = await client.status(`${NAME}/it's "new"`, {
      messages: true,
      unseen: true,
      uidNext: true,
      highestModseq: true,
    });
    t.like(status, { messages: 1, unseen: 0, uidNext: 2 });

    const appended = await client.append(
      'Drafts',
      messageOf('a draft'),
      ['\\Draft', '\\Seen'],
      new Date('2020-01-02T03:04:05Z'),
    );
    t.true(appended !== false && (appended.uid ?? 0) > 0);
    await client.mailboxOpen('Drafts');
    const draft = await client.fetchOne('1', { internalDate: true, flags: true, source: true });
    t.truthy(draft);
    if (draft) {
      t.is(new Date(draft.internalDate!).toISOString(), '2020-01-02T03:04:05.000Z');
      t.deepEqual([...draft.flags!].sort(), ['\\Draft', '\\Seen']);
      t.is(draft.source!.toString(), messageOf('a draft'));
    }
    await client.messageDelete('1');
    t.is(client.mailbox !== false && client.mailbox.exists, 0);
    await client.mailboxDelete(`${NAME}/it's "new"`);
    await client.logout();
  });
}

test('a session in IDLE is told at once of mail, flags and deletions from elsewhere, and a revoked key ends it', async (t) => {
  const { node } = t.context;
  const account = await accountOn(node, 'idle');
  const rest = new MailboxClient(node, account.key);
  const client = imapFlow(node, account);
  const seen: string[] = [];
  client.on('exists', ({ count }) => seen.push(`exists ${count}`));
  client.on('expunge', ({ seq }) => seen.push(`expunge ${seq}`));
  client.on('flags', ({ seq, flags }) => seen.push(`flags ${seq} ${[...flags].join(' ')}`));
  await client.connect();
  await client.mailboxOpen('INBOX');
  void client.idle();
  await deliver(node, account.email, { subject: 'news', text: 'x' });
  await eventually('EXISTS', async () => seen.includes('exists 1'));
  const [email] = await rest.inbox();
  t.is((await rest.request('PATCH', `/api/emails/${email!.id}`, { isRead: true })).status, 204);
  await eventually('FLAGS', async () => seen.includes('flags 1 \\Seen'));
  t.is((await rest.request('DELETE', `/api/emails/${email!.id}`)).status, 204);
  await eventually('EXPUNGE', async () => seen.includes('expunge 1'));
  const closed = new Promise((resolve) => client.once('close', () => resolve(true)));
  const { keys } = await rest.get<{ keys: { id: string }[] }>('/api/smtp-credentials');
  t.is((await rest.request('DELETE', `/api/smtp-credentials/${keys[0]!.id}`)).status, 204);
  t.true(await closed);
});

testWith<Context>('python3')("Python's imaplib", async (t) => {
  const { node } = t.context;
  const { email, key } = await accountOn(node, 'imaplib');
  const script = `
import imaplib, ssl, sys, time
context = ssl.create_default_context(); context.check_hostname = False; context.verify_mode = ssl.CERT_NONE
plain = imaplib.IMAP4('127.0.0.1', ${port(node, 'imap')})
assert 'LOGINDISABLED' in plain.capabilities, plain.capabilities
plain.starttls(context)
try:
    plain.login(sys.argv[1], 'wrong'); assert False
except imaplib.IMAP4.error as error:
    assert 'AUTHENTICATIONFAILED' in str(error), error
plain.login(sys.argv[1], sys.argv[2])
plain.logout()
m = imaplib.IMAP4_SSL('127.0.0.1', ${port(node, 'imaps')}, ssl_context=context)
m.authenticate('PLAIN', lambda _: ('\\0%s\\0%s' % (sys.argv[1], sys.argv[2])).encode())
assert m.enable('CONDSTORE')[0] == 'OK'
bearer = imaplib.IMAP4_SSL('127.0.0.1', ${port(node, 'imaps')}, ssl_context=context)
bearer.authenticate('XOAUTH2', lambda _: ('user=%s\\1auth=Bearer %s\\1\\1' % (sys.argv[1], sys.argv[2])).encode())
bearer.logout()
assert m.create('"With space"')[0] == 'OK'
body = 'Subject: one\\r\\nFrom: a@example.test\\r\\n\\r\\nhello\\r\\n'.encode()
typ, data = m.append('"With space"', '(\\\\Flagged)', imaplib.Time2Internaldate(time.time()), body)
assert typ == 'OK', data
typ, data = m.select('"With space"'); assert data == [b'1'], data
typ, data = m.fetch('1', '(RFC822 FLAGS UID)')
assert data[0][1] == body and b'\\\\Flagged' in (data[0][0] + data[1]), data
typ, data = m.search(None, 'FLAGGED', 'SUBJECT', '"one"'); assert data == [b'1'], data
typ, data = m.search('UTF-8', 'BODY', '"hello"'); assert data == [b'1'], data
typ, data = m.sort('REVERSE DATE', 'UTF-8', 'ALL'); assert data == [b'1'], data
typ, data = m.thread('REFERENCES', 'UTF-8', 'ALL'); assert data == [b'(1)'], data
assert m.copy('1', 'Archive')[0] == 'OK'
assert m.store('1', '+FLAGS', '(\\\\Deleted)')[0] == 'OK'
typ, data = m.expunge(); assert data == [b'1'], data
assert m.status('Archive', '(MESSAGES UIDNEXT)')[1][0].startswith(b'Archive (MESSAGES 1'), 'status'
assert m.close()[0] == 'OK' and m.delete('"With space"')[0] == 'OK'
assert m.getquotaroot('INBOX')[0] == 'OK' and m.namespace()[0] == 'OK'
m.logout()
print('done')
`;
  const { code, output } = await runProgram('python3', ['-c', script, email, key]);
  t.is(code, 0, output);
  t.true(output.endsWith('done\n'));
});

testWith<Context>('curl')('curl', async (t) => {
  const { node } = t.context;
  const { email, key } = await accountOn(node, 'curl');
  await deliver(node, email, { subject: 'for curl', text: 'curled' });
  const url = `imaps://127.0.0.1:${port(node, 'imaps')}`;
  const curl = (...args: string[]) => runProgram('curl', ['-sk', '--user', `${email}:${key}`, ...args]);
  t.regex((await curl(url)).output, /\* LIST \([^)]*\) "\/" INBOX/);
  const bearer = ['--user', email, '--oauth2-bearer', key];
  for (const [mechanism, ...credential] of [
    ['PLAIN', '--user', `${email}:${key}`],
    ['LOGIN', '--user', `${email}:${key}`],
    ['OAUTHBEARER', ...bearer],
  ] as const) {
    const login = [...credential, '--login-options', `AUTH=${mechanism}`];
    const { code, output } = await runProgram('curl', ['-skv', ...login, url, '-X', 'STATUS INBOX (MESSAGES)']);
    t.is(code, 0, output);
    t.regex(output, new RegExp(`AUTHENTICATE ${mechanism} .`), 'with an initial response');
    t.regex(output, /\* STATUS INBOX \(MESSAGES \d+\)/);
  }
  await eventually('the message to be there', async () =>
    (await curl(`${url}/INBOX`, '-X', 'EXAMINE INBOX')).output.includes('1 EXISTS'),
  );
  t.regex((await curl(`${url}/INBOX;MAILINDEX=1`)).output, /Subject: for curl[\s\S]*curled/);
  t.regex(
    (await curl(`${url}/INBOX;MAILINDEX=1;SECTION=HEADER.FIELDS%20(SUBJECT)`)).output,
    /^Subject: for curl\r?\n\r?\n$/,
  );
  t.regex((await curl(`${url}/INBOX?SUBJECT%20curl`)).output, /SEARCH 1/);
  const directory = temporaryDirectory('mansio-curl-');
  writeFileSync(join(directory, 'mail.eml'), messageOf('by curl'));
  t.is((await curl(`${url}/Sent`, '-T', join(directory, 'mail.eml'))).code, 0);
  t.regex((await curl(`${url}/Sent;MAILINDEX=1`)).output, /Subject: by curl/);
});

testWith<Context>('fetchmail')('fetchmail takes mail away', async (t) => {
  const { node } = t.context;
  const { email, key } = await accountOn(node, 'fetchmail');
  for (const subject of ['one', 'two']) await deliver(node, email, { subject, text: 'fetched' });
  const directory = temporaryDirectory('mansio-fetchmail-');
  const rc = join(directory, 'rc');
  writeFileSync(
    rc,
    `set pidfile "${directory}/pid"
poll 127.0.0.1 protocol imap port ${port(node, 'imaps')} user "${email}" password "${key}" ssl no sslcertck no keep mda "cat >> ${directory}/mbox; echo >> ${directory}/mbox"
`.replace(' no keep', ' nokeep'),
    { mode: 0o600 },
  );
  const rest = new MailboxClient(node, key);
  await eventually('the mail to be there', async () => (await rest.inbox()).length === 2);
  const { code, output } = await runProgram('fetchmail', ['-f', rc, '--nodetach', '-v']);
  t.is(code, 0, output);
  const mbox = readFileSync(join(directory, 'mbox'), 'utf8');
  t.is(mbox.split('Subject: ').length, 3);
  t.is((await rest.inbox()).length, 0);
});
