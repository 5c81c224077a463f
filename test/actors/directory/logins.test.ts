// Tests logins on a real store: who gets which account, once, and what is cached of it.
import type { ExecutionContext } from 'ava';
import { createDirectory } from '../../../src/actors/directory/directory.js';
import type { LoginClaims } from '../../../src/actors/directory/protocol.js';
import type { Mailboxes } from '../../../src/actors/mailbox/protocol.js';
import type { DirectoryStore } from '../../../src/store/directory.js';
import { postgresDirectory } from '../../../src/store/postgres/accounts/directory.js';
import { connect } from '../../../src/store/postgres/driver/client.js';
import { migratedDatabase } from '../../support/database/embedded-database.js';
import test from '../../support/test.js';

async function start(t: ExecutionContext) {
  const { address, drop } = await migratedDatabase();
  const sql = connect(address, { max: 8, applicationName: 'test' });
  const real = postgresDirectory(sql, 16);
  const calls: string[] = [];
  const store = new Proxy(real, {
    get: (target, name: keyof DirectoryStore) =>
      ((...args: never[]) => {
        calls.push(name);
        return (target[name] as (...args: never[]) => unknown)(...args);
      }) as never,
  });
  const mailboxes = { of: () => ({}) } as unknown as Mailboxes;
  const log = { info() {} };
  const directory = await createDirectory({ store, mailboxes, unknownRecipients: 'hold', log });
  t.teardown(async () => {
    await directory.close();
    await sql.end({ timeout: 5 });
    await drop();
  });
  return { sql, store: real, directory, calls };
}

const anna: LoginClaims = {
  issuer: 'https://login.test',
  subject: 'anna-1',
  email: 'Anna@Example.Test',
  emailVerified: true,
  name: ' Anna\r\nA. ',
};

test('the first login makes an account, the next ones find it', async (t) => {
  const { directory, store, sql, calls } = await start(t);
  const { principal } = (await directory.login(anna)) as { principal: { accountId: string } };
  t.like(principal, { email: 'anna@example.test', scopes: ['app'], keyId: null, serviceWide: false });
  const profile = await store.profile(principal.accountId);
  t.is(profile?.displayName, 'Anna A.');
  t.true(profile?.lastLoginAt instanceof Date);
  t.deepEqual(profile?.additionalAddresses, []);
  t.deepEqual(await store.ownerOf('anna@example.test'), { accountId: principal.accountId, isUnclaimed: false });
  const before = calls.length;
  t.like(await directory.login({ ...anna, email: undefined, emailVerified: false }), { principal });
  t.is(calls.length, before, 'remembered');
  // The store finds the account again, more than an hour after the last login.
  await sql`update accounts set last_login_at = now() - interval '2 hours'`;
  t.is((await store.accountOfLogin(anna))?.id, principal.accountId);
  const noted = (await store.profile(principal.accountId))!.lastLoginAt;
  t.true(noted.getTime() > Date.now() - 60_000);
  await store.accountOfLogin(anna);
  t.deepEqual((await store.profile(principal.accountId))!.lastLoginAt, noted, 'once an hour');
});

test('a login without a usable address, or a name, still has a way', async (t) => {
  const { directory, store } = await start(t);
  t.deepEqual(await directory.login({ ...anna, email: undefined }), { refusal: 'noEmail' });
  t.deepEqual(await directory.login({ ...anna, email: 'no address' }), { refusal: 'noEmail' });
  await directory.login({ ...anna, name: '\u0000' });
  t.is((await store.accounts())[0]?.displayName, 'anna');
  await directory.login({ ...anna, subject: 'b', email: 'b@example.test', name: '🎉'.repeat(300) });
  t.is((await store.accounts())[1]?.displayName, '🎉'.repeat(200));
});

test('two first logins at once end in one account', async (t) => {
  const { directory, store } = await start(t);
  const results = await Promise.all(Array.from({ length: 8 }, () => directory.login(anna)));
  const ids = results.map((result) => ('principal' in result ? result.principal?.accountId : undefined));
  t.is(new Set(ids).size, 1);
  t.truthy(ids[0]);
  t.is((await store.accounts()).length, 1);
  // The same user logs in with several addresses at once.
  const mixed = await Promise.all(
    ['x@example.test', 'y@other.test', 'z@third.test'].map((email) =>
      directory.login({ ...anna, subject: 'moving', email }),
    ),
  );
  t.is(new Set(mixed.map((result) => ('principal' in result ? result.principal?.accountId : undefined))).size, 1);
});

test('an account is the first login’s, and nobody else’s by the address', async (t) => {
  const { directory } = await start(t);
  await directory.login(anna);
  t.deepEqual(await directory.login({ ...anna, subject: 'anna-2' }), { refusal: 'taken' });
  t.deepEqual(await directory.login({ ...anna, issuer: 'https://other.test' }), { refusal: 'taken' });
  t.deepEqual(await directory.login({ ...anna, subject: 'anna-2', email: 'anna+x@example.test' }), {
    refusal: 'taken',
  });
});

test('an account without a login is claimed by the first login of its address, unless the provider denies it', async (t) => {
  const { directory, store } = await start(t);
  const account = await store.createAccount('anna@example.test', 'Made by hand');
  await store.addAddress(account.id, 'sales@example.test', true);
  t.deepEqual(await directory.login({ ...anna, emailVerified: false }), { refusal: 'unverified' });
  t.deepEqual(await directory.login({ ...anna, email: 'sales@example.test' }), { refusal: 'taken' });
  t.like(await directory.login({ ...anna, emailVerified: undefined }), { principal: { accountId: account.id } });
  t.is((await store.accountById(account.id))?.displayName, 'Made by hand');
  t.deepEqual(await directory.login({ ...anna, subject: 'anna-2' }), { refusal: 'taken' });
});

test('an unclaimed mailbox goes to the first login of its address, unless the provider denies it', async (t) => {
  const { directory, store } = await start(t);
  const opened = await store.openUnclaimed('anna@example.test', 10);
  t.deepEqual(await directory.login({ ...anna, emailVerified: false }), { refusal: 'unverified' });
  const accountId = opened.kind === 'opened' ? opened.accountId : '';
  t.like(await directory.login({ ...anna, emailVerified: undefined }), { principal: { accountId } });
  t.deepEqual(await store.ownerOf('anna@example.test'), { accountId, isUnclaimed: false });
});

test('the login of a deleted account makes a new one', async (t) => {
  const { directory, store } = await start(t);
  const first = await directory.login(anna);
  const accountId = first.refusal === undefined ? first.principal.accountId : '';
  const gone = new Promise((resolve) => {
    directory.deletedAccounts$.subscribe(resolve);
  });
  await store.deleteAccount(accountId);
  await gone;
  const second = await directory.login(anna);
  t.not(second.refusal === undefined && second.principal.accountId, accountId);
});
