// Tests the rows of aliases in a real PostgreSQL: which are refused, also when two are added at once, and who gets the unclaimed mail.
import { randomUUID } from 'node:crypto';
import { DirectoryConflict, type DirectoryStore } from '../../../../src/store/directory.js';
import test from '../../../support/test.js';
import { changes, directory } from './opened-directory.js';

const D = 'example.test';

const add = (store: DirectoryStore, name: string, targets: readonly string[], sendAs = false) =>
  store.addAlias({ address: `${name}@${D}`, targets: targets.map((one) => `${one}@${D}`), sendAs });

const refused = (message: RegExp) => ({ instanceOf: DirectoryConflict, message });

test('an alias is added once, listed by domain and removed', async (t) => {
  const { store } = await directory(t);
  for (const domain of [D, 'other.test']) await store.addDomain(domain);
  const { seen, until } = await changes(t, store);
  const sales = await add(store, 'sales', ['ann', 'bob'], true);
  t.like(sales, { address: `sales@${D}`, targets: [`ann@${D}`, `bob@${D}`], sendAs: true });
  t.deepEqual(await add(store, 'sales', ['ann', 'bob'], true), sales, 'scripts run again');
  await t.throwsAsync(add(store, 'sales', ['ann']), refused(/is an alias of ann@example\.test, bob@.* already/));
  const all = await store.addAlias({ address: '*@other.test', targets: [`ann@${D}`], sendAs: false });
  t.deepEqual(await store.aliases(), [all, sales]);
  t.deepEqual(await store.aliases(D), [sales]);
  t.deepEqual(await store.aliasesNaming([`bob@${D}`], 10), [sales]);
  t.deepEqual(await store.removeAlias(sales.address), sales);
  t.is(await store.removeAlias(sales.address), undefined);
  await until((change) => change.kind === 'address' && change.address === '*@other.test');
  t.is(seen.filter((change) => change.kind === 'address' && change.address === sales.address).length, 2);
});

test('the address of an account is no alias, and an alias becomes no address of an account', async (t) => {
  const { store } = await directory(t);
  await store.addDomain(D);
  const ann = await store.createAccount(`ann@${D}`, 'Ann');
  await store.addAddress(ann.id, `further@${D}`, true);
  for (const name of ['ann', 'further'])
    await t.throwsAsync(add(store, name, ['x']), refused(/is an address of an account$/), name);
  await add(store, 'sales', ['ann']);
  await t.throwsAsync(store.createAccount(`sales@${D}`, 'S'), refused(/^sales@\S+ is an alias: remove it first/));
  await t.throwsAsync(store.addAddress(ann.id, `sales@${D}`, true), refused(/is an alias/));
  const login = { issuer: 'i', subject: 's', email: `sales@${D}`, displayName: 'S', emailVerified: true };
  t.deepEqual(await store.provision(login), { kind: 'taken' });
});

test('an alias is at a hosted domain, a catch-all also below one', async (t) => {
  const { store } = await directory(t);
  await store.addDomain(D);
  const to = { targets: [`ann@${D}`], sendAs: false };
  for (const address of ['sales@elsewhere.test', '*@elsewhere.test', `sales@sub.${D}`])
    await t.throwsAsync(store.addAlias({ address, ...to }), refused(/^not a hosted domain/), address);
  await store.addAlias({ address: `*@sub.${D}`, ...to });
  t.deepEqual(
    (await store.routedDomains()).toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    [
      { name: D, aliasOf: null, isBelow: false },
      { name: `sub.${D}`, aliasOf: null, isBelow: true },
    ],
  );
  await store.removeDomain(D);
  t.deepEqual(await store.routedDomains(), []);
});

test('loops and what is beyond the bounds are refused, also for aliases that lead to the new one', async (t) => {
  const { store } = await directory(t);
  await store.addDomain(D);
  await t.throwsAsync(add(store, 'a', ['a']), refused(/^a@\S+ then leads back to itself$/));
  for (let i = 1; i <= 9; i++) await add(store, `c${i}`, [`c${i + 1}`]);
  await t.throwsAsync(add(store, 'c10', ['c4']), refused(/leads back to itself/));
  await add(store, 'c10', ['end']);
  await t.throwsAsync(add(store, 'c0', ['c1']), refused(/^c0@\S+ then has more than 10 aliases in a row$/));
  await t.throwsAsync(add(store, 'end', ['other']), refused(/^c1@\S+ then has more than 10 aliases in a row$/));
  const many = (name: string, count: number) => Array.from({ length: count }, (_, i) => `${name}${i}`);
  await add(store, 'big', many('x', 999));
  await add(store, 'more', ['big', 'y']);
  await t.throwsAsync(add(store, 'y', ['y1', 'y2']), refused(/^more@\S+ then leads to more than 1000 addresses/));
  await add(store, 'y', ['y1']);
  t.is(
    (await store.aliases()).filter(({ address }) => address.startsWith('y@')).length,
    1,
    'a refusal changes nothing',
  );
});

test('a catch-all is no way around the rules', async (t) => {
  const { store } = await directory(t);
  await store.addDomain(D);
  await t.throwsAsync(add(store, '*', ['nobody']), refused(/leads back to itself/));
  await add(store, 'a', ['unknown']);
  await t.throwsAsync(add(store, '*', ['a']), refused(/leads back to itself/));
  await store.createAccount(`ann@${D}`, 'Ann');
  await add(store, '*', ['ann']);
  await t.notThrowsAsync(add(store, 'b', ['unknown']), 'it leads to Ann by the catch-all');
});

test('two aliases that are added at once form no loop', async (t) => {
  const { store } = await directory(t);
  await store.addDomain(D);
  for (let round = 0; round < 5; round++) {
    const results = await Promise.allSettled([
      add(store, `l${round}`, [`r${round}`]),
      add(store, `r${round}`, [`l${round}`]),
    ]);
    t.deepEqual(results.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected']);
  }
});

test('unclaimed mail of the address goes to each account that the alias leads to, once', async (t) => {
  const { store, sql } = await directory(t);
  await store.addDomain(D);
  const [ann, bob] = [await store.createAccount(`ann@${D}`, 'Ann'), await store.createAccount(`bob@${D}`, 'Bob')];
  await store.addAddress(ann.id, `anna@${D}`, true);
  const waiting = async (address: string) => {
    const made = await store.openUnclaimed(address, 10);
    const accountId = made.kind === 'opened' ? made.accountId : t.fail();
    await sql`
      insert into emails (account_id, id, blob, thread_id, refs, from_address, from_name, subject, preview,
        received_at, size, has_attachments, attachment_count, flags, modseq)
      values (${accountId as string}, ${randomUUID()}, ${Buffer.alloc(32, 7)}, ${randomUUID()}, '{}', 'x@y.test', 'X',
        ${address}, '', now(), 5, false, 0, 0, 1)`;
    await sql`
      insert into inbound (account_id, id, blob, envelope)
      values (${accountId as string}, ${randomUUID()}, ${Buffer.alloc(32, 8)},
        ${sql.json({ receivedAt: 1, summary: { subject: `not placed, ${address}` } })})`;
  };
  const mailOf = async ({ id }: { readonly id: string }) => {
    const rows = await sql`select envelope->'summary'->>'subject' as subject from inbound where account_id = ${id}`;
    return rows.map((row) => row['subject']).toSorted();
  };
  for (const name of ['info', 'lost', 'kept', 'away']) await waiting(`${name}@${D}`);
  await add(store, 'info', ['ann', 'anna', 'bob']);
  t.deepEqual(await mailOf(ann), [`info@${D}`, `not placed, info@${D}`]);
  t.deepEqual(await mailOf(bob), await mailOf(ann));
  t.is(await store.ownerOf(`info@${D}`), undefined, 'the unclaimed mailbox is gone');
  // What an alias sends elsewhere belongs to the account of the postmaster.
  const operator = await store.createAccount(`postmaster@${D}`, 'Operator');
  await store.addAlias({ address: `away@${D}`, targets: ['away@elsewhere.test'], sendAs: false });
  t.deepEqual(await mailOf(operator), [`away@${D}`, `not placed, away@${D}`]);
  const tagged = { address: `tagged@${D}`, targets: ['b+w@elsewhere.test', `bob+w@${D}`, `bob@${D}`], sendAs: false };
  const kept = ['b+w@elsewhere.test', `bob@${D}`];
  t.deepEqual((await store.addAlias(tagged)).targets, kept, 'a tag means nothing here, and may elsewhere');
  t.deepEqual((await store.addAlias(tagged)).targets, kept, 'scripts run again');
  // An alias that leads to nobody takes no mail; a catch-all takes what no alias has.
  await add(store, 'kept', ['nobody']);
  t.true((await store.ownerOf(`kept@${D}`))?.isUnclaimed);
  await add(store, '*', ['bob']);
  t.deepEqual(await mailOf(bob), [`info@${D}`, `lost@${D}`, `not placed, info@${D}`, `not placed, lost@${D}`]);
  t.true((await store.ownerOf(`kept@${D}`))?.isUnclaimed);
});

test('a domain is another name of a domain of its own', async (t) => {
  const { store } = await directory(t);
  for (const name of ['old.test', 'new.test', 'third.test']) await store.addDomain(name);
  await t.throwsAsync(store.aliasDomain('old.test', 'old.test'), refused(/alias of itself/));
  await t.throwsAsync(store.aliasDomain('old.test', 'nowhere.test'), refused(/^not a hosted domain: nowhere/));
  await t.throwsAsync(store.aliasDomain('nowhere.test', 'old.test'), refused(/^not a hosted domain: nowhere/));
  await store.aliasDomain('new.test', 'old.test');
  await store.aliasDomain('new.test', 'old.test');
  await t.throwsAsync(store.aliasDomain('third.test', 'new.test'), refused(/^new\.test is an alias of old\.test/));
  await t.throwsAsync(store.aliasDomain('old.test', 'third.test'), refused(/other domains are aliases of old\.test/));
  await t.throwsAsync(
    store.addAlias({ address: '*@new.test', targets: ['a@old.test'], sendAs: false }),
    refused(/new\.test is an alias of old\.test as a whole/),
  );
  await store.addAlias({ address: '*@third.test', targets: ['a@old.test'], sendAs: false });
  await t.throwsAsync(store.aliasDomain('third.test', 'old.test'), refused(/\*@third\.test is an alias/));
  await t.throwsAsync(store.removeDomain('old.test'), refused(/remove them first \(new\.test\)$/));
  await t.throwsAsync(
    store.addAlias({ address: 'a@old.test', targets: ['a@new.test'], sendAs: false }),
    refused(/leads back to itself/),
  );
  t.true(await store.removeDomain('new.test'));
  t.true(await store.removeDomain('old.test'));
});

test('no unclaimed mailbox is made for an address that is an alias meanwhile', async (t) => {
  const { store } = await directory(t);
  for (const domain of [D, 'other.test', 'twin.test']) await store.addDomain(domain);
  await store.createAccount(`ann@${D}`, 'Ann');
  await add(store, 'sales', ['ann']);
  await store.addAlias({ address: '*@other.test', targets: [`ann@${D}`], sendAs: false });
  await store.aliasDomain('twin.test', D);
  for (const address of [`sales@${D}`, 'any@other.test', 'any@twin.test'])
    t.is((await store.openUnclaimed(address, 10)).kind, 'full', address);
  t.is((await store.openUnclaimed(`free@${D}`, 10)).kind, 'opened');
});
