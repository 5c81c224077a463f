// Tests what a client keeps of an account: for whom it is used, when it is removed, and that a storage which fails is as none.
import type { Profile } from '../../../src/client/generated/rest.js';
import { DOUBT } from '../../../src/client/offline/client-storage.js';
import { KeptAccount } from '../../../src/client/offline/kept-account.js';
import test from '../../support/test.js';
import { MemoryStorage } from './memory-storage.js';

const profileOf = (email: string) => ({ email, displayName: email }) as Profile;
const ann = profileOf('ann@example.test');
const bob = profileOf('bob@example.test');

/** What a value is at this moment; `waiting` while it is not known whose it would be. */
function now(kept: KeptAccount, key: string): Promise<unknown> {
  const turn = new Promise((resolve) => setImmediate(resolve, 'waiting'));
  return Promise.race([kept.value('emails', key), turn]);
}

/** A storage in which a client of Ann has kept an email and an action. */
async function storageOfAnn(): Promise<MemoryStorage> {
  const storage = new MemoryStorage();
  const kept = new KeptAccount(storage);
  await kept.confirm(ann);
  kept.write('emails', 'e1', 'of Ann');
  kept.write('actions', 'a1', 'to do');
  // Values are written in turn, so both are there now.
  await kept.value('emails', 'e1');
  kept.close();
  storage.end();
  return storage;
}

test('nothing is used before the server or, in its silence, the storage says whose it is', async (t) => {
  const storage = new MemoryStorage(await storageOfAnn());
  const kept = new KeptAccount(storage);
  const taken: unknown[] = [];
  kept.taken$.subscribe((values) => taken.push(...values));
  t.is(await now(kept, 'e1'), 'waiting');
  t.deepEqual(await kept.assume(), ann);
  t.is(await kept.value('emails', 'e1'), 'of Ann');
  t.deepEqual(taken, [{ key: 'a1', value: 'to do' }]);
  kept.write('emails', 'e2', 'of whom?');
  t.is(await kept.value('emails', 'e2'), undefined, 'the server has not said whose it is');
  kept.write('actions', 'a2', 'more to do');
  await kept.confirm(ann);
  kept.write('emails', 'e2', 'of Ann');
  t.is(await kept.value('emails', 'e2'), 'of Ann');
  t.deepEqual(storage.keys('actions'), ['ann@example.test a1', 'ann@example.test a2']);
});

test('nothing is shown before it is known what is still to be done to it', async (t) => {
  const storage = new MemoryStorage(await storageOfAnn());
  let tell = () => {};
  storage.taking = new Promise<void>((resolve) => {
    tell = resolve;
  });
  const kept = new KeptAccount(storage);
  const seen: unknown[] = [];
  kept.taken$.subscribe((values) => seen.push(...values.map(({ value }) => value)));
  await kept.assume();
  const value = kept.value('emails', 'e1').then((shown) => seen.push(shown));
  t.is(await now(kept, 'e1'), 'waiting');
  tell();
  await value;
  t.deepEqual(seen, ['to do', 'of Ann']);
});

test('somebody else sees nothing of it, and everything is removed', async (t) => {
  for (const isAssumed of [false, true]) {
    const storage = new MemoryStorage(await storageOfAnn());
    const kept = new KeptAccount(storage);
    const taken: unknown[] = [];
    if (isAssumed) await kept.assume();
    else kept.taken$.subscribe((values) => taken.push(...values));
    await kept.confirm(bob);
    t.is(await kept.value('emails', 'e1'), undefined);
    t.deepEqual(storage.keys('emails'), []);
    t.deepEqual(taken, []);
    kept.close();
    t.deepEqual(await new KeptAccount(storage).assume(), bob);
  }
});

test('the end of the session removes everything, and what is written afterwards is not kept', async (t) => {
  const storage = new MemoryStorage(await storageOfAnn());
  const kept = new KeptAccount(storage);
  await kept.confirm(ann);
  const cleared = kept.clear();
  kept.write('emails', 'e3', 'late');
  await cleared;
  t.deepEqual([...storage.keys('emails'), ...storage.keys('account'), ...storage.keys('actions')], []);
  t.is(await now(kept, 'e3'), 'waiting');
  t.is(await kept.assume(), undefined);
});

test('after a sign-in that the client has not seen, only the server says who is signed in', async (t) => {
  const storage = new MemoryStorage(await storageOfAnn());
  await storage.write(DOUBT.group, DOUBT.key, true, 10);
  const kept = new KeptAccount(storage);
  t.is(await kept.assume(), undefined);
  t.is(await now(kept, 'e1'), 'waiting');
  await kept.confirm(ann);
  t.is(await kept.value('emails', 'e1'), 'of Ann');
  kept.close();
  t.deepEqual(await new KeptAccount(storage).assume(), ann);
});

test('what is older than any session is removed', async (t) => {
  const storage = new MemoryStorage(await storageOfAnn());
  const at = Date.now() - 31 * 24 * 3_600_000;
  await storage.write('account', 'owner', { profile: ann, at }, 10);
  t.is(await new KeptAccount(storage).assume(), undefined);
  t.deepEqual(storage.keys('emails'), []);
});

test('the word of the server overtakes the storage', async (t) => {
  const storage = new MemoryStorage(await storageOfAnn());
  const kept = new KeptAccount(storage);
  const assumed = kept.assume();
  await kept.confirm(bob);
  t.is(await assumed, undefined);
  t.is(await kept.value('emails', 'e1'), undefined);
});

test('a storage that fails, or is missing, keeps nothing and stops nobody', async (t) => {
  const broken = new MemoryStorage();
  broken.isBroken = true;
  const kept = new KeptAccount(broken);
  t.is(await kept.assume(), undefined);
  await kept.confirm(ann);
  kept.write('emails', 'e1', 'of Ann');
  t.is(await kept.value('emails', 'e1'), undefined);
  const none = new KeptAccount();
  t.false(none.isUsed);
  await none.confirm(ann);
  t.is(await none.assume(), undefined);
  t.is(await now(none, 'e1'), 'waiting');
});

test('a window that has not heard of another sign-in writes nothing, and removes nothing of the other account', async (t) => {
  const browser = new MemoryStorage();
  const frozen = new KeptAccount(browser);
  let changes = 0;
  frozen.changed$.subscribe(() => changes++);
  await frozen.confirm(ann);
  const other = new KeptAccount(new MemoryStorage(browser));
  await other.confirm(bob);
  other.write('emails', 'e1', 'of Bob');
  other.write('actions', 'a1', 'to do for Bob');
  await other.value('emails', 'e1');

  frozen.write('lists', 'inbox', 'of Ann');
  frozen.write('actions', 'a2', 'to do for Ann');
  t.is(await frozen.value('emails', 'e1'), undefined);
  frozen.remove('actions', 'a1');
  t.is(await other.value('lists', 'inbox'), undefined);
  const kept = () => ['lists', 'emails', 'actions'].flatMap((group) => browser.keys(group));
  t.deepEqual(kept(), ['bob@example.test e1', 'bob@example.test a1']);

  await frozen.confirm(ann);
  t.is(changes, 0);
  await other.confirm(bob);
  other.write('emails', 'e2', 'of Bob');
  await other.value('emails', 'e2');
  await frozen.confirm(bob);
  t.is(changes, 1);
  t.is(await frozen.value('emails', 'e2'), 'of Bob');

  const late = new KeptAccount(new MemoryStorage(browser));
  await late.confirm(ann);
  await other.confirm(bob);
  other.write('emails', 'e3', 'of Bob');
  await other.value('emails', 'e3');
  await late.clear();
  t.deepEqual(kept(), ['bob@example.test e3']);
});

test('another account is noticed without a storage, and a new sign-in is no change', async (t) => {
  const kept = new KeptAccount();
  let changes = 0;
  kept.changed$.subscribe(() => changes++);
  await kept.confirm(ann);
  await kept.confirm(ann);
  t.is(changes, 0);
  await kept.confirm(bob);
  t.is(changes, 1);
  await kept.clear();
  await kept.confirm(ann);
  t.is(changes, 1);
});
