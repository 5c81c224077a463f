// Tests passkeys in a real PostgreSQL: what belongs to an account, bounds under concurrency, and challenges that are spent once.
import { randomBytes, randomUUID } from 'node:crypto';
import type { ExecutionContext } from 'ava';
import { postgresPasskeys } from '../../../../src/store/postgres/accounts/passkeys.js';
import test from '../../../support/test.js';
import { directory } from './opened-directory.js';

const passkey = (credentialId = randomBytes(16).toString('base64url')) => ({
  ...{ credentialId, publicKey: randomBytes(77), counter: 3, transports: ['internal', 'hybrid'] },
  ...{ name: 'Phone 💌', rpId: 'localhost', isProven: true },
});
const challenge = (ms = 60_000) => ({ hash: randomBytes(32).toString('hex'), expiresAt: Date.now() + ms });

async function start(t: ExecutionContext) {
  const { sql, store } = await directory(t);
  const passkeys = postgresPasskeys(sql);
  const ann = await store.createAccount('ann@example.test', 'Ann');
  const bob = await store.createAccount('bob@example.test', 'Bob');
  return { sql, store, passkeys, ann: ann.id, bob: bob.id };
}

test('a passkey belongs to one account and one host, and goes with the account', async (t) => {
  const { sql, store, passkeys, ann, bob } = await start(t);
  const given = passkey();
  const added = await passkeys.add(ann, given, challenge(), 20);
  if (typeof added === 'string') return t.fail(added);
  const { id } = added;
  t.like(await passkeys.find(given.credentialId, 'localhost'), {
    ...{ id, accountId: ann, name: 'Phone 💌', counter: 3, credentialId: given.credentialId },
    ...{ transports: ['internal', 'hybrid'], lastUsedAt: null, isProven: true },
  });
  t.deepEqual(Buffer.from((await passkeys.list(ann))[0]!.publicKey), given.publicKey);
  t.is(await passkeys.find(given.credentialId, 'mail.example.test'), undefined);
  t.is(await passkeys.find('AAAA', 'localhost'), undefined);
  t.deepEqual(await passkeys.list(bob), []);
  t.false(await passkeys.remove(bob, id));
  t.is(await passkeys.add(bob, given, challenge(), 20), 'known');
  t.is(await passkeys.add(randomUUID(), passkey(), challenge(), 20), 'noAccount');
  t.true(await passkeys.remove(ann, id));
  t.false(await passkeys.remove(ann, id));
  t.not(await passkeys.add(ann, given, challenge(), 20), 'known');
  t.true(await store.deleteAccount(ann));
  const [row] = await sql`select count(*)::int as n from passkeys`;
  t.is(row?.['n'], 0);
});

test('the bound holds for requests at the same time', async (t) => {
  const { passkeys, ann } = await start(t);
  const outcomes = await Promise.all(Array.from({ length: 6 }, () => passkeys.add(ann, passkey(), challenge(), 3)));
  t.is(outcomes.filter((outcome) => outcome === 'full').length, 3);
  t.is((await passkeys.list(ann)).length, 3);
});

test('a challenge is spent once, whatever it is for, and a counter only rises', async (t) => {
  const { passkeys, ann } = await start(t);
  const once = challenge();
  const added = await passkeys.add(ann, passkey(), once, 20);
  if (typeof added === 'string') return t.fail(added);
  t.is(await passkeys.add(ann, passkey(), once, 20), 'spent');
  t.false(await passkeys.use(added.id, 4, once));
  t.false(await passkeys.use(added.id, 3, challenge()));
  const at = challenge();
  const same = await Promise.all([passkeys.use(added.id, 4, at), passkeys.use(added.id, 5, at)]);
  t.is(same.filter(Boolean).length, 1);
  t.false(await passkeys.use(added.id, 0, challenge()));
  t.true(await passkeys.use(added.id, 2 ** 32 - 1, challenge()));
  t.is((await passkeys.list(ann))[0]?.counter, 2 ** 32 - 1);
  t.not((await passkeys.list(ann))[0]?.lastUsedAt, null);
  const uncounted = await passkeys.add(ann, { ...passkey(), counter: 0 }, challenge(), 20);
  if (typeof uncounted === 'string') return t.fail(uncounted);
  t.true(await passkeys.use(uncounted.id, 0, challenge()));
  t.true(await passkeys.use(uncounted.id, 0, challenge()));
});

test('a refused counter spends no challenge; old ones are forgotten', async (t) => {
  const { passkeys, ann } = await start(t);
  const added = await passkeys.add(ann, passkey(), challenge(), 20);
  if (typeof added === 'string') return t.fail(added);
  const kept = challenge();
  t.false(await passkeys.use(added.id, 1, kept));
  t.true(await passkeys.use(added.id, 9, kept));
  t.true(await passkeys.use(added.id, 10, challenge(-1)));
  t.is(await passkeys.dropChallenges(), 1);
  t.false(await passkeys.use(added.id, 11, kept));
});
