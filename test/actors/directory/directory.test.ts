// Tests the directory's rules on a real store; a function that answers `acceptance` replaces mailboxes.
import { createHash, randomBytes } from 'node:crypto';
import type { ExecutionContext } from 'ava';
import { matchesHash, newApiKey, parseApiKey } from '../../../src/actors/directory/api-key.js';
import { createDirectory, type DirectoryOptions } from '../../../src/actors/directory/directory.js';
import type { Mailboxes } from '../../../src/actors/mailbox/protocol.js';
import { ActorFault } from '../../../src/actors/runtime/errors.js';
import { Credentials } from '../../../src/auth/credentials.js';
import type { DirectoryStore } from '../../../src/store/directory.js';
import { StoreFault } from '../../../src/store/errors.js';
import { postgresDirectory } from '../../../src/store/postgres/accounts/directory.js';
import { postgresSessions } from '../../../src/store/postgres/accounts/sessions.js';
import { connect } from '../../../src/store/postgres/driver/client.js';
import { migratedDatabase } from '../../support/database/embedded-database.js';
import { deferred } from '../../support/deferred.js';
import test from '../../support/test.js';
import { turn } from '../../support/turns.js';

type Acceptance = (accountId: string) => { isUnclaimed: boolean; total: number };

function mailboxes(acceptance: Acceptance): Mailboxes {
  return {
    of: (accountId) =>
      ({ ask: async () => ({ reply: acceptance(accountId) }) }) as unknown as ReturnType<Mailboxes['of']>,
  };
}

async function start(
  t: ExecutionContext,
  options: Partial<Omit<DirectoryOptions, 'store' | 'mailboxes'>> & { acceptance?: Acceptance } = {},
) {
  const { address, drop } = await migratedDatabase();
  const sql = connect(address, { max: 6, applicationName: 'test' });
  const calls: string[] = [];
  const real = postgresDirectory(sql, 16);
  const store = new Proxy(real, {
    get: (target, name: keyof DirectoryStore) =>
      ((...args: never[]) => {
        calls.push(name);
        return (target[name] as (...args: never[]) => unknown)(...args);
      }) as never,
  });
  await real.addDomain('example.test');
  const { acceptance = () => ({ isUnclaimed: true, total: 0 }), ...rest } = options;
  const directory = await createDirectory({
    store,
    mailboxes: mailboxes(acceptance),
    unknownRecipients: 'hold',
    log: { info() {} },
    ...rest,
  });
  t.teardown(async () => {
    await directory.close();
    await sql.end({ timeout: 5 });
    await drop();
  });
  /** Makes the change, and resolves when this node has heard of it. */
  const settled = async (change: () => Promise<unknown>): Promise<void> => {
    const { promise: heard, resolve: tell } = deferred();
    // The watch must begin before the change, or the marker may be missed.
    const end = await real.watch((seen) => {
      if (seen.kind === 'domains') tell();
    });
    await change();
    await real.addDomain(`marker-${randomBytes(6).toString('hex')}.test`);
    await heard;
    await end();
  };
  return { sql, store: real, directory, calls, settled };
}

test('mail goes to the account that has the address, whatever its case and tag', async (t) => {
  const { store, directory, calls } = await start(t);
  const ann = await store.createAccount('ann@example.test', 'Ann');
  await store.addAddress(ann.id, 'sales@example.test', true);
  const mailbox = { kind: 'mailbox', accountId: ann.id };
  t.deepEqual(await directory.recipient('Ann+news@Example.Test'), mailbox);
  t.deepEqual(await directory.recipient('sales@example.test'), mailbox);
  const before = calls.length;
  t.deepEqual(await directory.recipient('ann@example.test'), mailbox);
  t.is(calls.length, before, 'an owner is remembered');
});

test('a domain that is not hosted is never relayed to, an account there or not', async (t) => {
  const { store, directory } = await start(t);
  await store.createAccount('ann@elsewhere.test', 'Ann');
  t.deepEqual(await directory.recipient('ann@elsewhere.test'), { kind: 'notHosted' });
  t.deepEqual(await directory.recipient('no address'), { kind: 'notHosted' });
});

test('mail is not refused for good by a list of domains that may be out of date', async (t) => {
  let now = 0;
  const { sql, directory, calls } = await start(t, { now: () => now });
  // There is no notification, so this node never hears of the domain.
  await sql`insert into domains (name) values ('late.test')`;
  t.deepEqual(await directory.recipient('ann@late.test'), { kind: 'notHosted' });
  const reads = () => calls.filter((name) => name === 'routedDomains').length;
  const before = reads();
  now = 1_000;
  const recipients = await Promise.all([1, 2, 3].map(() => directory.recipient('ann@late.test')));
  t.deepEqual(new Set(recipients.map(({ kind }) => kind)), new Set(['unclaimed']));
  t.deepEqual(await directory.recipient('ann@other.test'), { kind: 'notHosted' });
  t.is(reads(), before + 1, 'whoever names strange domains does not load the store');
});

test('domains added and removed take effect without a restart', async (t) => {
  const { store, directory, settled } = await start(t, { unknownRecipients: 'reject' });
  t.deepEqual(await directory.recipient('a@new.test'), { kind: 'notHosted' });
  await settled(() => store.addDomain('new.test'));
  t.deepEqual(await directory.recipient('a@new.test'), { kind: 'unknown' });
  await settled(() => store.removeDomain('new.test'));
  t.deepEqual(await directory.recipient('a@new.test'), { kind: 'notHosted' });
});

const NEW = 'new@example.test';

test('unknown recipients get an unclaimed mailbox once there is a message for them, or are rejected', async (t) => {
  const { directory, store } = await start(t);
  t.deepEqual(await directory.recipient('New+x@Example.Test'), { kind: 'unclaimed', address: NEW });
  t.is(await store.ownerOf(NEW), undefined, 'naming an address makes nothing');
  const opened = await directory.openUnclaimed([NEW, NEW], 1000);
  const { accountId } = (await store.ownerOf(NEW))!;
  t.deepEqual(opened, new Map([[NEW, accountId]]));
  t.deepEqual(await directory.recipient('new+x@example.test'), { kind: 'mailbox', accountId, unclaimedAddress: NEW });
  const rejecting = await start(t, { unknownRecipients: 'reject' });
  t.deepEqual(await rejecting.directory.recipient(NEW), { kind: 'unknown' });
  t.is(await rejecting.directory.openUnclaimed([NEW], 1000), undefined);
  await rejecting.store.openUnclaimed(NEW, 10);
  t.deepEqual(await rejecting.directory.recipient(NEW), { kind: 'unknown' });
});

test('an unclaimed mailbox takes 100 messages, a claimed one any number', async (t) => {
  let total = 99;
  const { store, directory, settled } = await start(t, { acceptance: () => ({ isUnclaimed: true, total }) });
  t.is((await directory.recipient(NEW)).kind, 'unclaimed');
  t.is((await directory.openUnclaimed([NEW], 1000))?.size, 1);
  t.is((await directory.recipient(NEW)).kind, 'mailbox');
  total = 100;
  t.is((await directory.recipient(NEW)).kind, 'full');
  t.is(await directory.openUnclaimed([NEW], 1000), undefined, 'filled since RCPT');
  await settled(() => store.createAccount(NEW, 'New'));
  t.is((await directory.recipient(NEW)).kind, 'mailbox');
});

test('a domain whose unclaimed addresses are used up is full, those of one message counted together', async (t) => {
  const { sql, directory, store } = await start(t);
  await store.addDomain('other.test');
  await store.openUnclaimed('first@example.test', 10);
  await sql`
    insert into addresses (id, address, account_id, domain, unclaimed, verified)
    select gen_random_uuid(), 'u' || n || '@example.test', (select id from accounts), 'example.test', true, true
    from generate_series(1, 998) n`;
  const beside = ['last@example.test', 'a@other.test'];
  t.is((await directory.recipient('last@example.test', beside)).kind, 'unclaimed', 'named twice it is one address');
  t.is((await directory.recipient('one-more@example.test', ['a@other.test'])).kind, 'unclaimed');
  t.deepEqual(await directory.recipient('one-more@example.test', beside), { kind: 'full' });
  t.is(await directory.openUnclaimed(['a@other.test', 'last@example.test', 'one-more@example.test'], 1000), undefined);
  t.is(await store.ownerOf('last@example.test'), undefined, 'a message that is refused leaves nothing');
  t.is((await directory.openUnclaimed(['last@example.test'], 1000))?.size, 1);
  t.deepEqual(await directory.recipient('one-more@example.test'), { kind: 'full' });
  t.is((await directory.recipient('u7@example.test')).kind, 'mailbox');
});

test('an unclaimed mailbox that was deleted is made again', async (t) => {
  const gone = new Set<string>();
  const { store, directory } = await start(t, {
    acceptance: (id) => {
      if (gone.has(id)) throw new ActorFault('no-such-account', 'gone');
      return { isUnclaimed: true, total: 0 };
    },
  });
  const first = (await directory.openUnclaimed([NEW], 1000))!.get(NEW)!;
  t.deepEqual(await directory.recipient(NEW), { kind: 'mailbox', accountId: first, unclaimedAddress: NEW });
  gone.add(first);
  await store.deleteAccount(first);
  t.is((await directory.recipient(NEW)).kind, 'unclaimed');
  const second = (await directory.openUnclaimed([NEW], 1000))?.get(NEW);
  t.truthy(second);
  t.not(second, first);
});

test('an unclaimed mailbox whose owner cannot be reached is a temporary fault', async (t) => {
  const { directory, store } = await start(t, {
    acceptance: () => {
      throw new ActorFault('unreachable', 'nobody owns it');
    },
  });
  await store.openUnclaimed(NEW, 10);
  const fault = await t.throwsAsync(directory.recipient('new@example.test'), { instanceOf: StoreFault });
  t.true(fault.temporary);
});

test('a deleted account no longer receives, and its deletion is told', async (t) => {
  const { store, directory, settled } = await start(t, { unknownRecipients: 'reject' });
  const ann = await store.createAccount('ann@example.test', 'Ann');
  await directory.recipient('ann@example.test');
  const deleted: string[] = [];
  directory.deletedAccounts$.subscribe((id) => deleted.push(id));
  await settled(() => store.deleteAccount(ann.id));
  t.deepEqual(deleted, [ann.id]);
  t.deepEqual(await directory.recipient('ann@example.test'), { kind: 'unknown' });
});

test('a key authenticates until it is revoked, and the revocation is told', async (t) => {
  const { store, directory, settled } = await start(t);
  const ann = await store.createAccount('ann@example.test', 'Ann');
  const { apiKey, prefix, hash } = newApiKey(randomBytes);
  const key = await store.createKey({
    accountId: ann.id,
    name: 'x',
    scopes: ['imap'],
    serviceWide: false,
    prefix,
    hash,
  });
  t.deepEqual(await directory.authenticate(apiKey), {
    accountId: ann.id,
    email: 'ann@example.test',
    scopes: ['imap'],
    keyId: key.id,
    serviceWide: false,
  });
  const other = newApiKey(randomBytes).apiKey;
  t.is(await directory.authenticate(other), undefined);
  t.is(await directory.authenticate(apiKey.slice(0, 18) + other.slice(18)), undefined);
  t.is(await directory.authenticate('mansio_'), undefined);
  const revoked: string[] = [];
  directory.revokedKeys$.subscribe((id) => revoked.push(id));
  await settled(() => store.revokeKey(key.id));
  t.deepEqual(revoked, [key.id]);
  t.is(await directory.authenticate(apiKey), undefined);
});

test('a session authenticates for 30 days after its last use, and 180 days at most', async (t) => {
  const DAY_MS = 24 * 3_600_000;
  const began = Date.now();
  let days = 0;
  const uses = new Map<string, Date>();
  const time = () => began + days * DAY_MS;
  const { sql, store, directory, settled } = await start(t, {
    time,
    keyUses: { note: (id: string) => void uses.set(id, new Date(time())) },
  });
  const sessions = postgresSessions(sql);
  const ann = await store.createAccount('ann@example.test', 'Ann');
  const begin = async () => {
    const { apiKey, ...minted } = newApiKey(randomBytes);
    const { id } = (await sessions.create(ann.id, 10, { ...minted, userAgent: 'Firefox' }))!;
    return { id, apiKey };
  };
  const [used, idle] = [await begin(), await begin()];
  const principal = await directory.authenticate(used.apiKey);
  t.like(principal, { accountId: ann.id, email: 'ann@example.test', scopes: ['app'], keyId: used.id });
  t.true(Math.abs(principal!.sessionEnd! - time() - 30 * DAY_MS) < 60_000);
  for (days = 29; days < 179; days += 29) {
    t.truthy(await directory.authenticate(used.apiKey), `used on day ${days}`);
    await store.touchKeys(uses);
    t.is((await directory.authenticate(idle.apiKey)) === undefined, days > 29);
    uses.delete(idle.id);
  }
  days = 179;
  const end = (await directory.authenticate(used.apiKey))!.sessionEnd!;
  t.true(Math.abs(end - began - 180 * DAY_MS) < 60_000, 'its age ends it');
  days = 180.1;
  t.is(await directory.authenticate(used.apiKey), undefined);
  days = 0;
  await settled(() => sessions.end(ann.id, used.id));
  t.is(await directory.authenticate(used.apiKey), undefined, 'it was ended');
});

test('a remembered key ends with its revocation: at once here, and with the notice on another node', async (t) => {
  let forget = (_keyId: string) => {};
  const revocations = {
    listen(listener: (keyId: string) => void) {
      forget = listener;
      return () => {};
    },
  };
  const { sql, directory, settled } = await start(t, { revocations });
  const announced = async (keyIds: readonly string[]) => {
    for (const keyId of keyIds) forget(keyId);
  };
  const store = postgresDirectory(sql, 16, announced);
  const elsewhere = await createDirectory({
    store: postgresDirectory(sql, 16),
    mailboxes: mailboxes(() => ({ isUnclaimed: true, total: 0 })),
    unknownRecipients: 'hold',
    log: { info() {} },
  });
  t.teardown(() => elsewhere.close());
  const here = new Credentials({ directory });
  const there = new Credentials({ directory: elsewhere });
  const ann = await store.createAccount('ann@example.test', 'Ann');
  for (const end of ['revoke', 'rotate', 'device'] as const) {
    const device = newApiKey(randomBytes);
    const { id } = (await store.createKeyWithin(100, {
      ...{ accountId: ann.id, name: 'x', scopes: ['app'], serviceWide: false, deviceId: 'phone' },
      ...{ prefix: device.prefix, hash: device.hash },
    }))!;
    for (const node of [here, there]) t.is((await node.identify(device.apiKey)).kind, 'known', end);
    const next = newApiKey(randomBytes);
    const minted = { prefix: next.prefix, hash: next.hash };
    await settled(async () => {
      if (end === 'revoke') await store.revokeKeyOf(ann.id, id);
      else if (end === 'rotate') await store.rotateKey(ann.id, id, minted);
      else {
        const device = { accountId: ann.id, name: 'y', scopes: ['app'] as const, serviceWide: false };
        await store.createKeyWithin(100, { ...device, ...minted, deviceId: 'phone' });
      }
      t.is(here.known(device.apiKey), undefined, end);
    });
    // All listeners get notices of a database in order, but not at the same moment.
    while (there.known(device.apiKey) !== undefined) await turn();
    for (const node of [here, there]) t.is((await node.identify(device.apiKey)).kind, 'invalid', end);
  }
});

test('without a credential one acts as the configured account or as nobody', async (t) => {
  const none = await start(t);
  t.is(await none.directory.anonymous(), undefined);
  const { store, directory } = await start(t, { anonymousAccount: 'Demo@Example.Test' });
  t.is(await directory.anonymous(), undefined);
  await store.openUnclaimed('demo@example.test', 10);
  t.is(await directory.anonymous(), undefined, 'an unclaimed mailbox is nobody');
  const demo = await store.createAccount('demo@example.test', 'Demo');
  t.deepEqual(await directory.anonymous(), {
    accountId: demo.id,
    email: 'demo@example.test',
    scopes: ['app'],
    keyId: null,
    serviceWide: false,
  });
});

test('API keys have one form and match their own hash alone', (t) => {
  const { apiKey, prefix, hash } = newApiKey(randomBytes);
  t.regex(apiKey, /^mansio_[a-z2-7]{10}_[A-Za-z0-9_-]{43}$/);
  t.deepEqual(parseApiKey(apiKey), { prefix });
  t.is(hash, createHash('sha256').update(apiKey).digest('hex'));
  t.true(matchesHash(apiKey, hash));
  t.false(matchesHash(apiKey, undefined));
  t.false(matchesHash(apiKey, 'short'));
  t.false(matchesHash(newApiKey(randomBytes).apiKey, hash));
  for (const text of ['', apiKey.slice(1), `${apiKey}x`, ` ${apiKey}`, apiKey.slice(0, -1), `${apiKey}\n`]) {
    t.is(parseApiKey(text), undefined, JSON.stringify(text));
  }
});

test('an address is of its account when it is verified, with any tag, wherever it is', async (t) => {
  const { directory, store } = await start(t);
  const alice = await store.createAccount('alice@example.test', 'Alice');
  const bob = await store.createAccount('bob@example.test', 'Bob');
  await store.addAddress(alice.id, 'alice@elsewhere.test', true);
  await store.addAddress(alice.id, 'unverified@example.test', false);
  for (const address of ['Alice@Example.Test', 'alice+x@example.test', 'alice+@elsewhere.test']) {
    t.true(await directory.isAddressOf(alice.id, address), address);
    t.false(await directory.isAddressOf(bob.id, address), address);
  }
  for (const address of ['unverified@example.test', 'nobody@example.test', 'alice', '']) {
    t.false(await directory.isAddressOf(alice.id, address), address);
  }
});

test('a directory that cannot be read leaves nothing that listens', async (t) => {
  const open = new Set(['changes', 'revocations']);
  const end = (what: string) => void open.delete(what);
  const store = {
    watch: async () => async () => end('changes'),
    routedDomains: async () => {
      throw new StoreFault('store-unavailable', 'no database', { temporary: true });
    },
  } as unknown as DirectoryStore;
  const options = { store, mailboxes: mailboxes(() => ({ isUnclaimed: false, total: 0 })), log: { info() {} } };
  const revocations = { listen: () => () => end('revocations') };
  await t.throwsAsync(createDirectory({ ...options, unknownRecipients: 'hold', revocations }), {
    instanceOf: StoreFault,
  });
  t.deepEqual([...open], []);
});
