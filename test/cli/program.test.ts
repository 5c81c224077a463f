// Tests the admin commands of docs/interface/operator.md for scripts: JSON on stdout, or one line on stderr and exit code 1.
import { randomBytes } from 'node:crypto';
import { newApiKey } from '../../src/actors/directory/api-key.js';
import { postgresDirectory } from '../../src/store/postgres/accounts/directory.js';
import { postgresSessions } from '../../src/store/postgres/accounts/sessions.js';
import type { Sql } from '../../src/store/postgres/driver/client.js';
import { postgresLeases } from '../../src/store/postgres/leases.js';
import { mansioJson as json, mansio } from '../support/command-line.js';
import test from '../support/test.js';
import { programDatabase } from './program-database.js';

let sql: Sql;
let close: () => Promise<void>;

test.before(async () => {
  ({ sql, close } = await programDatabase());
});

test.after.always(() => close?.());

test('migrate says what it did', async (t) => {
  const { version, applied } = await json('migrate');
  t.regex(version, /^\d{4}_/);
  t.deepEqual(applied, []);
});

test('account create, list and delete', async (t) => {
  const made = await json('account', 'create', '--email', 'Ann@Example.Test', '--name', 'Ann A.', '--password-less');
  t.deepEqual(made, { id: made.id, email: 'ann@example.test', displayName: 'Ann A.' });
  const listed = await json('account', 'list');
  t.like(
    listed.find((account: { id: string }) => account.id === made.id),
    { email: 'ann@example.test', displayName: 'Ann A.' },
  );
  const timid = await mansio('account', 'delete', '--email', 'ann@example.test');
  t.is(timid.code, 1);
  t.regex(timid.err, /--yes/);
  t.deepEqual(await json('account', 'delete', '--email', 'ann@example.test', '--yes'), {
    id: made.id,
    email: 'ann@example.test',
    deleted: true,
  });
  t.is((await mansio('account', 'delete', '--email', 'ann@example.test', '--yes')).code, 1);
});

test('account delete names an alias that leads to nobody then', async (t) => {
  const options = ['--email', 'gone@example.test'];
  await json('account', 'create', ...options, '--name', 'G');
  await sql`insert into aliases (address, targets, send_as) values ('old@example.test', '{gone@example.test}', false)`;
  const { code, err } = await mansio('account', 'delete', ...options, '--yes');
  t.is(code, 0);
  t.regex(err, /^warning: old@example\.test leads to gone@example\.test, which nobody has now \(see mansio alias\)\n/);
});

test('account create claims the unclaimed mail of its address', async (t) => {
  const opened = await postgresDirectory(sql, 256).openUnclaimed('held@example.test', 10);
  t.false((await json('account', 'list')).some((account: { email: string }) => account.email === 'held@example.test'));
  t.is((await mansio('key', 'list', '--account', 'held@example.test')).code, 1);
  const made = await json('account', 'create', '--email', 'held@example.test', '--name', 'H');
  t.is(opened.kind === 'opened' ? opened.accountId : '', made.id);
});

test('address add', async (t) => {
  await json('account', 'create', '--email', 'bob@example.test', '--name', 'Bob');
  const added = await json(
    ...['address', 'add', '--account', 'bob@example.test', '--address', 'b2@example.test', '--verified'],
  );
  t.deepEqual(added, { id: added.id, address: 'b2@example.test', isVerified: true, isForwardingOnly: false });
  const both = await mansio(
    ...[
      'address',
      'add',
      '--account',
      'bob@example.test',
      '--address',
      'b4@example.test',
      '--verified',
      '--for-forwarding',
    ],
  );
  t.regex(both.err, /^error: name one of --verified and --for-forwarding/);
  const unverified = await json('address', 'add', '--account', 'bob@example.test', '--address', 'b3@example.test');
  t.false(unverified.isVerified);
  const primary = await mansio('account', 'delete', '--email', 'b2@example.test', '--yes');
  t.is(primary.err, 'error: b2@example.test is a further address of bob@example.test: name the primary one\n');
});

test('account link makes a link that signs in once, at the address of the page', async (t) => {
  await json('account', 'create', '--email', 'lena@example.test', '--name', 'Lena');
  t.teardown(() => {
    delete process.env['MANSIO_PUBLIC_URL'];
  });
  const before = Date.now();
  const made = await json('account', 'link', 'lena@example.test');
  t.deepEqual(Object.keys(made), ['url', 'expiresAt']);
  const [, token] = /^http:\/\/localhost:8080\/link\/([\w-]{43})$/.exec(made.url)!;
  const minutes = (Date.parse(made.expiresAt) - before) / 60_000;
  t.true(minutes > 14 && minutes < 16, made.expiresAt);
  const stored = await sql`select * from sign_in_links`;
  t.is(stored.length, 1);
  t.false(JSON.stringify(stored).includes(token!), 'the store has a hash');
  process.env['MANSIO_PUBLIC_URL'] = 'https://mail.example.test/mail/';
  t.regex(
    (await json('account', 'link', 'lena@example.test')).url,
    /^https:\/\/mail\.example\.test\/mail\/link\/[\w-]{43}$/,
  );
  process.env['MANSIO_PUBLIC_URL'] = 'http://mail.example.test';
  const insecure = await mansio('account', 'link', 'lena@example.test');
  t.is(insecure.code, 1);
  t.regex(insecure.err, /^error: the page is at http:\/\/mail\.example\.test, and browsers sign in over https only/);
  t.is((await mansio('account', 'link', 'nobody@example.test')).code, 1);
});

test('account sessions lists the browsers that are signed in, and signs them out', async (t) => {
  const { id: accountId } = await json('account', 'create', '--email', 'mia@example.test', '--name', 'Mia');
  const store = postgresSessions(sql);
  const begin = async (userAgent: string, of = accountId) => {
    const { prefix, hash } = newApiKey(randomBytes);
    return (await store.create(of, 100, { prefix, hash, userAgent }))!.id;
  };
  const [phone, laptop, old] = [await begin('Phone'), await begin('Laptop'), await begin('Old')];
  await sql`update sessions set last_used_at = now() - interval '31 days' where id = ${old}`;
  const { id: otherId } = await json('account', 'create', '--email', 'noa@example.test', '--name', 'Noa');
  const others = await begin('Phone', otherId);
  const sessions = (...more: readonly string[]) => json('account', 'sessions', 'mia@example.test', ...more);
  const listed = await sessions();
  t.deepEqual(
    listed.map(({ id, userAgent }: { id: string; userAgent: string }) => [id, userAgent]),
    [
      [laptop, 'Laptop'],
      [phone, 'Phone'],
    ],
  );
  t.deepEqual(Object.keys(listed[0]), ['id', 'createdAt', 'lastUsedAt', 'userAgent']);
  t.deepEqual(await sessions('--end', phone.toUpperCase()), { id: phone, ended: true });
  const notTwice = await mansio('account', 'sessions', 'mia@example.test', '--end', phone);
  t.deepEqual([notTwice.code, notTwice.err], [1, `error: mia@example.test has no session with the id ${phone}\n`]);
  t.is((await mansio('account', 'sessions', 'mia@example.test', '--end', others)).code, 1, 'of another account');
  t.is((await mansio('account', 'sessions', 'mia@example.test', '--end', 'phone')).code, 1);
  t.is((await mansio('account', 'sessions', 'mia@example.test', '--end', laptop, '--all')).code, 1);
  t.deepEqual(await sessions('--all'), { account: 'mia@example.test', ended: 1 });
  t.deepEqual(await sessions(), []);
  t.is((await json('account', 'sessions', 'noa@example.test')).length, 1);
  t.is((await mansio('account', 'sessions', 'nobody@example.test')).code, 1);
});

test('key create, list and revoke', async (t) => {
  const { id: accountId } = await json('account', 'create', '--email', 'carl@example.test', '--name', 'Carl');
  const of = ['--account', 'carl@example.test'];
  const made = await json('key', 'create', ...of, '--name', 'phone', '--scope', 'smtp', 'imap', '--scope', 'pop3');
  t.deepEqual(made, { id: made.id, name: 'phone', scopes: ['smtp', 'imap', 'pop3'], apiKey: made.apiKey });
  t.regex(made.apiKey, /^mansio_[a-z2-7]{10}_[\w-]{43}$/);
  t.like((await json('key', 'list', '--account', accountId))[0], { id: made.id, name: 'phone', lastUsedAt: null });
  const internal = await json('key', 'create', ...of, '--name', 'billing', '--scope', 'internal');
  const [row] = await sql`select service_wide from api_keys where id = ${internal.id}`;
  t.true(row!['service_wide']);
  t.deepEqual(await json('key', 'revoke', '--id', made.id), { id: made.id, revoked: true });
  t.is((await mansio('key', 'revoke', '--id', made.id)).code, 1);
  t.is((await json('key', 'list', ...of)).length, 1);
});

test('account create warns of a domain that is not hosted', async (t) => {
  const made = await mansio('account', 'create', '--email', 'eve@elsewhere.test', '--name', 'Eve', '--json');
  t.is(made.code, 0);
  t.regex(made.err, /^warning: elsewhere\.test is not a hosted domain: [^\n]*\n$/);
  t.is(JSON.parse(made.out).email, 'eve@elsewhere.test');
});

test.serial('cluster status shows nodes, their shards, and what waits', async (t) => {
  t.deepEqual(await json('cluster', 'status'), {
    nodes: [],
    shards: { total: 256, free: 256, expired: 0 },
    inbound: { waiting: 0, oldestMs: null },
  });
  const leases = postgresLeases(sql);
  const node = (id: string) => ({
    id,
    incarnation: id,
    version: '1.2.3',
    roles: ['mailbox', 'mx'],
    bus: 'nats' as const,
  });
  for (const id of ['first', 'second']) await leases.join(node(id), 60_000);
  const { leases: free } = await leases.view();
  await leases.take('first', free.slice(0, 200), 60_000);
  await leases.take('second', free.slice(200, 250), 60_000);
  // A killed node leaves these rows.
  await leases.join(node('third'), 60_000);
  await leases.take('third', free.slice(250, 254), 60_000);
  await sql`update nodes set expires_at = now(), beat_at = now() - interval '90 seconds',
    started_at = now() - interval '1 day 2 hours 90 seconds' where id = 'third'`;
  await sql`update shard_leases set expires_at = now() where node_id = 'third'`;
  await sql`insert into inbound (account_id, id, blob, envelope, at)
    values (gen_random_uuid(), gen_random_uuid(), '', '{}', now() - interval '75 seconds')`;

  const { nodes, shards, inbound } = await json('cluster', 'status');
  const [first, second, third] = nodes;
  t.like(first, { id: 'first', version: '1.2.3', roles: ['mailbox', 'mx'], state: 'serving', shards: 200 });
  t.true(first.uptimeMs < 60_000 && first.heartbeatAgeMs < 60_000);
  t.is(first.expectedShards + second.expectedShards, 256);
  t.like(third, { state: 'gone', shards: 4, expectedShards: 0 });
  // Nodes and clock are read a moment apart.
  t.true(Math.abs(third.uptimeMs - 93_600_000) < 10_000);
  t.true(third.heartbeatAgeMs >= 90_000);
  t.deepEqual(shards, { total: 256, free: 2, expired: 4 });
  t.is(inbound.waiting, 1);
  t.true(inbound.oldestMs >= 75_000 && inbound.oldestMs < 120_000);

  const { out } = await mansio('cluster', 'status');
  t.regex(out, /^node +version +state +uptime +heartbeat +shards +expected +roles\n/);
  // A busy machine takes some seconds for both commands.
  t.regex(out, /\nthird +1\.2\.3 +gone +1d [12]h +1m [345]\ds ago +4 +0 +mailbox mx\n/);
  t.regex(out, /\nshards +256, 2 free, 4 expired\ninbound +1 waiting, the first for 1m [1-5]\ds\n$/);
  await sql`delete from inbound`;
  await sql`delete from nodes`;
});

const REFUSED: readonly (readonly [string, RegExp, ...string[]])[] = [
  ['a bad address', /not an e-mail address: nobody/, 'account', 'create', '--email', 'nobody', '--name', 'N'],
  ['a tag', /no \+tag/, 'account', 'create', '--email', 'a+b@example.test', '--name', 'N'],
  ['an empty name', /--name is empty/, 'account', 'create', '--email', 'n@example.test', '--name', ' '],
  ['no name', /required option '--name/, 'account', 'create', '--email', 'n@example.test'],
  [
    'a taken address',
    /taken@example.test is taken/,
    'account',
    'create',
    '--email',
    'Taken@example.test',
    '--name',
    'N',
  ],
  ['an unknown account', /no such account: x@example.test/, 'key', 'list', '--account', 'x@example.test'],
  ['an account that is neither', /neither an e-mail address nor an id: x/, 'key', 'list', '--account', 'x'],
  [
    'an unknown scope',
    /unknown scope: imap4 \(known are smtp, /,
    ...['key', 'create', '--account', 'taken@example.test', '--name', 'k', '--scope', 'imap4'],
  ],
  [
    'internal among others',
    /internal goes with no other/,
    ...['key', 'create', '--account', 'taken@example.test', '--name', 'k', '--scope', 'internal', 'app'],
  ],
  ['no scope', /required option '--scope/, ...['key', 'create', '--account', 'taken@example.test', '--name', 'k']],
  ['an id that is none', /not the id of a key: 7/, 'key', 'revoke', '--id', '7'],
  ['an unknown id', /no active key has the id/, ...['key', 'revoke', '--id', '00000000-0000-4000-8000-000000000000']],
  ['an email id that is none', /not the id of an outbound email: 7/, 'queue', 'show', '7'],
  [
    'an email that is not there',
    /no outbound email has the id 0/,
    ...['queue', 'cancel', '00000000-0000-4000-8000-000000000000'],
  ],
  ['an unknown status', /'gone' is invalid\. It is one of Draft, Queued, /, 'queue', 'list', '--status', 'gone'],
  ['a limit that is none', /'0' is invalid\. It is a number from 1 /, 'queue', 'list', '--limit', '0'],
  ['no domain name', /not a domain name: not_a domain/, 'domain', 'add', 'not_a domain'],
  [
    'a signing key without its selector',
    /--dkim-key needs --dkim-selector/,
    ...['domain', 'add', 'x.test', '--dkim-key', '/dev/null'],
  ],
  ['a selector that is none', /not a DKIM selector: a_b/, 'domain', 'add', 'x.test', '--dkim-selector', 'a_b'],
  ['an IP address', /not a domain name/, 'domain', 'add', '127.0.0.1'],
  ['to show a domain that is not hosted', /not a hosted domain: b\.test/, 'domain', 'show', 'B.test'],
];

for (const [what, words, ...args] of REFUSED) {
  test(`refuses ${what} with one line and exit code 1`, async (t) => {
    const { code, out, err } = await mansio(...args, '--json');
    t.is(code, 1);
    t.is(out, '');
    t.regex(err, words);
    t.regex(err, /^error: [^\n]+\n$/);
  });
}

const MISUSED: readonly (readonly [RegExp, ...string[]])[] = [
  [/mansio needs a command: one of serve, /],
  [/unknown command 'bogus': one of serve, /, 'bogus'],
  [/unknown command 'bogus': one of serve, /, 'bogus', '--account', 'a', '--mbox', 'F'],
  [/unknown option '--bogus'/, '--bogus'],
  [/unknown option '--bogus'/, 'config', '--bogus'],
  [/unknown option '--jsn' \(Did you mean --json\?\)/, 'config', '--jsn'],
  [/too many arguments for 'serve'/, 'serve', 'extra'],
  [/mansio queue needs a command: one of list, show, retry, cancel, release /, 'queue'],
  [
    /mansio account needs a command: one of create, list, link, sessions, show, limit, suspend, resume, delete /,
    'account',
  ],
  [/unknown command 'bogus': one of create, /, 'account', 'bogus'],
  [/unknown option '--bogus'/, 'account', '--bogus'],
  [/too many arguments for 'list'/, 'account', 'list', 'extra'],
  [/missing required argument 'domain'/, 'domain', 'add'],
];

for (const [words, ...args] of MISUSED) {
  test(`one line and exit code 1: mansio ${args.join(' ')}`, async (t) => {
    const { code, out, err } = await mansio(...args);
    t.is(code, 1);
    t.is(out, '');
    t.regex(err, words);
    t.regex(err, /^error: [^\n]+\n$/);
  });
}

test('help that is asked for is no error', async (t) => {
  for (const args of [['--help'], ['account', '--help'], ['help', 'account'], ['account', 'create', '--help']]) {
    const { code, out, err } = await mansio(...args);
    t.is(code, 0, args.join(' '));
    t.is(err, '');
    t.regex(out, /^Usage: mansio/);
  }
  t.is((await mansio('--version')).code, 0);
});

test.serial('a database that is away is one line too', async (t) => {
  const url = process.env['DATABASE_URL'];
  process.env['DATABASE_URL'] = 'postgres://x@localhost:1/x';
  t.teardown(() => {
    process.env['DATABASE_URL'] = url;
  });
  for (const { code, err } of [await mansio('account', 'list'), await mansio('cluster', 'status')]) {
    t.is(code, 1);
    t.regex(err, /^error: database unavailable: [^\n]*ECONNREFUSED[^\n]*\n$/);
  }
});
