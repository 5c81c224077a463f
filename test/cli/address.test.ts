// Tests `mansio address` and `mansio unclaimed`: who has an address, and what happens to mail while no account has it.
import { randomUUID } from 'node:crypto';
import { postgresDirectory } from '../../src/store/postgres/accounts/directory.js';
import type { Sql } from '../../src/store/postgres/driver/client.js';
import { mansioJson as json, mansio } from '../support/command-line.js';
import test from '../support/test.js';
import { programDatabase } from './program-database.js';

let sql: Sql;
let close: () => Promise<void>;

test.before(async () => {
  ({ sql, close } = await programDatabase());
});

test.after.always(() => close?.());

test('address list and remove', async (t) => {
  await json('account', 'create', '--email', 'dora@example.test', '--name', 'Dora');
  const add = (account: string, address: string, ...more: string[]) =>
    json('address', 'add', '--account', account, '--address', address, ...more);
  const [first, second] = [
    await add('dora@example.test', 'd2@example.test', '--verified'),
    await add('dora@example.test', 'd3@example.test'),
  ];
  const list = () => json('address', 'list', '--account', 'dora@example.test');
  t.deepEqual(await list(), [first, second]);
  t.deepEqual(await json('address', 'remove', 'D2@example.test'), first);
  t.deepEqual(await list(), [second]);
  t.regex((await mansio('address', 'remove', 'd2@example.test')).err, /^error: no account has the further address d2@/);
  t.regex(
    (await mansio('address', 'remove', 'dora@example.test')).err,
    /^error: dora@\S+ is the primary address .*account delete\n$/,
  );
  // Two accounts ask for the address; then one of them owns it.
  const other = await add('taken@example.test', 'd3@example.test');
  const several = await mansio('address', 'remove', 'd3@example.test');
  t.regex(several.err, /^error: several accounts .*--account \(dora@example.test, taken@example.test\)\n$/);
  t.deepEqual(await json('address', 'remove', 'd3@example.test', '--account', 'taken@example.test'), other);
  await add('taken@example.test', 'd3@example.test');
  const owned = await add('dora@example.test', 'd3@example.test', '--verified');
  t.deepEqual(await json('address', 'remove', 'd3@example.test'), owned);
  t.deepEqual(await list(), []);
});

test('an account has no address that stands for all of a domain', async (t) => {
  const wildcard =
    /^error: \*@example\.test is every address of a domain, .*\(mansio alias add '\*@example\.test' --to ACCOUNT\)\n$/;
  for (const args of [
    ['address', 'add', '--account', 'taken@example.test', '--address', '*@Example.test', '--verified'],
    ['account', 'create', '--email', '*@example.test', '--name', 'All'],
  ]) {
    const { code, err } = await mansio(...args);
    t.is(code, 1);
    t.regex(err, wildcard);
  }
});

test('unclaimed list, show, deliver and delete', async (t) => {
  const directory = postgresDirectory(sql, 256);
  await json('domain', 'add', 'lost.test');
  const { id: accountId } = await json('account', 'create', '--email', 'finder@lost.test', '--name', 'F');
  const hold = async (address: string) => {
    const made = await directory.openUnclaimed(address, 10);
    return made.kind === 'opened' ? made.accountId : t.fail();
  };
  const put = async (address: string, subject: string, size: number, receivedAt: Date) => {
    await sql`
      insert into emails (account_id, id, blob, thread_id, refs, from_address, from_name, subject, preview,
        received_at, size, has_attachments, attachment_count, flags, modseq)
      values (${(await hold(address)) as string}, ${randomUUID()}, ${Buffer.alloc(32, 7)}, ${randomUUID()}, '{}', 'x@y.test', 'X',
        ${subject}, '', ${receivedAt}, ${size}, false, 0, 0, 1)`;
  };
  const [early, late] = [new Date('2026-01-02T03:04:05.678Z'), new Date('2026-02-02T03:04:05.678Z')];
  await put('a@lost.test', 'One', 1000, early);
  await put('a@lost.test', 'Two', 24, late);
  await put('b@lost.test', 'Three', 5, early);
  const blob = Buffer.alloc(32, 9);
  await sql`insert into blobs (hash, size, mime_index) values (${blob}, 77, '{}')`;
  const envelope = { receivedAt: late.getTime() + 1, summary: { fromAddress: 'w@y.test', subject: 'Waits' } };
  await sql`
    insert into inbound (account_id, id, blob, envelope)
    values (${(await hold('b@lost.test')) as string}, ${randomUUID()}, ${blob}, ${sql.json(envelope)})`;
  const [a, b] = [
    { address: 'a@lost.test', messages: 2, bytes: 1024, newest: late.toISOString() },
    { address: 'b@lost.test', messages: 2, bytes: 82, newest: new Date(late.getTime() + 1).toISOString() },
  ];
  const list = () => json('unclaimed', 'list', '--domain', 'Lost.test');
  t.deepEqual(await list(), [b, a]);
  t.true((await json('unclaimed', 'list')).length >= 2);
  t.deepEqual(await json('unclaimed', 'show', 'B+tag@lost.test'), {
    ...b,
    emails: [
      { receivedAt: b.newest, from: 'w@y.test', subject: 'Waits', bytes: 77 },
      { receivedAt: early.toISOString(), from: 'x@y.test', subject: 'Three', bytes: 5 },
    ],
  });
  t.regex((await mansio('unclaimed', 'show', 'a@lost.test')).out, /messages +2\n.*One/s);
  for (const to of ['nobody@lost.test', 'b@lost.test']) {
    t.is((await mansio('unclaimed', 'deliver', 'a@lost.test', '--to', to)).err, `error: no such account: ${to}\n`);
  }
  await put('c@lost.test', 'Four', 1, early);
  const deliver = await mansio('unclaimed', 'deliver', 'c@lost.test', '--to', 'finder@lost.test');
  t.is(deliver.out, 'delivered 1 message to finder@lost.test\n');
  await put('c@lost.test', 'Five', 1, early);
  await put('c@lost.test', 'Six', 1, early);
  t.is((await mansio('unclaimed', 'delete', 'c@lost.test', '--yes')).out, 'deleted 2 messages\n');
  t.deepEqual(await json('unclaimed', 'deliver', 'a@lost.test', '--to', 'finder@lost.test'), a);
  t.deepEqual(await list(), [b]);
  const moved =
    await sql`select envelope->'summary'->>'subject' as subject from inbound where account_id = ${accountId}`;
  t.deepEqual(moved.map(({ subject }) => subject).sort(), ['Four', 'One', 'Two']);
  t.is(await directory.ownerOf('a@lost.test'), undefined);
  t.is(
    (await mansio('unclaimed', 'delete', 'b@lost.test')).err,
    'error: the mail that waits for b@lost.test will be deleted permanently: add --yes to confirm\n',
  );
  t.deepEqual(await json('unclaimed', 'delete', 'b@lost.test', '--yes'), b);
  t.deepEqual(await list(), []);
  const [candidate] = await sql`select hash from blob_candidates where hash = ${blob}`;
  t.truthy(candidate, 'what nothing refers to is collected');
  for (const command of [['show'], ['deliver', '--to', 'finder@lost.test'], ['delete', '--yes']])
    t.regex(
      (await mansio('unclaimed', command[0]!, 'b@lost.test', ...command.slice(1))).err,
      /^error: no unclaimed mail for b@lost\.test/,
    );
});
