// Tests aliases in the directory of a node, on a real store: the order in which an address is resolved, what is cached and dropped, and who
// may send as an alias.
import type { ExecutionContext } from 'ava';
import fc from 'fast-check';
import { createDirectory } from '../../../src/actors/directory/directory.js';
import { mailboxesOf, type Recipient } from '../../../src/actors/directory/protocol.js';
import type { Mailboxes } from '../../../src/actors/mailbox/protocol.js';
import type { DirectoryStore } from '../../../src/store/directory.js';
import { postgresDirectory } from '../../../src/store/postgres/accounts/directory.js';
import { eventually } from '../../scenarios/cluster/support/eventually.js';
import { runs } from '../../support/amounts.js';
import { migratedSql } from '../../support/database/embedded-database.js';
import test from '../../support/test.js';

const D = 'example.test';

async function start(t: ExecutionContext, unknownRecipients: 'hold' | 'reject' = 'reject') {
  const sql = await migratedSql(t, { max: 6 });
  const store = postgresDirectory(sql, 16);
  await store.addDomain(D);
  const reads: string[] = [];
  const counted = new Proxy(store, {
    get: (target, name: keyof DirectoryStore) =>
      ((...args: never[]) => {
        reads.push(name);
        return (target[name] as (...args: never[]) => unknown)(...args);
      }) as never,
  });
  const mailboxes = {
    of: () => ({ ask: async () => ({ reply: { isUnclaimed: true, total: 0 } }) }),
  } as unknown as Mailboxes;
  const open = async () => {
    const directory = await createDirectory({ store: counted, mailboxes, unknownRecipients, log: { info() {} } });
    t.teardown(() => directory.close());
    return directory;
  };
  const account = async (name: string) => (await store.createAccount(`${name}@${D}`, name)).id;
  const alias = (address: string, targets: readonly string[], sendAs = false) =>
    store.addAlias({ address, targets: targets.map((one) => (one.includes('@') ? one : `${one}@${D}`)), sendAs });
  return { sql, store, open, reads, account, alias };
}

const mailbox = (accountId: string): Recipient => ({ kind: 'mailbox', accountId });

test('an account comes first, then an alias, then the catch-all, then nobody', async (t) => {
  const { open, account, alias } = await start(t);
  const [ann, bob, eve] = [await account('ann'), await account('bob'), await account('eve')];
  await alias(`sales@${D}`, ['ann']);
  await alias(`team@${D}`, ['ann', 'bob', 'sales']);
  await alias(`*@sub.${D}`, ['eve']);
  const directory = await open();
  const to = (address: string) => directory.recipient(address);
  t.deepEqual(await to(`Sales+x@${D}`), mailbox(ann));
  t.deepEqual(await to(`team@${D}`), { kind: 'several', mailboxes: [mailbox(ann), mailbox(bob)] }, 'Ann gets it once');
  t.deepEqual(await to(`anything@sub.${D}`), mailbox(eve));
  t.deepEqual(await to(`other@${D}`), { kind: 'unknown' });
  t.deepEqual(await to(`a@deep.sub.${D}`), { kind: 'notHosted' });
  t.false(await directory.hosts(`sub.${D}`), 'no certificate or autoconfig is for it');
  await alias(`*@${D}`, ['bob']);
  await eventually('the catch-all', async () => (await to(`other@${D}`)).kind === 'mailbox');
  t.deepEqual(await to(`other@${D}`), mailbox(bob));
  t.deepEqual([await to(`eve@${D}`), await to(`sales@${D}`)], [mailbox(eve), mailbox(ann)]);
});

test('a domain that is another name of one has its addresses, and may have others', async (t) => {
  const { store, open, account, alias } = await start(t);
  const ann = await account('ann');
  await alias(`sales@${D}`, ['ann']);
  await store.addDomain('new.test');
  await store.aliasDomain('new.test', D);
  const zoe = (await store.createAccount('zoe@new.test', 'Zoe')).id;
  const directory = await open();
  t.deepEqual(await directory.recipient('ann@new.test'), mailbox(ann));
  t.deepEqual(await directory.recipient('sales+x@new.test'), mailbox(ann));
  t.deepEqual(await directory.recipient('zoe@new.test'), mailbox(zoe));
  t.deepEqual(await directory.recipient(`zoe@${D}`), { kind: 'unknown' });
  t.deepEqual(await directory.recipient('nobody@new.test'), { kind: 'unknown' });
  t.deepEqual(await directory.senderAliases(ann, [`ann@${D}`]), [
    { address: 'ann@new.test', createdAt: undefined },
    { address: 'sales@example.test', createdAt: (await store.aliases())[0]!.createdAt },
    { address: 'sales@new.test', createdAt: undefined },
  ]);
  t.true(await directory.maySendAs(ann, 'sales@new.test'));
  t.false(await directory.maySendAs(zoe, 'ann@new.test'));
});

test('a target with a tag leads to its account when its domain is hosted since', async (t) => {
  const { store, open, account, alias } = await start(t);
  await account('postmaster');
  await alias(`sales@${D}`, ['bob+work@later.test']);
  await store.addDomain('later.test');
  const { id } = await store.createAccount('bob@later.test', 'Bob');
  t.deepEqual(await (await open()).recipient(`sales@${D}`), mailbox(id));
});

test('an alias that leads to nobody is an unknown address', async (t) => {
  const rejecting = await start(t);
  await rejecting.alias(`sales@${D}`, ['gone']);
  const gone = { address: `gone@${D}`, kind: 'unclaimed' } as const;
  t.deepEqual(await (await rejecting.open()).recipient(`sales@${D}`), { kind: 'unknown' });
  const holding = await start(t, 'hold');
  const ann = await holding.account('ann');
  await holding.alias(`sales@${D}`, ['gone']);
  await holding.alias(`both@${D}`, ['ann', 'gone', 'left']);
  const directory = await holding.open();
  t.deepEqual(await directory.recipient(`sales@${D}`), gone);
  const left = { address: `left@${D}`, kind: 'unclaimed' } as const;
  t.deepEqual(await directory.recipient(`both@${D}`), { kind: 'several', mailboxes: [mailbox(ann), gone, left] });
});

test('rows that form a loop, or are beyond a bound, are refused for good', async (t) => {
  const { sql, open } = await start(t);
  // Two nodes of another version have added them at once.
  await sql`insert into aliases (address, targets, send_as) values (${`a@${D}`}, ${[`b@${D}`]}, false), (${`b@${D}`}, ${[`a@${D}`]}, false)`;
  const directory = await open();
  t.deepEqual(await directory.recipient(`a@${D}`), { kind: 'loop' });
  t.false(await directory.maySendAs('x', `a@${D}`));
});

test('an address costs one look-up, which other nodes forget when the alias changes', async (t) => {
  const { store, open, reads, account, alias } = await start(t);
  const [ann, bob] = [await account('ann'), await account('bob')];
  await alias(`sales@${D}`, ['ann']);
  await alias(`*@${D}`, ['ann']);
  const nodes = [await open(), await open()];
  for (const node of nodes)
    for (const name of ['ann', 'sales', 'any', 'ann', 'sales', 'any'])
      t.deepEqual(await node.recipient(`${name}@${D}`), mailbox(ann));
  t.is(reads.filter((name) => name === 'routeOf').length, 2 * 3);
  await store.removeAlias(`sales@${D}`);
  await alias(`sales@${D}`, ['bob']);
  await store.removeAlias(`*@${D}`);
  await alias(`*@${D}`, ['bob']);
  for (const node of nodes)
    for (const name of ['sales', 'any'])
      await eventually(name, async () => {
        const found = await node.recipient(`${name}@${D}`);
        return found.kind === 'mailbox' && found.accountId === bob;
      });
});

test('an account sends as what belongs to it alone, and as an alias that allows it', async (t) => {
  const { store, open, account, alias } = await start(t);
  const [ann, bob] = [await account('ann'), await account('bob')];
  await store.addAddress(ann, `anna@${D}`, true);
  await store.addAddress(ann, 'ann@elsewhere.test', true);
  const far = (await store.createAccount('far@elsewhere.test', 'Far')).id;
  await alias(`sales@${D}`, ['ann', 'anna']);
  await alias(`team@${D}`, ['ann', 'bob']);
  await alias(`desk@${D}`, ['team'], true);
  await alias(`*@all.${D}`, ['bob']);
  const directory = await open();
  const may = async (accountId: string, addresses: readonly string[]) => {
    const allowed = await Promise.all(addresses.map((address) => directory.maySendAs(accountId, address)));
    return addresses.filter((_, i) => allowed[i]);
  };
  const all = ['ann', 'bob', 'anna', 'sales+x', 'team', 'desk', 'nobody'].map((name) => `${name}@${D}`);
  const others = ['ann@elsewhere.test', 'far@elsewhere.test', `any@all.${D}`, 'no address'];
  t.deepEqual(
    await may(ann, [...all, ...others]),
    ['ann', 'anna', 'sales+x', 'desk'].map((name) => `${name}@${D}`),
  );
  t.deepEqual(await may(bob, [...all, ...others]), [`bob@${D}`, `desk@${D}`, `any@all.${D}`]);
  t.deepEqual(await may(far, others), ['far@elsewhere.test'], 'the own address may be anywhere');
  const listed = async (accountId: string, own: readonly string[]) =>
    (await directory.senderAliases(accountId, own)).map(({ address }) => address);
  t.deepEqual(await listed(ann, [`ann@${D}`, `anna@${D}`]), [`desk@${D}`, `sales@${D}`]);
  t.deepEqual(await listed(bob, [`bob@${D}`]), [`desk@${D}`]);
});

test('addresses are resolved as a simple model does it', async (t) => {
  const { store, sql, open } = await start(t);
  await store.addDomain('new.test');
  const names = ['a', 'b', 'c', 'd', 'e'];
  const domains = [D, 'new.test', `sub.${D}`];
  const address = fc.tuple(fc.constantFrom(...names), fc.constantFrom(...domains)).map((parts) => parts.join('@'));
  const source = fc.oneof(address, fc.constantFrom(...domains.map((domain) => `*@${domain}`)));
  const world = fc.record({
    accounts: fc.uniqueArray(address, { maxLength: 4 }),
    aliases: fc.uniqueArray(fc.tuple(source, fc.uniqueArray(address, { minLength: 1, maxLength: 3 })), {
      selector: ([from]) => from,
      maxLength: 6,
    }),
    isAlias: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(world, async ({ accounts, aliases, isAlias }) => {
      for (const table of ['aliases', 'domain_aliases', 'addresses', 'accounts']) await sql`delete from ${sql(table)}`;
      if (isAlias) await store.aliasDomain('new.test', D);
      const ids = new Map<string, string>();
      for (const one of accounts) ids.set(one, (await store.createAccount(one, one)).id);
      const kept = new Map<string, readonly string[]>();
      for (const [from, targets] of aliases) {
        const added = await store.addAlias({ address: from, targets, sendAs: false }).catch(() => undefined);
        if (added !== undefined) kept.set(from, targets);
      }
      const hosted = (domain: string) => domain !== `sub.${D}` || kept.has(`*@${domain}`);
      const owners = (one: string): string[] => {
        const [name, domain] = one.split('@') as [string, string];
        const id = ids.get(one);
        if (id !== undefined) return hosted(domain) ? [id] : [];
        const whole = isAlias && domain === 'new.test' ? [`${name}@${D}`] : undefined;
        return (kept.get(one) ?? kept.get(`*@${domain}`) ?? whole ?? []).flatMap(owners);
      };
      const directory = await open();
      for (const domain of domains)
        for (const name of names) {
          const one = `${name}@${domain}`;
          const found = await directory.recipient(one);
          const want = new Set(owners(one));
          // A postmaster's account may send the message on, to a target that is not hosted, without getting it.
          const got = mailboxesOf(found).filter(({ onward }) => onward?.isPlaced !== false);
          const isOnward = mailboxesOf(found).length > got.length;
          const label = JSON.stringify([one, [...kept], [...ids.keys()], isAlias]);
          if (!hosted(domain)) t.is(found.kind, 'notHosted', label);
          else if (want.size === 0 && !isOnward) t.is(found.kind, 'unknown', label);
          else t.deepEqual(new Set(got.map((box) => 'accountId' in box && box.accountId)), want, label);
        }
      await directory.close();
    }),
    { numRuns: runs(200) },
  );
});

test('an account forwards to its own addresses, and to a target that the operator allows while somebody has it', async (t) => {
  const { store, open, account, alias } = await start(t);
  const [ann, bob] = [await account('ann'), await account('bob')];
  await store.addAddress(ann, 'ann@elsewhere.test', true);
  await alias(`team@${D}`, ['bob']);
  for (const address of [`bob@${D}`, `team@${D}`]) await store.addForwardingTarget(ann, address);
  const directory = await open();
  for (const address of ['ann@elsewhere.test', `Bob@${D}`, `team@${D}`])
    t.true(await directory.mayForwardTo(ann, address), address);
  for (const address of [`carol@${D}`, 'carol@elsewhere.test', 'x'])
    t.false(await directory.mayForwardTo(ann, address), address);
  t.false(await directory.mayForwardTo(bob, `ann@${D}`));
  t.false(await directory.isAddressOf(ann, `bob@${D}`));
  await store.deleteAccount(bob);
  await eventually('the end of Bob', async () => !(await directory.mayForwardTo(ann, `bob@${D}`)));
  t.true(await store.isForwardingTarget(ann, `bob@${D}`), 'the row is there, and leads to nobody');
});
