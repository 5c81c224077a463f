// Tests the admin commands of docs/interface/operator.md for scripts: JSON on stdout, or one line on stderr and exit code 1.
import { createPublicKey, generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryDirectory } from '../../dev/temporary-directory.js';
import { postgresDirectory } from '../../src/store/postgres/accounts/directory.js';
import { connect, type Sql } from '../../src/store/postgres/driver/client.js';
import { postgresLeases } from '../../src/store/postgres/leases.js';
import { mansioJson as json, mansio } from '../support/command-line.js';
import { testDatabase } from '../support/database/embedded-database.js';
import { defaultSigningKey } from '../support/default-signing-key.js';
import test from '../support/test.js';

interface Rdata {
  readonly name: string;
  readonly type: string;
  readonly value: readonly string[];
}

let sql: Sql;
let drop: () => Promise<void>;

test.before(async () => {
  const database = await testDatabase();
  const { host, port, user, database: name } = database.address;
  // The driver reads the directory of a socket only from PGHOST, not from a URL.
  Object.assign(process.env, { PGHOST: host, PGPORT: port, PGUSER: user, DATABASE_URL: `postgres:///${name}` });
  process.env['MANSIO_HOSTNAME'] = 'mail.example.test';
  sql = connect(database.address, { max: 2, applicationName: 'test' });
  drop = database.drop;
  await mansio('domain', 'add', 'example.test');
  await mansio('account', 'create', '--email', 'taken@example.test', '--name', 'T');
});

test.after.always(async () => {
  await sql?.end();
  await drop?.();
});

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
  t.deepEqual(added, { id: added.id, address: 'b2@example.test', isVerified: true });
  const unverified = await json('address', 'add', '--account', 'bob@example.test', '--address', 'b3@example.test');
  t.false(unverified.isVerified);
  const primary = await mansio('account', 'delete', '--email', 'b2@example.test', '--yes');
  t.is(primary.err, 'error: b2@example.test is a further address of bob@example.test: name the primary one\n');
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

test('domain add, list and remove', async (t) => {
  const added = await json('domain', 'add', 'Bücher.Test.');
  t.like(added, {
    name: 'xn--bcher-kva.test',
    added: true,
    dkimKeys: 'made',
    madeSelectors: ['mansio', 'mansio-ed25519'],
  });
  const again = await json('domain', 'add', 'xn--bcher-kva.test');
  t.deepEqual(again, { ...added, added: false, dkimKeys: 'present', madeSelectors: [] });
  const listed = (await json('domain', 'list')).find((domain: { name: string }) => domain.name === added.name);
  const { records, notes } = added;
  const { dkim, relay } = added;
  t.deepEqual(listed, { name: added.name, createdAt: listed.createdAt, dkim, relay, records, notes });
  t.is(relay, null);
  t.deepEqual(await json('domain', 'show', 'BÜCHER.test'), listed);
  t.deepEqual(await json('domain', 'remove', 'xn--bcher-kva.test'), { name: 'xn--bcher-kva.test', removed: true });
  t.is(
    (await mansio('domain', 'remove', 'xn--bcher-kva.test')).err,
    'error: not a hosted domain: xn--bcher-kva.test\n',
  );
  // The domain gets new keys instead of the removed ones.
  t.notDeepEqual((await json('domain', 'add', 'xn--bcher-kva.test')).dkim, added.dkim);
});

test.serial('domain show tells what the living nodes have registered, else what these settings say', async (t) => {
  await json('domain', 'add', 'places.test');
  const targets = async () => {
    const { records } = (await json('domain', 'show', 'places.test')) as { records: readonly Rdata[] };
    const of = (name: string, type: string) => records.find((one) => one.name === name && one.type === type)?.value;
    return [
      of('places.test', 'MX')?.join(' '),
      of('_imaps._tcp.places.test', 'SRV')?.join(' '),
      of('_pop3s._tcp.places.test', 'SRV')?.join(' '),
      of('autoconfig.places.test', 'CNAME')?.join(' '),
    ];
  };
  const settings = { MANSIO_HOSTNAME: 'mail.places.test', MANSIO_PUBLIC_SMTP: 'mx.places.test:25' };
  Object.assign(process.env, { ...settings, MANSIO_PUBLIC_POP3S: 'mail.places.test:995' });
  t.deepEqual(await targets(), [
    '10 mx.places.test.',
    '0 1 2993 mail.places.test.',
    '20 1 995 mail.places.test.',
    undefined,
  ]);
  const leases = postgresLeases(sql);
  const entry = { id: 'places', incarnation: 'a', version: '1', roles: ['imap'], bus: 'nats' } as const;
  const listeners = {
    imaps: 'node.places.test:2993',
    'public:imaps': 'imap.places.test:993',
    'public:http': 'https://app.test',
  };
  await leases.join(entry, 60_000);
  await leases.heartbeat({ ...entry, listeners }, 'serving', 60_000);
  t.deepEqual(await targets(), [
    '10 mx.places.test.',
    '0 1 993 imap.places.test.',
    '20 1 995 mail.places.test.',
    'app.test.',
  ]);
  await leases.leave(entry);
  for (const name of ['MANSIO_PUBLIC_SMTP', 'MANSIO_PUBLIC_POP3S']) delete process.env[name];
  process.env['MANSIO_HOSTNAME'] = 'mail.example.test';
});

test('removing a domain that accounts have addresses at asks, as deleting an account does', async (t) => {
  await json('domain', 'add', 'used.test');
  await json('account', 'create', '--email', 'zoe@used.test', '--name', 'Zoë 💌');
  const timid = await mansio('domain', 'remove', 'used.test');
  t.is(timid.code, 1);
  t.is(
    timid.err,
    'error: addresses of accounts that get no more mail when used.test is removed: 1: add --yes to confirm\n',
  );
  t.true((await json('domain', 'list')).some((domain: { name: string }) => domain.name === 'used.test'));
  t.deepEqual(await json('domain', 'remove', 'used.test', '--yes'), { name: 'used.test', removed: true });
});

test('account create warns of a domain that is not hosted', async (t) => {
  const made = await mansio('account', 'create', '--email', 'eve@elsewhere.test', '--name', 'Eve', '--json');
  t.is(made.code, 0);
  t.regex(made.err, /^warning: elsewhere\.test is not a hosted domain: [^\n]*\n$/);
  t.is(JSON.parse(made.out).email, 'eve@elsewhere.test');
});

test('domain add makes an RSA and an Ed25519 key, and says what to publish', async (t) => {
  const { dkim } = await json('domain', 'add', 'keys.test');
  t.deepEqual(
    dkim.map(({ selector, algorithm }: Record<string, string>) => [selector, algorithm]),
    [
      ['mansio-ed25519', 'ed25519'],
      ['mansio', 'rsa'],
    ],
  );
  const [ed25519, rsa] = dkim;
  t.like(rsa.record, { name: 'mansio._domainkey.keys.test', type: 'TXT' });
  t.like(ed25519.record, { name: 'mansio-ed25519._domainkey.keys.test', type: 'TXT' });
  t.true(rsa.record.value.length === 2 && rsa.record.value.every((text: string) => text.length <= 255));
  const stored = await sql`select selector, private_key from dkim_keys where domain = 'keys.test'`;
  for (const { record, selector } of dkim) {
    const p = /^v=DKIM1; k=(?:rsa|ed25519); p=(.*)$/.exec(record.value.join(''))![1]!;
    const row = stored.find((each) => each['selector'] === selector)!;
    const der = createPublicKey(row['private_key'] as string).export({ type: 'spki', format: 'der' });
    t.is(p, (selector === 'mansio' ? der : der.subarray(12)).toString('base64'));
  }
  const lines = (await mansio('domain', 'list')).out.trimEnd().split('\n');
  t.is(lines.filter((line) => line.includes('keys.test')).length, 1);
  for (const line of lines.slice(1)) t.regex(line, /^[a-z0-9.-]+ +\d{4}-\S+ +[a-z0-9. -]+$/);
  const all = `${(await mansio('domain', 'show', 'keys.test')).out}${(await mansio('domain', 'list', '--json')).out}`;
  t.false(/PRIVATE/.test(all));
  for (const row of stored) t.false(all.includes((row['private_key'] as string).split('\n')[1]!));
});

test.serial(
  'domain show names the default key for a domain without its own, else says that mail leaves unsigned',
  async (t) => {
    await postgresDirectory(sql, 256).addDomain('keyless.test');
    const show = () => json('domain', 'show', 'keyless.test');
    const { dkim, notes } = await show();
    t.deepEqual(dkim, []);
    t.regex(notes.join('\n'), /^DKIM: keyless\.test has no key, .*mansio domain add keyless\.test/m);
    t.regex((await mansio('domain', 'show', 'keyless.test')).out, /^; DKIM: keyless\.test has no key/m);
    const { key, settings } = defaultSigningKey();
    Object.assign(process.env, settings);
    const signed = await show();
    for (const name of Object.keys(settings)) delete process.env[name];
    const p = createPublicKey(key).export({ type: 'spki', format: 'der' }).subarray(12).toString('base64');
    const record = { name: 'default._domainkey.keyless.test', type: 'TXT', value: [`v=DKIM1; k=ed25519; p=${p}`] };
    t.deepEqual(signed.dkim, [{ selector: 'default', algorithm: 'ed25519', record }]);
    t.notRegex(signed.notes.join('\n'), /DKIM/);
    const added = await json('domain', 'add', 'keyless.test');
    t.is(added.added, false);
    t.deepEqual(
      added.dkim.map(({ selector }: { selector: string }) => selector),
      ['mansio-ed25519', 'mansio'],
    );
    t.notRegex(added.notes.join('\n'), /DKIM/);
  },
);

test('domain add with a selector makes new keys, with a key takes it', async (t) => {
  const file = join(temporaryDirectory(), 'key.pem');
  const write = (key: KeyObject) => writeFileSync(file, key.export({ type: 'pkcs8', format: 'pem' }));
  const selectors = async (...args: string[]) =>
    (await json('domain', 'add', 'own.test', ...args)).dkim.map((key: { selector: string }) => key.selector);
  write(generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey);
  const imported = ['--dkim-selector', 'Old', '--dkim-key', file];
  t.deepEqual(await selectors(...imported), ['old']);
  t.deepEqual(await selectors(...imported), ['old']);
  // A domain that has a key keeps it.
  t.deepEqual(await selectors(), ['old']);
  t.deepEqual(await selectors('--dkim-selector', '2027.mx'), ['2027.mx-ed25519', '2027.mx', 'old']);
  t.deepEqual(await selectors('--dkim-selector', '2027.mx'), ['2027.mx-ed25519', '2027.mx', 'old']);
  write(generateKeyPairSync('ed25519').privateKey);
  t.deepEqual(await selectors('--dkim-selector', 'new', '--dkim-key', file), [
    'new',
    '2027.mx-ed25519',
    '2027.mx',
    'old',
  ]);
  const other = await mansio('domain', 'add', 'own.test', ...imported);
  t.is(other.code, 1);
  t.is(other.err, 'error: own.test has another key under old: choose another selector\n');
});

test('a domain without keys gets them when it is added again', async (t) => {
  await sql`insert into domains (name) values ('bare.test')`;
  const listed = (await json('domain', 'list')).find((domain: { name: string }) => domain.name === 'bare.test');
  t.deepEqual(listed.dkim, []);
  const { added, dkim, dkimKeys } = await json('domain', 'add', 'bare.test');
  t.deepEqual([added, dkimKeys], [false, 'made']);
  t.is(dkim.length, 2);
});

test('keys that cannot sign are refused, and their domain is not added', async (t) => {
  const file = join(temporaryDirectory(), 'key.pem');
  const write = (text: string | Buffer) => writeFileSync(file, text);
  const add = async () => {
    const { code, out, err } = await mansio('domain', 'add', 'bad.test', '--dkim-selector', 's', '--dkim-key', file);
    t.is(code, 1);
    t.is(out, '');
    t.regex(err, /^error: --dkim-key [^\n]+\n$/);
    return err;
  };
  t.regex(await add(), /no such file/);
  write('hello');
  t.regex(await add(), /not a private key in PEM form/);
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  write(publicKey.export({ type: 'spki', format: 'pem' }));
  t.regex(await add(), /not a private key in PEM form/);
  write(privateKey.export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' }));
  t.regex(await add(), /locked with a passphrase/);
  write(generateKeyPairSync('rsa', { modulusLength: 512 }).privateKey.export({ type: 'pkcs1', format: 'pem' }));
  t.regex(await add(), /512 bits; fewer than 1024/);
  write(generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'sec1', format: 'pem' }));
  t.regex(await add(), /RSA or Ed25519 keys, not with one of type ec/);
  t.false((await json('domain', 'list')).some((domain: { name: string }) => domain.name === 'bad.test'));
});

test('without --json people get text', async (t) => {
  const records =
    /\n\nDNS records to publish:\ntext\.test\. IN MX 10 .*\n.*spf1.*\nmansio-ed25519\._domainkey\.text\.test\. IN TXT "v=DKIM1; k=ed25519; p=[^"]+"\nmansio\._domainkey\.text\.test\. IN TXT "[^"]{255}" "[^"]+"\n/;
  const added = (await mansio('domain', 'add', 'text.test')).out;
  t.regex(added, /^name {3}text\.test\nadded {2}yes\n\nDKIM keys: made \(mansio, mansio-ed25519\)\n/);
  const again = (await mansio('domain', 'add', 'text.test')).out;
  t.regex(again, /\nadded {2}no\n\nDKIM keys: already there \(mansio-ed25519, mansio\)\n/);
  t.regex(added, records);
  const listed = (await mansio('domain', 'list')).out;
  t.regex(listed, /^name +createdAt +selectors\n/);
  t.regex(listed, /\ntext\.test +\S+ +mansio-ed25519 mansio\n/);
  t.notRegex(listed, /DNS records| IN /);
  const shown = (await mansio('domain', 'show', 'text.test')).out;
  t.true(added.endsWith(`\nDNS records to publish:\n${shown}`));
  await json('account', 'create', '--email', 'dorothy@example.test', '--name', 'Dora');
  t.is((await mansio('key', 'list', '--account', 'dorothy@example.test')).out, '(none)\n');
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
  t.regex(out, /\nthird +1\.2\.3 +gone +1d [12]h +1m 3\ds ago +4 +0 +mailbox mx\n/);
  t.regex(out, /\nshards +256, 2 free, 4 expired\ninbound +1 waiting, the first for 1m 1\ds\n$/);
  await sql`delete from inbound`;
  await sql`delete from nodes`;
});

/** Queues an email with one delivered recipient and another that is not. */
async function queued(status: string, subject: string): Promise<string> {
  const [account] = await sql`select id from accounts where email = 'taken@example.test'`;
  const [accountId, id] = [account!['id'] as string, randomUUID()];
  await sql`insert into outbound (account_id, id, shard, status, blob, sender, subject, sent_email_id, created_at, updated_at,
      queued_at, next_retry_at, retry_count, last_error)
    values (${accountId}, ${id}, 0, ${status}, '', 'taken@example.test', ${subject}, ${randomUUID()}, now(), now(), now(),
      '2030-01-02T03:04:05.006Z', 2, '451 later')`;
  const recipients = [
    { address: 'got@there.test', status: 'Delivered', delivered_at: '2026-01-02T03:04:05Z', last_error: null },
    { address: 'not@there.test', status: 'Pending', delivered_at: null, last_error: '451 later' },
  ];
  for (const [position, recipient] of recipients.entries()) {
    const { address, delivered_at, last_error } = recipient;
    await sql`insert into outbound_recipients (account_id, outbound_id, id, position, address, type, status, domain,
        delivered_at, last_error)
      values (${accountId}, ${id}, ${randomUUID()}, ${position}, ${address}, 'To', ${recipient.status}, 'there.test',
        ${delivered_at}, ${last_error})`;
  }
  return id;
}

test.serial('queue list and show', async (t) => {
  const id = await queued('Queued', 'first \u001b[31mred');
  const draft = await queued('Draft', 'a draft');
  const listed = await json('queue', 'list');
  t.false(listed.some((email: { id: string }) => email.id === draft));
  t.deepEqual(
    (await json('queue', 'list', '--status', 'draft')).map((email: { id: string }) => email.id),
    [draft],
  );
  const shown = await json('queue', 'show', id.toUpperCase());
  t.deepEqual(
    shown,
    listed.find((email: { id: string }) => email.id === id),
  );
  t.like(shown, {
    account: 'taken@example.test',
    status: 'Queued',
    fromAddress: 'taken@example.test',
    retryCount: 2,
    nextRetryAt: '2030-01-02T03:04:05.006Z',
    lastError: '451 later',
  });
  t.deepEqual(
    shown.recipients.map(({ id: _, ...recipient }: { id: string }) => recipient),
    [
      {
        address: 'got@there.test',
        displayName: null,
        type: 'To',
        status: 'Delivered',
        domain: 'there.test',
        deliveredAt: '2026-01-02T03:04:05.000Z',
        statusCode: null,
        lastError: null,
      },
      {
        address: 'not@there.test',
        displayName: null,
        type: 'To',
        status: 'Pending',
        domain: 'there.test',
        deliveredAt: null,
        statusCode: null,
        lastError: '451 later',
      },
    ],
  );
  t.is((await json('queue', 'list', '--limit', '1')).length, 1);
  const { out } = await mansio('queue', 'list');
  t.regex(out, /^id +status +from +delivered +retries +next +subject\n/);
  t.regex(
    out,
    /\n[0-9a-f-]{36} +Queued +taken@example\.test +1 of 2 +2 +2030-01-02T03:04:05\.006Z +first \ufffd\[31mred\n/,
  );
  t.regex(
    (await mansio('queue', 'show', id)).out,
    /\n\nrecipient +type [^\n]*\n(.*\n)*not@there\.test +To +Pending +- +- +451 later\n$/,
  );
  await sql`delete from outbound`;
});

test.serial('queue retry and cancel without a node leave word, and say so', async (t) => {
  const id = await queued('Queued', 'x');
  const asked = await json('queue', 'retry', id);
  t.like(asked, { id, status: 'Queued', requested: 'retry' });
  t.regex((await mansio('queue', 'cancel', id)).out, /No node has done it yet: the cancel is noted, and done when one/);
  const rows = await sql`select outbound_id, action from outbound_requests`;
  t.deepEqual(
    rows.map((row) => ({ ...row })),
    [{ outbound_id: id, action: 'cancel' }],
  );
  await sql`delete from outbound_requests`;
  await sql`delete from outbound`;
});

test.serial('queue retry and cancel beside a node show what it has done', async (t) => {
  const node = { id: 'out', incarnation: 'i', version: '1', roles: ['outbound'], bus: 'nats' as const };
  await postgresLeases(sql).join(node, 60_000);
  /** Does what the mailbox would do with the request. */
  const carryOut = async (status: string) => {
    for (let done = 0; done === 0; await new Promise((resolve) => setTimeout(resolve, 5))) {
      const asked = await sql`select outbound_id from outbound_requests`;
      for (const row of asked) await sql`update outbound set status = ${status} where id = ${row['outbound_id']}`;
      done = (
        await sql`delete from outbound_requests where outbound_id = any(${asked.map((row) => row['outbound_id'])})`
      ).count;
    }
  };
  const id = await queued('Queued', 'x');
  const [retried] = await Promise.all([json('queue', 'retry', id), carryOut('Sent')]);
  t.like(retried, { id, status: 'Sent', requested: undefined });
  t.is((await mansio('queue', 'retry', id)).err, 'error: cannot retry it: it is Sent already\n');
  const other = await queued('Queued', 'y');
  const [cancelled] = await Promise.all([json('queue', 'cancel', other), carryOut('Failed')]);
  t.is(cancelled.status, 'Failed');
  t.is((await mansio('queue', 'cancel', other)).code, 1);
  // A delivery began before the mailbox was asked.
  const late = await queued('Queued', 'z');
  const [refused] = await Promise.all([mansio('queue', 'cancel', late), carryOut('Sending')]);
  t.deepEqual([refused.code, refused.err], [1, 'error: not cancelled: it is being delivered at this moment\n']);
  await sql`delete from outbound`;
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
  [/mansio account needs a command: one of create, list, delete /, 'account'],
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
  const runs = [mansio('account', 'list'), mansio('cluster', 'status')];
  process.env['DATABASE_URL'] = url;
  for (const { code, err } of await Promise.all(runs)) {
    t.is(code, 1);
    t.regex(err, /^error: database unavailable: [^\n]*ECONNREFUSED[^\n]*\n$/);
  }
});
