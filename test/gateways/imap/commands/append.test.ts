// Tests APPEND and REPLACE.

import { filter, firstValueFrom, mergeMap } from 'rxjs';
import { temporaryDirectory } from '../../../../dev/temporary-directory.js';
import type { MailboxProtocol } from '../../../../src/actors/mailbox/protocol.js';
import { ActorFault } from '../../../../src/actors/runtime/errors.js';
import type { Payload } from '../../../../src/actors/runtime/protocol.js';
import { encodeModifiedUtf7 } from '../../../../src/mail-format/modified-utf7.js';
import { Spool } from '../../../../src/message-content/spool/spool.js';
import { StoreFault } from '../../../../src/store/errors.js';
import test from '../../../support/test.js';
import { type ImapClient, Literal } from '../client.js';
import { ALICE, type ImapGateway, startImap } from '../gateway.js';

const MESSAGE = 'From: a@example.test\r\nSubject: Hello\r\nMessage-Id: <1@example.test>\r\n\r\nBody\nbare\r\n\xe9\r\n';
const BYTES = Buffer.from(MESSAGE, 'latin1');

const emailsIn = async ({ mailboxes }: ImapGateway, folder: string) =>
  (await mailboxes.refs.of(ALICE).ask('list', { folder, page: 1, pageSize: 100 })).reply!.items;

/** Fetches attributes of a message as a client sees them. */
async function fetched(client: ImapClient, mailbox: string, uid: number | string, items: string): Promise<string> {
  await client.command(`EXAMINE ${mailbox}`);
  const { untagged } = await client.command(`UID FETCH ${uid} (${items})`);
  return untagged.join('\r\n');
}

const uidOf = (tagged: string): string => /^OK \[APPENDUID \d+ ([\d:,]+)\] APPEND completed$/.exec(tagged)![1]!;

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

test('a connection that is cut in a message leaves nothing behind', async (t) => {
  const gateway = await startImap(t);
  const client = await gateway.open();
  client.write('x1 APPEND Drafts {500000+}\r\n').write(Buffer.alloc(300_000, 'x'));
  const { spool } = gateway.context;
  const until = async (isReached: () => boolean) => {
    while (!isReached()) await new Promise((resolve) => setImmediate(resolve));
  };
  await until(() => spool.memory.used > 0);
  client.close();
  await until(() => spool.memory.used === 0 && spool.disk.used === 0);
  t.is(gateway.blobs.blobs.size, 0);
  t.deepEqual(await emailsIn(gateway, 'drafts'), []);
  t.deepEqual(
    gateway.logged.filter(({ level }) => (level as number) >= 50),
    [],
  );
});

test('a large message passes through bounded memory', async (t) => {
  const gateway = await startImap(t);
  const client = await gateway.open();
  const large = Buffer.concat([Buffer.from('Subject: large\r\n\r\n'), Buffer.alloc(20_000_000, 'line of text\r\n')]);
  let most = 0;
  const { spool, blobs } = gateway.context;
  const watch = setInterval(() => {
    most = Math.max(most, spool.memory.used);
  }, 1);
  const { tagged } = await client.command('APPEND Archive ', new Literal(large));
  clearInterval(watch);
  t.is(uidOf(tagged), '1');
  t.true(most < 1_000_000, `${most}`);
  t.is(spool.memory.used, 0);
  t.is(spool.disk.used, 0);
  const [hash] = [...gateway.blobs.blobs.keys()];
  t.true(large.equals(Buffer.from(await blobs.read(hash!, 0, large.length))));
});

test('CATENATE joins texts and parts of messages of the account', async (t) => {
  const gateway = await startImap(t);
  const client = await gateway.open();
  const source = [
    'Subject: =?utf-8?q?x?=',
    'From: a@example.test',
    'Content-Type: multipart/mixed; boundary=b',
    '',
    '--b',
    'Content-Type: text/plain',
    '',
    'first part',
    '--b',
    'Content-Type: application/octet-stream',
    'Content-Transfer-Encoding: base64',
    '',
    'AAEC',
    '--b--',
    '',
  ].join('\r\n');
  await client.command('APPEND "Archive" ', new Literal(source));
  const [line] = (await client.command('STATUS Archive (UIDVALIDITY)')).untagged;
  const validity = /\d+/.exec(line!)![0];
  const catenated = async (...parts: (string | Literal)[]) => {
    const { tagged } = await client.command('APPEND Drafts (\\Draft) CATENATE (', ...parts, ')');
    if (!tagged.startsWith('OK')) return tagged;
    const shown = await fetched(client, 'Drafts', uidOf(tagged), 'BODY.PEEK[]');
    const [, size] = /BODY\[\] \{(\d+)\}\r\n/.exec(shown)!;
    const from = shown.indexOf('}\r\n') + 3;
    return shown.slice(from, from + Number(size));
  };
  t.is(await catenated(new Literal('x') && 'URL "/Archive/;UID=1"'), source);
  t.is(
    await catenated(
      'TEXT ',
      new Literal('Subject: new\r\n\r\n'),
      ` URL "/Archive;UIDVALIDITY=${validity}/;UID=1/;SECTION=1"`,
    ),
    'Subject: new\r\n\r\nfirst part',
  );
  t.is(
    await catenated(
      'URL "/Archive/;UID=1/;section=HEADER.FIELDS%20(From)" URL "/archive/;uid=1/;section=2.MIME" URL /Archive/;UID=1/;SECTION=2',
      ' TEXT ',
      new Literal(''),
      ' TEXT ',
      new Literal('\r\nend'),
    ),
    'From: a@example.test\r\n\r\nContent-Type: application/octet-stream\r\nContent-Transfer-Encoding: base64\r\n\r\nAAEC\r\nend',
  );
  t.is(
    await catenated('TEXT ', new Literal('a\r\n\r\n'), ' URL "/Archive/;UID=1/;SECTION=1/;PARTIAL=6.2"'),
    'a\r\n\r\npa',
  );
  t.is(await catenated('URL ', new Literal('/Archive/;UID=1/;SECTION=HEADER.FIELDS%20(From)/;PARTIAL=0.4')), 'From');
  await client.command('SELECT Archive');
  t.regex((await client.command('APPEND Drafts CATENATE (URL "/;UID=1")')).tagged, /^OK /);
  const own = 'imap://alice%40example.test@mail.example.test/Archive/;UID=1';
  t.is(await catenated(`URL "${own}"`), source);
  for (const url of [
    '/Archive/;UID=2',
    '/Nothing/;UID=1',
    `/Archive;UIDVALIDITY=${Number(validity) + 1}/;UID=1`,
    '/Archive/;UID=1/;SECTION=3',
    'imap://bob%40example.test@mail.example.test/Archive/;UID=1',
    'imap://elsewhere.test/Archive/;UID=1',
    'http://example.test/',
  ]) {
    t.is(await catenated(`URL "${url}"`), `NO [BADURL ${url}] The URL names no message or part`);
  }
  t.is((await client.command('APPEND Drafts CATENATE ()')).tagged.slice(0, 3), 'BAD');
  t.is(gateway.context.spool.memory.used, 0);
});

test('CATENATE has the limit of a message, and nothing of another account', async (t) => {
  const gateway = await startImap(t, { maxMessageSize: 1000 });
  const client = await gateway.open();
  await client.command('APPEND Archive ', new Literal('x'.repeat(600)));
  const twice = 'URL "/Archive/;UID=1" URL "/Archive/;UID=1"';
  t.regex((await client.command(`APPEND Drafts CATENATE (${twice})`)).tagged, /^NO \[TOOBIG\] /);
  const text = new Literal('x'.repeat(401));
  t.regex(
    (await client.command('APPEND Drafts CATENATE (URL "/Archive/;UID=1" TEXT ', text, ')')).tagged,
    /^NO \[TOOBIG\] /,
  );
  const bob = await gateway.open('bob-key');
  t.regex((await bob.command('APPEND Drafts CATENATE (URL "/Archive/;UID=1")')).tagged, /^NO \[BADURL /);
  t.is(gateway.context.spool.memory.used, 0);
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

function handleOf(payload: unknown): 'inline' | 'stored' {
  const { messages } = payload as Payload<MailboxProtocol, 'append'>;
  return 'inlineId' in messages[0]! ? 'inline' : 'stored';
}

/** Returns whether the appended messages are inline or stored, in order. */
function appendsAsked(gateway: Awaited<ReturnType<typeof startImap>>): string[] {
  const asked: string[] = [];
  gateway.mailboxes.hook('append', (payload, ask) => {
    asked.push(handleOf(payload));
    return ask();
  });
  return asked;
}

test('a message that the mailbox does not take is stored first', async (t) => {
  const gateway = await startImap(t);
  const client = await gateway.open();
  const asked = appendsAsked(gateway);
  const append = async (mailbox: string, ...message: (string | Literal)[]) => {
    asked.length = 0;
    const { tagged } = await client.command(`APPEND ${mailbox} `, ...message);
    return [uidOf(tagged), ...asked];
  };
  t.deepEqual(await append('Drafts', new Literal(BYTES)), ['1', 'inline']);
  t.deepEqual(await append('Drafts', new Literal(BYTES), ' ', new Literal(BYTES)), ['2:3', 'inline']);
  t.deepEqual(await append('Sent', new Literal(BYTES)), ['1', 'inline']);
  t.deepEqual(await append('Sent', new Literal(BYTES)), ['2', 'inline']);
  t.deepEqual(await append('Sent', new Literal(BYTES), ' ', new Literal(BYTES)), ['3:4', 'inline']);
  t.deepEqual(await append('Drafts', new Literal(Buffer.alloc(300_000, 'x\r\n'))), ['4', 'stored']);
  const many = (count: number, octets: number) =>
    Array.from({ length: count }, (_, n) => [' ', new Literal(`Subject: ${n}\r\n\r\n${'x'.repeat(octets)}`)])
      .flat()
      .slice(1);
  t.deepEqual(await append('Archive', ...many(100, 5_000)), ['1:100', 'inline']);
  t.deepEqual(await append('Archive', ...many(101, 10)), ['101:201', 'stored']);
  t.deepEqual(await append('Archive', ...many(3, 200_000)), ['202:204', 'stored']);
  const inline = (around: (ask: () => Promise<unknown>) => Promise<unknown>) =>
    gateway.mailboxes.hook('append', (payload, ask) => {
      if (handleOf(payload) === 'inline') return around(ask);
      asked.push('stored');
      return ask();
    });
  const gone = new ActorFault('unreachable', 'the owner is gone');
  inline(() => Promise.reject(gone));
  t.deepEqual(await append('Drafts', new Literal(BYTES)), ['5', 'stored']);
  t.deepEqual(await append('Archive', ...many(2, 10)), ['205:206', 'stored']);
  // The mailbox takes the message, but its answer is lost.
  inline(async (ask) => {
    await ask();
    throw gone;
  });
  t.deepEqual(await append('Drafts', new Literal(BYTES)), ['6']);
  t.is(gateway.context.spool.memory.used, 0);
});

test('a message that nobody asks for goes to the mailbox of that name at the time of its commit', async (t) => {
  const gateway = await startImap(t);
  const [client, other] = [await gateway.open(), await gateway.open()];
  const name = `"${encodeModifiedUtf7('Zoë 💌')}"`;
  const asked: string[] = [];
  const { mailboxes, blobs } = gateway;
  /** `around`: of an inline message. */
  const hooked = (around: (ask: () => Promise<unknown>) => Promise<unknown> = (ask) => ask()) =>
    mailboxes.hook('append', (payload, ask) => {
      asked.push(handleOf(payload));
      return handleOf(payload) === 'inline' ? around(ask) : ask();
    });
  const append = async (mailbox: string, ...messages: string[]) => {
    asked.length = 0;
    const parts = messages.flatMap((text) => [' ', new Literal(`Subject: ${text}\r\n\r\n${text}`)]);
    const { tagged } = await client.command(`APPEND ${mailbox}`, ...parts);
    return [/^OK/.test(tagged) ? uidOf(tagged) : tagged.split(' ')[1], ...asked];
  };
  mailboxes.hook('folderAt', (_, ask) => {
    asked.push('folderAt');
    return ask();
  });
  hooked();
  t.deepEqual(await append(name, 'lost'), ['[TRYCREATE]', 'inline', 'folderAt']);
  t.deepEqual(await append('a//b', 'lost'), ['[NONEXISTENT]', 'inline', 'folderAt']);
  t.deepEqual(await append(name, 'lost', 'lost'), ['[TRYCREATE]', 'folderAt']);
  t.is(blobs.blobs.size, 0);
  await client.command(`CREATE ${name}`);
  t.deepEqual(await append(name, 'first'), ['1', 'inline']);
  t.deepEqual(await append(name.replace('Zo', 'zO'), 'second'), ['2', 'inline']);
  t.deepEqual(await append(name, 'third', 'fourth'), ['3:4', 'folderAt', 'inline']);
  t.deepEqual(await append('sEnt', 'sent'), ['1', 'inline']);
  t.deepEqual(await append(name, 'x'.repeat(300_000)), ['5', 'folderAt', 'stored']);
  const { size } = blobs.blobs;
  // After the rename no mailbox has this name, so the message is refused.
  hooked(async (ask) => {
    await other.command(`RENAME ${name} Elsewhere`);
    return ask();
  });
  t.deepEqual(await append(name, 'lost'), ['[TRYCREATE]', 'inline', 'folderAt']);
  t.is(blobs.blobs.size, size);
  hooked(async (ask) => {
    const answer = await ask();
    await other.command(`CREATE ${name}`);
    return answer;
  });
  t.deepEqual(await append(name, 'sixth'), ['1', 'inline', 'folderAt', 'stored']);
  hooked(() => Promise.reject(new ActorFault('unreachable', 'the owner is gone')));
  t.deepEqual(await append(name, 'seventh'), ['2', 'inline', 'folderAt', 'stored']);
  t.is(gateway.context.spool.memory.used, 0);
});

test('messages wait for the commit of the mailbox in bounded memory, and not in files', async (t) => {
  const directory = temporaryDirectory('mansio-held-');
  const gateway = await startImap(t, {
    limits: { bufferedOctetsPerAccount: 100_000 },
    spool: new Spool({ directory, memoryShare: 200_000 }),
  });
  const { spool, memory } = gateway.context;
  const client = await gateway.open();
  const asked = appendsAsked(gateway);
  const append = async (count: number, text: string) => {
    asked.length = 0;
    const parts = Array.from({ length: count }, (_, n) => [' ', new Literal(`Subject: ${n} 💌\r\n${text}`)]).flat();
    const { tagged } = await client.command('APPEND Drafts', ...parts);
    t.regex(tagged, /^OK /);
    t.deepEqual([spool.memory.used, memory.messages.used], [0, 0]);
    return asked.join();
  };
  const parts = `Content-Type: multipart/mixed; boundary=b\r\n\r\n${'--b\r\n\r\n'.repeat(900)}`;
  t.is(await append(5, '\r\nx\r\n'), 'inline');
  t.is(await append(50, '\r\nx\r\n'), 'stored');
  t.is(await append(1, parts), 'inline');
  t.is(await append(2, parts), 'stored');
  // The second message is in a file.
  t.is(await append(2, `\r\n${'x'.repeat(120_000)}`), 'stored');
  // The client is cut off here.
  client.write('x1 APPEND Drafts');
  for (let i = 0; i < 5; i++) client.write(' {10+}\r\nSubject: x');
  while (memory.messages.used === 0) await new Promise((resolve) => setImmediate(resolve));
  client.close();
  while (memory.messages.used > 0) await new Promise((resolve) => setImmediate(resolve));
  t.is(spool.memory.used, 0);
});

test('a store that fails is a temporary failure, and nothing is kept', async (t) => {
  const gateway = await startImap(t);
  const client = await gateway.open();
  const { put } = gateway.blobs;
  let puts = 0;
  gateway.blobs.put = (content) =>
    ++puts === 2
      ? Promise.reject(new StoreFault('store-unavailable', 'no database', { temporary: true }))
      : put.call(gateway.blobs, content);
  const body = 'x'.repeat(20_000);
  const messages = Array.from({ length: 40 }, (_, n) => [' ', new Literal(`Subject: ${n}\r\n\r\n${body}`)]).flat();
  t.regex((await client.command('APPEND Drafts', ...messages)).tagged, /^NO \[UNAVAILABLE\] /);
  t.true(puts < 40, `${puts}`);
  t.is(gateway.context.spool.memory.used, 0);
  gateway.mailboxes.fault = 'unreachable';
  t.regex((await client.command('APPEND Drafts ', new Literal(BYTES))).tagged, /^NO \[UNAVAILABLE\] /);
  gateway.mailboxes.fault = undefined;
  t.regex((await client.command('APPEND Drafts ', new Literal(BYTES))).tagged, /^OK /);
  t.is((await emailsIn(gateway, 'drafts')).length, 1);
  t.is(gateway.context.spool.memory.used, 0);
});

/** Appends two messages, the second one by CATENATE; `x1` is the tag. */
const COMMAND = Buffer.concat([
  Buffer.from(`x1 APPEND {6+}\r\nDrafts (\\Seen) "01-Feb-2020 03:04:05 +0100" {${BYTES.length}+}\r\n`),
  BYTES,
  Buffer.from(' CATENATE (URL {15+}\r\n/Archive/;UID=1 TEXT {5+}\r\n\r\nend URL /Archive/;UID=1)\r\n'),
]);

test('a connection that is cut at any octet of the command leaves nothing behind', async (t) => {
  const gateway = await startImap(t);
  const client = await gateway.open();
  await client.command('APPEND Archive ', new Literal('Subject: source\r\n\r\nx'));
  for (let cut = 0; cut < COMMAND.length; cut += 3) {
    const other = await gateway.open();
    other.write(COMMAND.subarray(0, cut));
    other.socket.end();
    await other.rest();
  }
  t.deepEqual(await emailsIn(gateway, 'drafts'), []);
  t.is(gateway.context.spool.memory.used, 0);
  t.regex((await client.command('NOOP')).tagged, /^OK /);
  const bugs = gateway.logged.filter(({ level }) => (level as number) >= 50);
  t.deepEqual(bugs, []);
});

test('the pieces in which a command arrives make no difference', async (t) => {
  const gateway = await startImap(t);
  const client = await gateway.open();
  await client.command('APPEND Archive ', new Literal('Subject: source\r\n\r\nx'));
  let uids = 0;
  for (const size of [1, 2, 7, 40, COMMAND.length]) {
    const other = await gateway.open();
    other.socket.setNoDelay(true);
    for (let at = 0; at < COMMAND.length; at += size) {
      await new Promise((resolve) => other.socket.write(COMMAND.subarray(at, at + size), resolve));
    }
    t.regex(await other.next(), new RegExp(`^x1 OK \\[APPENDUID \\d+ ${uids + 1}:${uids + 2}\\] `));
    other.close();
    uids += 2;
  }
  const subjects = (await emailsIn(gateway, 'drafts')).map(({ subject }) => subject);
  t.deepEqual(subjects.sort(), [...Array(5).fill('Hello'), ...Array(5).fill('source')]);
});
