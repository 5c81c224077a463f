// Tests `mansio domain`: the keys that a domain gets or brings, what it publishes in DNS, and what its removal asks for.
import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryDirectory } from '../../dev/temporary-directory.js';
import { postgresDirectory } from '../../src/store/postgres/accounts/directory.js';
import type { Sql } from '../../src/store/postgres/driver/client.js';
import { postgresLeases } from '../../src/store/postgres/leases.js';
import { mansioJson as json, mansio } from '../support/command-line.js';
import { defaultSigningKey } from '../support/default-signing-key.js';
import test from '../support/test.js';
import { programDatabase } from './program-database.js';

interface Rdata {
  readonly name: string;
  readonly type: string;
  readonly value: readonly string[];
}

let sql: Sql;
let close: () => Promise<void>;

test.before(async () => {
  ({ sql, close } = await programDatabase());
});

test.after.always(() => close?.());

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
  t.deepEqual(listed, { name: added.name, createdAt: listed.createdAt, dkim, relay, aliasOf: null, records, notes });
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
  t.regex(listed, /^name +createdAt +selectors +aliasOf\n/);
  t.regex(listed, /\ntext\.test +\S+ +mansio-ed25519 mansio +-\n/);
  t.notRegex(listed, /DNS records| IN /);
  const shown = (await mansio('domain', 'show', 'text.test')).out;
  t.true(added.endsWith(`\nDNS records to publish:\n${shown}`));
  await json('account', 'create', '--email', 'dorothy@example.test', '--name', 'Dora');
  t.is((await mansio('key', 'list', '--account', 'dorothy@example.test')).out, '(none)\n');
});
