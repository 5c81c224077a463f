// Tests the placing of imported mail: folders, flags and dates as in the import, each message once, whichever node places it.
import { randomUUID } from 'node:crypto';
import pino from 'pino';
import { startImportPlacing } from '../../../../src/actors/mailbox/background/import-placing.js';
import { blobOf as contentOf } from '../../../../src/store/blobs.js';
import { postgresImports } from '../../../../src/store/postgres/mailbox/imports.js';
import { postgresInbound } from '../../../../src/store/postgres/mailbox/inbound.js';
import test from '../../../support/test.js';
import { until } from '../../../support/until.js';
import { blobOf, start, summary } from '../command-world.js';
import { checkDrafts, checkRows } from '../mailbox-world.js';

const DATE = Date.UTC(2001, 1, 3, 4, 5, 6);

const sorted = (hashes: Iterable<string>): string[] => [...hashes].sort();

type Envelope = { readonly folder: string; readonly label?: string; readonly flags?: string[] };

const imported = (subject: string, { folder, label, flags = [] }: Envelope) => ({
  content: contentOf(Buffer.from(`Subject: ${subject}\r\n\r\n${subject}\r\n`)),
  envelope: { receivedAt: DATE, summary: summary(subject), folder, ...(label !== undefined && { label }), flags },
});

async function importWorld() {
  const { world, account, mailbox, types } = await start();
  const imports = postgresImports(world.sql);
  const placing = () =>
    startImportPlacing({
      imports,
      mailboxes: world.mailboxes,
      ownership: { owned: [0] },
      log: pino({ level: 'silent' }),
      intervalMs: 5,
    });
  /** Resolves when every row is placed. */
  const placeAll = async () => {
    const running = placing();
    await until(async () => (await imports.waiting(account.id)) === 0);
    await running.stop();
    return running.placed;
  };
  const rows = () => world.sql`
    select f.name, f.role, p.uid::int as uid, e.subject, e.flags::int as flags, e.keywords, p.deleted, e.received_at as date
    from placements p join folders f on f.account_id = p.account_id and f.id = p.folder_id
      join emails e on e.account_id = p.account_id and e.id = p.email_id
    where p.account_id = ${account.id} order by f.name, p.uid`;
  return { world, account, mailbox, types, imports, placing, placeAll, rows };
}

test('imported mail has the folders, labels, flags and dates that the import names', async (t) => {
  const { world, account, types, imports, placeAll, rows } = await importWorld();
  t.teardown(world.end);
  const messages = [
    imported('a', { folder: 'inbox', flags: ['\\Seen', '\\Flagged', 'Work', '$Junk'] }),
    imported('b', { folder: 'INBOX', label: 'Old mail', flags: ['\\Deleted'] }),
    imported('c', { folder: 'Zoë 💌/2001', label: 'old MAIL', flags: ['work'] }),
    imported('d', { folder: 'zoë 💌/2001' }),
    imported('e', { folder: 'sent', flags: ['\\Seen', '\\Answered'] }),
    imported('f', { folder: 'Drafts', flags: ['\\Draft'] }),
  ];
  t.is(await imports.add(account.id, messages), 6);
  t.is(await imports.waiting(account.id), 6);
  t.is(await placeAll(), 6);
  const shown = (await rows()).map((row) => [
    row['name'],
    row['role'],
    row['uid'],
    row['subject'],
    row['flags'],
    row['keywords'],
    row['deleted'],
  ]);
  t.deepEqual(shown, [
    ['Drafts', 'drafts', 1, 'f', 8, [], false],
    ['INBOX', 'inbox', 1, 'a', 1 + 4 + 64, ['Work'], false],
    ['INBOX', 'inbox', 2, 'b', 0, [], true],
    ['Old mail', 'label', 1, 'b', 0, [], false],
    ['Old mail', 'label', 2, 'c', 0, ['Work'], false],
    ['Sent', 'sent', 1, 'e', 3, [], false],
    ['Zoë 💌/2001', 'folder', 1, 'c', 0, ['Work'], false],
    ['Zoë 💌/2001', 'folder', 2, 'd', 0, [], false],
  ]);
  t.true((await rows()).every((row) => (row['date'] as Date).getTime() === DATE));
  const added = (await types()).filter(([type]) => type === 'EmailAdded');
  t.true(added.every(([, payload]) => (payload as { isNew: boolean }).isNew === false));
  await checkRows(world, t, account.id);
  await checkDrafts(world, t, account.id);
});

test('an import that is run again adds nothing, whether its rows are placed or wait', async (t) => {
  const { world, account, mailbox, imports, placeAll, rows } = await importWorld();
  t.teardown(world.end);
  const messages = ['a', 'b', 'c'].map((subject) => imported(subject, { folder: 'Old' }));
  t.is(await imports.add(account.id, [...messages, ...messages]), 3);
  t.is(await imports.add(account.id, messages), 0, 'they wait');
  await placeAll();
  t.is(await imports.add(account.id, messages), 0, 'they are placed');
  const hashes = messages.map(({ content }) => content.hash);
  t.deepEqual(sorted(await imports.present(account.id, 'OLD', hashes)), sorted(hashes));
  t.deepEqual(await imports.present(account.id, 'New', hashes), new Set());
  t.deepEqual(sorted(await imports.present(account.id, undefined, [...hashes, blobOf('other')])), sorted(hashes));
  const elsewhere = imported('a', { folder: 'New' });
  t.is(await imports.add(account.id, [elsewhere]), 1, 'another folder holds another email');
  t.deepEqual(await imports.present(account.id, 'New', hashes), new Set([elsewhere.content.hash]));
  await placeAll();
  t.is((await rows()).length, 4);
  // A node whose reply was lost asks again.
  const { reply } = await mailbox.ask('placeImported', {
    messages: [
      { inboundId: randomUUID(), blob: blobOf('x'), summary: summary('x'), receivedAt: 0, folder: 'X', flags: [] },
    ],
  });
  t.is(reply?.placed, 0, 'a row that is not there was placed before');
  t.is((await rows()).length, 4);
  await checkRows(world, t, account.id);
});

test('two that place the same rows at once place each once', async (t) => {
  const { world, account, imports, placing, rows } = await importWorld();
  t.teardown(world.end);
  const messages = Array.from({ length: 450 }, (_, i) => imported(`${i}`, { folder: 'Many' }));
  const [first, second] = await Promise.all([
    imports.add(account.id, messages.slice(0, 300)),
    imports.add(account.id, messages.slice(150)),
  ]);
  t.is(first + second, 450);
  const nodes = [placing(), placing()];
  await until(async () => (await imports.waiting(account.id)) === 0);
  await Promise.all(nodes.map((node) => node.stop()));
  const subjects = (await rows()).map((row) => row['subject'] as string);
  t.is(subjects.length, 450);
  t.is(new Set(subjects).size, 450);
  await checkRows(world, t, account.id);
});

test('mail beyond the folders and keywords of an account is kept all the same', async (t) => {
  const { world, account, imports, placeAll, rows } = await importWorld();
  t.teardown(world.end);
  const folders = Array.from({ length: 501 }, (_, i) =>
    imported(`f${i}`, { folder: `F${i}`, flags: [`k${i}`, '\\Seen', 'bad flag', '\\Bad'] }),
  );
  t.is(await imports.add(account.id, folders), 501);
  t.is(await placeAll(), 501);
  const placed = await rows();
  t.is(placed.length, 501);
  t.is(placed.filter((row) => row['name'] === 'Archive').length, 1);
  t.is(placed.filter((row) => (row['keywords'] as string[]).length === 1).length, 200);
  t.true(placed.every((row) => row['flags'] === 1));
  const last = folders.filter(({ envelope }) => !placed.some((row) => row['name'] === envelope.folder));
  t.is(last.length, 1);
  t.is(await imports.add(account.id, folders), 0, 'what went to Archive is not brought again');
  const hashes = last.map(({ content }) => content.hash);
  t.deepEqual(await imports.present(account.id, last[0]!.envelope.folder, hashes), new Set(hashes));
});

test('an import is not taken for accepted mail that waits for the inbox, and blobs of imports stay', async (t) => {
  const { world, account, imports } = await importWorld();
  t.teardown(world.end);
  const message = imported('a', { folder: 'Old' });
  await imports.add(account.id, [message]);
  t.deepEqual(await postgresInbound(world.sql, world.sql).overdue([0], -60_000, 10, []), []);
  await world.sql`insert into blob_candidates (hash, at) select hash, now() - interval '1 day' from blobs`;
  await world.sql`update blobs set stored_at = now() - interval '1 day'`;
  const held = (await world.sql`select from blobs`).length;
  await world.blobs.collect(1000, 100);
  t.is((await world.sql`select from blobs`).length, held);
  t.is((await imports.next(account.id, 0, 10)).length, 1);
  t.true(await world.directory.deleteAccount(account.id));
  t.is((await world.sql`select 1 from inbound`).length, 0);
  await t.throwsAsync(imports.add(account.id, [message]), { code: 'store-conflict' });
});

test('a message that was deleted after an import comes again with the next', async (t) => {
  const { world, account, mailbox, imports, placeAll, rows } = await importWorld();
  t.teardown(world.end);
  const message = imported('a', { folder: 'Trash' });
  t.is(await imports.add(account.id, [message]), 1);
  await placeAll();
  const [first] = await world.sql`select id from emails where account_id = ${account.id}`;
  await mailbox.ask('remove', { emailIds: [first!['id'] as string] });
  t.is((await rows()).length, 0);
  t.is(await imports.add(account.id, [message]), 1);
  t.is(await placeAll(), 1);
  t.is((await rows()).length, 1);
});

test('a row that the mailbox cannot take stays, and holds up no other', async (t) => {
  const { world, account, imports, placing, rows } = await importWorld();
  t.teardown(world.end);
  const messages = ['a', 'b', 'c', 'd', 'e'].map((subject) => imported(subject, { folder: 'Old' }));
  await imports.add(account.id, messages);
  await world.sql`
    update inbound set envelope = '{"receivedAt": null, "folder": "Old", "flags": []}'
    where import_number = (select min(import_number) + 2 from inbound)`;
  const running = placing();
  await until(async () => (await imports.waiting(account.id)) <= 1);
  await running.stop();
  t.deepEqual(
    (await rows()).map((row) => row['subject']),
    ['a', 'b', 'd', 'e'],
  );
  t.is((await world.sql`delete from inbound`).count, 1);
  await checkRows(world, t, account.id);
});

test('while an import brings rows without end, those of other accounts are placed', async (t) => {
  const { content, envelope } = imported('a', { folder: 'Old' });
  const running: { stop(): Promise<void> }[] = [];
  await new Promise<void>((resolve) => {
    let asked = 0;
    const placing = startImportPlacing({
      imports: {
        accounts: async () => (++asked === 1 ? ['endless'] : ['endless', 'other']),
        next: async (account, after) =>
          account === 'endless' || after === 0 ? [{ id: 'x', number: after + 1, blob: content.hash, envelope }] : [],
      },
      mailboxes: {
        of: (accountId: string) => ({
          async ask() {
            if (accountId === 'other') resolve();
            await new Promise(setImmediate);
            return { reply: { placed: 1 } };
          },
        }),
      } as never,
      ownership: { owned: [0] },
      log: pino({ level: 'silent' }),
      intervalMs: 5,
    });
    running.push(placing);
  });
  await running[0]!.stop();
  t.pass();
});
