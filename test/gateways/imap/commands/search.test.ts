// Tests SEARCH, SORT and THREAD on the wire: the forms of their responses, what SAVE keeps, and what is refused.
import type { ExecutionContext } from 'ava';
import iconv from 'iconv-lite';
import test from '../../../support/test.js';
import { type Answer, type ImapClient, Literal } from '../client.js';
import { ALICE, type ImapGateway, type ImapSettings, startImap } from '../gateway.js';

const DAY_MS = 86_400_000;
const START = Date.UTC(2026, 0, 1);

interface Made {
  readonly from?: string;
  readonly to?: string;
  readonly cc?: string;
  readonly subject?: string;
  readonly date?: string;
  readonly id?: string;
  readonly references?: string;
  readonly body?: string;
}

function message({ from, to, cc, subject, date, id, references, body = 'text' }: Made): string {
  const fields = { From: from, To: to, Cc: cc, Subject: subject, Date: date, 'Message-ID': id, References: references };
  const lines = Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [`${name}: ${value}`]));
  return [...lines, '', body, ''].join('\r\n');
}

/** Returns a client that has selected an inbox with these messages, one for each day. */
async function inbox(
  t: ExecutionContext,
  made: readonly Made[],
  settings?: ImapSettings,
): Promise<{ gateway: ImapGateway; client: ImapClient; ask: (command: string) => Promise<string[]> }> {
  const gateway = await startImap(t, settings);
  for (const [i, each] of made.entries()) await gateway.deliver(ALICE, message(each), START + i * DAY_MS);
  const client = await gateway.open();
  t.teardown(() => client.close());
  await client.command('SELECT INBOX');
  return { gateway, client, ask: async (command) => answered(t, await client.command(command)) };
}

/** Returns the untagged responses of a command that succeeds, without the tag of ESEARCH. */
function answered(t: ExecutionContext, { tagged, untagged }: Answer): string[] {
  t.true(tagged.startsWith('OK'), tagged);
  return untagged.map((line) => line.replace(/^ESEARCH \(TAG "a\d+"\)/, 'ESEARCH'));
}

const five: Made[] = [1, 2, 3, 4, 5].map((n) => ({ subject: `message ${n}`, from: `user${n}@example.org` }));

test('SEARCH answers numbers, UID SEARCH answers UIDs, and each is empty when nothing is found', async (t) => {
  const { ask } = await inbox(t, five);
  await ask('STORE 2 +FLAGS (\\Deleted)');
  await ask('EXPUNGE');
  t.deepEqual(await ask('SEARCH ALL'), ['SEARCH 1 2 3 4']);
  t.deepEqual(await ask('UID SEARCH ALL'), ['SEARCH 1 3 4 5']);
  for (const set of ['5:*', '*:5', '*', '4:9,7']) t.deepEqual(await ask(`SEARCH ${set}`), ['SEARCH 4'], set);
  t.deepEqual(await ask('SEARCH UID 3:4'), ['SEARCH 2 3']);
  t.deepEqual(await ask('UID SEARCH 2:3'), ['SEARCH 3 4']);
  t.deepEqual(await ask('SEARCH SUBJECT none'), ['SEARCH']);
  t.deepEqual(await ask('SEARCH NOT SUBJECT "MESSAGE 4" SINCE 3-Jan-2026'), ['SEARCH 2 4']);
  t.deepEqual(await ask('SEARCH OR FROM user1 (FROM user3 NOT FROM user4)'), ['SEARCH 1 2']);
});

test('ESEARCH answers what RETURN asks for', async (t) => {
  const { ask } = await inbox(t, five);
  for (const [command, response] of [
    ['SEARCH RETURN () 2:4', 'ESEARCH ALL 2:4'],
    ['SEARCH RETURN (MIN) 2:4', 'ESEARCH MIN 2'],
    ['SEARCH RETURN (MAX COUNT MIN ALL) OR 1:2 4', 'ESEARCH MIN 1 MAX 4 ALL 1:2,4 COUNT 3'],
    ['UID SEARCH RETURN (ALL) 2:4', 'ESEARCH UID ALL 2:4'],
    ['SEARCH RETURN (COUNT ALL MIN MAX) SUBJECT none', 'ESEARCH COUNT 0'],
    ['SEARCH RETURN (ALL) SUBJECT none', 'ESEARCH'],
    ['SEARCH RETURN (PARTIAL 1:2) 2:5', 'ESEARCH PARTIAL (1:2 2:3)'],
    ['SEARCH RETURN (PARTIAL 4:3) 2:5', 'ESEARCH PARTIAL (3:4 4:5)'],
    ['SEARCH RETURN (PARTIAL 3:100) 2:5', 'ESEARCH PARTIAL (3:100 4:5)'],
    ['SEARCH RETURN (PARTIAL 5:6) 2:5', 'ESEARCH PARTIAL (5:6 NIL)'],
    ['UID SEARCH RETURN (PARTIAL -1:-2 COUNT) 2:5', 'ESEARCH UID COUNT 4 PARTIAL (-1:-2 4:5)'],
    ['SEARCH RETURN (PARTIAL -3:-9) 2:5', 'ESEARCH PARTIAL (-3:-9 2:3)'],
    ['SEARCH RETURN (PARTIAL -5:-9) 2:5', 'ESEARCH PARTIAL (-5:-9 NIL)'],
  ] as const)
    t.deepEqual(await ask(command), [response], command);
});

test('a client of IMAP4rev2 gets ESEARCH always', async (t) => {
  const { ask } = await inbox(t, five);
  await ask('UNSELECT');
  await ask('ENABLE IMAP4rev2');
  await ask('SELECT INBOX');
  t.deepEqual(await ask('SEARCH 2:4'), ['ESEARCH ALL 2:4']);
  t.deepEqual(await ask('UID SEARCH SUBJECT none'), ['ESEARCH UID']);
});

test('SAVE keeps what was asked for, $ names it, and a search that fails empties it', async (t) => {
  const { client, ask } = await inbox(t, five, { limits: { searchKeys: 100 } });
  t.deepEqual(await ask('SEARCH $'), ['SEARCH']);
  t.deepEqual(await ask('SEARCH RETURN (SAVE) 2:4'), []);
  t.deepEqual(await ask('SEARCH $'), ['SEARCH 2 3 4']);
  t.deepEqual(await ask('SEARCH NOT $ 1:2'), ['SEARCH 1']);
  t.deepEqual(await ask('UID SEARCH UID $'), ['SEARCH 2 3 4']);
  for (const [options, kept] of [
    ['SAVE MIN', 'SEARCH 2'],
    ['SAVE MAX', 'SEARCH 5'],
    ['SAVE MIN MAX', 'SEARCH 2 5'],
    ['SAVE MIN COUNT', 'SEARCH 2 3 4 5'],
    ['SAVE MAX ALL', 'SEARCH 2 3 4 5'],
    ['SAVE PARTIAL 2:3', 'SEARCH 3 4'],
    ['SAVE PARTIAL 2:3 MAX', 'SEARCH 3 4 5'],
    ['SAVE PARTIAL 2:3 COUNT', 'SEARCH 2 3 4 5'],
  ] as const) {
    t.is((await ask(`SEARCH RETURN (${options}) 2:5`)).length, 1);
    t.deepEqual(await ask('SEARCH $'), [kept], options);
  }
  await ask('STORE 3 +FLAGS (\\Deleted)');
  await ask('EXPUNGE');
  t.deepEqual(await ask('SEARCH $'), ['SEARCH 2 3 4']);
  t.true((await client.command('SEARCH RETURN (SAVE) NONSENSE')).tagged.startsWith('BAD'));
  t.deepEqual(await ask('SEARCH $'), ['SEARCH 2 3 4']);
  const texts = Array.from({ length: 51 }, (_, i) => `BODY text${i}`).join(' ');
  t.true((await client.command(`SEARCH RETURN (SAVE) ${texts}`)).tagged.startsWith('NO [LIMIT]'));
  t.deepEqual(await ask('SEARCH $'), ['SEARCH']);
  await ask('SEARCH RETURN (SAVE) 2:4');
  await ask('SELECT INBOX');
  t.deepEqual(await ask('SEARCH $'), ['SEARCH']);
});

test('a search that is too large for the mailbox says what to do', async (t) => {
  // Short texts would be read instead of searched in the index.
  const long = Array<Made>(20).fill({ body: 'and text\r\n'.repeat(50_000) });
  const { gateway, client, ask } = await inbox(t, [...five, ...long]);
  gateway.mailboxes.hook('searchFolder', () => ({ refusal: 'searchTooLarge' }));
  for (const key of ['BODY "text and text"', 'TEXT message', 'NOT TEXT message']) {
    const { tagged } = await client.command(`SEARCH ${key}`);
    t.is(tagged, 'NO [LIMIT] Too many messages have these words for a search, search for words that fewer have', key);
  }
  t.deepEqual(await ask('SEARCH SUBJECT "message 3"'), ['SEARCH 3']);
});

test('a search with MODSEQ says the highest modseq of what it answers', async (t) => {
  const { ask } = await inbox(t, five);
  const modseqs: number[] = [];
  await ask('ENABLE CONDSTORE');
  for (const seq of [1, 3, 2, 4]) await ask(`STORE ${seq} +FLAGS (\\Seen)`);
  for (const line of await ask('FETCH 1:5 MODSEQ')) modseqs.push(Number(/MODSEQ \((\d+)\)/.exec(line)?.[1]));
  const [first, second, third, fourth] = modseqs as [number, number, number, number];
  t.true(first < third && third < second && second < fourth);
  for (const [command, response] of [
    [`SEARCH MODSEQ ${second}`, `SEARCH 2 4 (MODSEQ ${fourth})`],
    ['SEARCH MODSEQ 999999', 'SEARCH'],
    ['SEARCH RETURN (MIN) 1:3 MODSEQ "/flags/\\\\seen" all 1', `ESEARCH MIN 1 MODSEQ ${first}`],
    ['SEARCH RETURN (MAX) 1:3 MODSEQ 1', `ESEARCH MAX 3 MODSEQ ${third}`],
    ['SEARCH RETURN (MIN MAX) 2:3 MODSEQ 1', `ESEARCH MIN 2 MAX 3 MODSEQ ${second}`],
    ['SEARCH RETURN (MAX COUNT) 1:3 MODSEQ 1', `ESEARCH MAX 3 COUNT 3 MODSEQ ${second}`],
    ['SEARCH RETURN () 1:3 MODSEQ 1', `ESEARCH ALL 1:3 MODSEQ ${second}`],
    ['SORT (REVERSE ARRIVAL) UTF-8 1:3 MODSEQ 1', `SORT 3 2 1 (MODSEQ ${second})`],
  ] as const)
    t.deepEqual(await ask(command), [response], command);
});

test('texts are of UTF-8 or US-ASCII, and unknown charsets are refused by name', async (t) => {
  const { client, ask } = await inbox(t, [{ subject: '=?utf-8?q?Gr=C3=BC=C3=9Fe?=' }, { subject: 'other' }]);
  t.deepEqual(answered(t, await client.command('SEARCH CHARSET UTF-8 SUBJECT ', new Literal('grüße'))), ['SEARCH 1']);
  t.deepEqual(await ask('SEARCH CHARSET US-ASCII SUBJECT other'), ['SEARCH 2']);
  for (const command of ['SEARCH CHARSET KLINGON ALL', 'SORT (DATE) KLINGON ALL', 'THREAD REFERENCES KLINGON ALL']) {
    t.is((await client.command(command)).tagged.split(']')[0], 'NO [BADCHARSET (US-ASCII UTF-8)', command);
  }
});

test('EMAILID and THREADID find what FETCH shows, SAVEDATESUPPORTED finds all', async (t) => {
  const { ask } = await inbox(t, five);
  const [shown = ''] = await ask('FETCH 3 (EMAILID THREADID)');
  const emailId = /EMAILID \(([^)]+)\)/.exec(shown)?.[1];
  const threadId = /THREADID \(([^)]+)\)/.exec(shown)?.[1];
  t.deepEqual(await ask(`SEARCH EMAILID ${emailId}`), ['SEARCH 3']);
  t.deepEqual(await ask(`SEARCH THREADID ${threadId}`), ['SEARCH 3']);
  t.deepEqual(await ask('SEARCH EMAILID none'), ['SEARCH']);
  t.deepEqual(await ask('SEARCH SAVEDATESUPPORTED SAVEDSINCE 1-Jan-2026'), ['SEARCH 1 2 3 4 5']);
});

test('a client of UIDONLY names messages by UID alone', async (t) => {
  const { client, ask } = await inbox(t, five);
  await ask('UNSELECT');
  await ask('ENABLE UIDONLY');
  await ask('SELECT INBOX');
  for (const command of [
    'SEARCH ALL',
    'UID SEARCH 1:2',
    'UID SORT (DATE) UTF-8 NOT 3',
    'THREAD REFERENCES UTF-8 ALL',
  ]) {
    t.true((await client.command(command)).tagged.startsWith('BAD [UIDREQUIRED]'), command);
  }
  t.deepEqual(await ask('UID SEARCH UID 2:3'), ['SEARCH 2 3']);
});

test('a message that another client has expunged is not found before the client hears of it', async (t) => {
  const { gateway, client, ask } = await inbox(t, five);
  const other = await gateway.open();
  await other.command('SELECT INBOX');
  await other.command('STORE 2 +FLAGS (\\Deleted)');
  await other.command('EXPUNGE');
  t.deepEqual(await ask('SEARCH NOT SUBJECT none'), ['SEARCH 1 3 4 5']);
  t.deepEqual(
    (await client.command('NOOP')).untagged.filter((line) => line.includes('EXPUNGE')),
    ['2 EXPUNGE'],
  );
  t.deepEqual(await ask('SEARCH ALL'), ['SEARCH 1 2 3 4']);
  other.close();
});

test('a search of flags knows what sessions have changed since it was asked before', async (t) => {
  const { gateway, client, ask } = await inbox(t, five);
  const other = await gateway.open();
  t.teardown(() => other.close());
  await other.command('SELECT INBOX');
  const found = async () => [
    ...(await ask('SEARCH UNSEEN')),
    ...(await ask('SEARCH FLAGGED')),
    ...(await ask('SEARCH DELETED')),
    ...(await ask('SEARCH UNSEEN NOT (OR 3 FLAGGED)')),
  ];
  t.deepEqual(await found(), ['SEARCH 1 2 3 4 5', 'SEARCH', 'SEARCH', 'SEARCH 1 2 4 5']);
  await client.command('STORE 1,3:5 +FLAGS.SILENT (\\Seen)');
  t.deepEqual(await found(), ['SEARCH 2', 'SEARCH', 'SEARCH', 'SEARCH 2']);
  await other.command('STORE 2:3 +FLAGS.SILENT (\\Flagged \\Deleted)');
  await client.command('NOOP');
  t.deepEqual(await found(), ['SEARCH 2', 'SEARCH 2 3', 'SEARCH 2 3', 'SEARCH']);
  await gateway.deliver(ALICE, message({ subject: 'Zoë 💌' }), START);
  await client.command('NOOP');
  t.deepEqual(await found(), ['SEARCH 2 6', 'SEARCH 2 3', 'SEARCH 2 3', 'SEARCH 6']);
  await other.command('UID EXPUNGE 2');
  await client.command('NOOP');
  t.deepEqual(await found(), ['SEARCH 5', 'SEARCH 2', 'SEARCH 2', 'SEARCH 5']);
  await other.command('STORE 2 -FLAGS.SILENT (\\Flagged)');
  await other.command('EXPUNGE');
  await other.command('STORE 1 -FLAGS (\\Seen)');
  // The client's numbers are used; one of its messages no longer exists.
  t.deepEqual(
    (await ask('SEARCH UNSEEN')).filter((line) => line.startsWith('SEARCH')),
    ['SEARCH 1 5'],
  );
  await client.command('NOOP');
  t.deepEqual(await found(), ['SEARCH 1 4', 'SEARCH', 'SEARCH', 'SEARCH 1 4']);
});

test('SORT orders by each criterion, ties by the order of the mailbox, REVERSE one criterion alone', async (t) => {
  const { ask } = await inbox(t, [
    {
      from: '"zed" <b@example.org>',
      to: 'y@example.org',
      cc: 'q@example.org',
      subject: 'Re: beta',
      date: '3 Jan 2020 10:00 +0000',
    },
    { from: 'Alpha <c@example.org>', to: 'x@example.org', subject: 'alpha', date: '1 Jan 2020 23:00 -0200' },
    { from: 'A@example.org', to: '"nobody" <z@example.org>', subject: '[list] BETA (fwd)', body: 'long '.repeat(50) },
    { subject: '', date: '2 Jan 2020 00:30 +0000', cc: 'staff: one@example.org, two@example.org;' },
  ]);
  for (const [order, expected] of [
    ['ARRIVAL', '1 2 3 4'],
    ['REVERSE ARRIVAL', '4 3 2 1'],
    ['SIZE', '4 2 1 3'],
    ['DATE', '4 2 1 3'],
    ['SUBJECT', '4 2 1 3'],
    ['REVERSE SUBJECT', '1 3 2 4'],
    ['SUBJECT REVERSE ARRIVAL', '4 2 3 1'],
    ['FROM', '4 3 1 2'],
    ['TO', '4 2 1 3'],
    ['CC', '2 3 1 4'],
    ['DISPLAYFROM', '4 3 2 1'],
    ['DISPLAYTO', '4 3 2 1'],
    ['REVERSE CC DATE', '4 1 2 3'],
  ] as const)
    t.deepEqual(await ask(`SORT (${order}) UTF-8 ALL`), [`SORT ${expected}`], order);
  t.deepEqual(await ask('SORT (SUBJECT) UTF-8 SUBJECT none'), ['SORT']);
  t.deepEqual(await ask('UID SORT (REVERSE DATE) US-ASCII 1:2'), ['SORT 1 2']);
  for (const [command, response] of [
    ['SORT RETURN () (REVERSE ARRIVAL) UTF-8 2:4', 'ESEARCH ALL 4,3,2'],
    ['SORT RETURN (MIN MAX COUNT) (REVERSE ARRIVAL) UTF-8 2:4', 'ESEARCH MIN 4 MAX 2 COUNT 3'],
    ['UID SORT RETURN (PARTIAL 1:2) (SUBJECT) UTF-8 ALL', 'ESEARCH UID PARTIAL (1:2 4,2)'],
    ['SORT RETURN (PARTIAL -1:-2) (SUBJECT) UTF-8 ALL', 'ESEARCH PARTIAL (-1:-2 1,3)'],
  ] as const)
    t.deepEqual(await ask(command), [response], command);
  t.deepEqual(await ask('SORT RETURN (SAVE MIN) (REVERSE ARRIVAL) UTF-8 1:3'), ['ESEARCH MIN 3']);
  t.deepEqual(await ask('SEARCH $'), ['SEARCH 3']);
});

test('SORT compares times of arrival by the second, which INTERNALDATE tells', async (t) => {
  const { ask, gateway, client } = await inbox(t, []);
  const texts = ['one', 'two', 'three', 'four'].map((subject) => message({ subject }));
  for (const [i, ms] of [1_900, 1_100, 1_500, 900].entries()) await gateway.deliver(ALICE, texts[i]!, START + ms);
  await client.command('NOOP');
  const sorted = async (order: string) =>
    (await ask(`SORT (${order}) UTF-8 ALL`)).filter((line) => line.startsWith('SORT'));
  for (const order of ['ARRIVAL', 'DATE']) t.deepEqual(await sorted(order), ['SORT 4 1 2 3'], order);
  t.deepEqual(await sorted('REVERSE ARRIVAL'), ['SORT 1 2 3 4']);
});

test('SORT compares addresses without the quotes that are written around a local part', async (t) => {
  const quoted = '"pos\\"t 💌"@example.org';
  const { ask } = await inbox(
    t,
    ['quiet@example.org', quoted, 'anna@example.org'].map((address) => ({
      from: address,
      to: `<${address}>`,
      cc: address,
      subject: 'x',
    })),
  );
  for (const by of ['FROM', 'TO', 'CC', 'DISPLAYFROM', 'DISPLAYTO'])
    t.deepEqual(await ask(`SORT (${by}) UTF-8 ALL`), ['SORT 3 2 1'], by);
});

test('SEARCH, SORT and THREAD of a folder that was read before know what has come and gone since', async (t) => {
  const { gateway, client, ask } = await inbox(t, [
    { subject: 'b', id: '<1@x>' },
    { subject: 'c', id: '<2@x>' },
    { subject: 'a', id: '<3@x>', references: '<1@x>' },
  ]);
  const answers = async () => [
    ...(await ask('SORT (SUBJECT) UTF-8 ALL')),
    ...(await ask('SORT (REVERSE SUBJECT) UTF-8 NOT 2')),
    ...(await ask('THREAD REFERENCES UTF-8 ALL')),
    ...(await ask('THREAD ORDEREDSUBJECT UTF-8 1:2')),
    ...(await ask('SEARCH SUBJECT a')),
  ];
  const first = ['SORT 3 1 2', 'SORT 1 3', 'THREAD (1 3)(2)', 'THREAD (1)(2)', 'SEARCH 3'];
  t.deepEqual(await answers(), first);
  t.deepEqual(await answers(), first);
  await gateway.deliver(ALICE, message({ subject: 'aa', id: '<4@x>', references: '<2@x>' }), START);
  await client.command('NOOP');
  t.deepEqual(await answers(), ['SORT 3 4 1 2', 'SORT 1 4 3', 'THREAD (1 3)(2 4)', 'THREAD (1)(2)', 'SEARCH 3 4']);
  await client.command('STORE 1 +FLAGS.SILENT (\\Deleted)');
  await client.command('EXPUNGE');
  t.deepEqual(await answers(), ['SORT 2 3 1', 'SORT 1 3', 'THREAD (1 3)(2)', 'THREAD (1)(2)', 'SEARCH 2 3']);
});

test('THREAD puts replies below what they reply to, among the messages that are searched', async (t) => {
  const { ask } = await inbox(t, [
    { subject: 'one', id: '<1@x>' },
    { subject: 'Re: one', id: '<2@x>', references: '<1@x>' },
    { subject: 'Re: one', id: '<3@x>', references: '<1@x>\r\n <2@x>' },
    { subject: 'other', id: '<"4"@x>' },
    { subject: 'Re: other' },
    { subject: 'changed', id: '<6@x>', references: '<1@x>' },
    { subject: 'quoted', references: '<4@x>' },
  ]);
  t.deepEqual(await ask('THREAD REFERENCES UTF-8 ALL'), ['THREAD (1 (2 3)(6))(4 (5)(7))']);
  t.deepEqual(await ask('THREAD REFERENCES UTF-8 NOT 1'), ['THREAD ((2 3)(6))(4 (5)(7))']);
  t.deepEqual(await ask('UID THREAD REFERENCES UTF-8 2:3'), ['THREAD (2 3)']);
  t.deepEqual(await ask('THREAD ORDEREDSUBJECT UTF-8 ALL'), ['THREAD (1 (2)(3))(4 5)(6)(7)']);
  t.deepEqual(await ask('THREAD ORDEREDSUBJECT UTF-8 SUBJECT none'), ['THREAD']);
});

test('the capabilities name what SEARCH, SORT and THREAD can do', async (t) => {
  const { ask } = await inbox(t, []);
  const [capabilities = ''] = await ask('CAPABILITY');
  for (const name of [
    ...['ESEARCH', 'SEARCHRES', 'WITHIN', 'PARTIAL', 'INPROGRESS', 'I18NLEVEL=1'],
    ...['SORT', 'SORT=DISPLAY', 'ESORT', 'THREAD=ORDEREDSUBJECT', 'THREAD=REFERENCES'],
  ])
    t.true(capabilities.split(' ').includes(name), name);
  t.deepEqual(await ask('SEARCH 1:*'), ['SEARCH']);
  t.deepEqual(await ask('THREAD REFERENCES UTF-8 ALL'), ['THREAD']);
});

test('raw octets in a header are in the charset of the first text that declares one, whatever the message consists of', async (t) => {
  const koi8 = (text: string) => iconv.encode(text, 'koi8-r').toString('latin1');
  const gateway = await startImap(t);
  const mixed = (subject: string, from: string, inner = '') =>
    Buffer.from(
      `From: ${koi8(from)} <a@b.test>\r\nSubject: ${koi8(subject)}\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n` +
        `--b\r\nContent-Type: text/plain; charset=koi8-r\r\n\r\n${koi8('текст')}\r\n${inner}--b--\r\n`,
      'latin1',
    );
  const embedded = `--b\r\nContent-Type: message/rfc822\r\n\r\nSubject: ${koi8('внутри')}\r\n\r\nx\r\n`;
  await gateway.deliver(ALICE, mixed('привет', 'Яна'), START);
  await gateway.deliver(ALICE, mixed('арбуз', 'Борис', embedded), START);
  for (let i = 0; i < 6; i++) await gateway.deliver(ALICE, message({ subject: 'other' }), START);
  const client = await gateway.open();
  t.teardown(() => client.close());
  await client.command('SELECT INBOX');
  const ask = async (...command: (string | Literal)[]) => answered(t, await client.command(...command));
  const found = async (key: string, text: string) => ask(`SEARCH CHARSET UTF-8 ${key} `, new Literal(text));
  t.deepEqual(await ask('SORT (SUBJECT) UTF-8 1:2'), ['SORT 2 1']);
  t.deepEqual(await ask('SORT (DISPLAYFROM) UTF-8 1:2'), ['SORT 2 1']);
  t.deepEqual(await found('SUBJECT', 'ПРИВЕТ'), ['SEARCH 1']);
  t.deepEqual(await found('FROM', 'борис'), ['SEARCH 2']);
  t.deepEqual(await found('TEXT', 'арбуз'), ['SEARCH 2']);
  t.deepEqual(await found('BODY', 'внутри'), ['SEARCH 2']);
});
