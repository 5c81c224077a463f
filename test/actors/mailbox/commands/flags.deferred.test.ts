// Tests changes of flags of many emails, which the store keeps as deferred writes: the owner, the next owner, lists and the log agree after
// each change, however much of the deferred writes has been written to the emails.

import fc from 'fast-check';
import { LEAST_PACKED } from '../../../../src/actors/mailbox/state/named-emails.js';
import { ANSWERED, FLAGGED, SEEN } from '../../../../src/mail-format/flags.js';
import { DELETED_BIT, unpackFlags, unpackUids } from '../../../../src/mail-format/packed-columns.js';
import { postgresDeferredFlags } from '../../../../src/store/postgres/commit/deferred-flags.js';
import { runs } from '../../../support/amounts.js';
import test from '../../../support/test.js';
import { start } from '../command-world.js';
import { freshAccount, logOf, replayed, snapshotOf, tablesOf } from '../log-replay.js';
import { checkRows } from '../mailbox-world.js';

const EMAILS = LEAST_PACKED + 40;
const BITS: Readonly<Record<string, number>> = { '\\Seen': SEEN, '\\Flagged': FLAGGED, '\\Answered': ANSWERED };

const inOrder = (uids: Iterable<number>): number[] => [...uids].sort((a, b) => a - b);

const range = fc.oneof(
  { weight: 3, arbitrary: fc.constant<[number, number]>([1, EMAILS]) },
  { weight: 3, arbitrary: fc.nat(40).map((n): [number, number] => [n + 1, n + LEAST_PACKED]) },
  { weight: 2, arbitrary: fc.tuple(fc.nat(EMAILS), fc.nat(3)).map(([n, more]): [number, number] => [n + 1, n + more]) },
);
const names = fc.subarray([...Object.keys(BITS), '\\Deleted'], { minLength: 1 });
const stored = fc.record({
  kind: fc.constant('store' as const),
  range,
  mode: fc.constantFrom('add' as const, 'remove' as const, 'replace' as const),
  names,
  isTagged: fc.nat(3).map((n) => n === 0),
});
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('batch' as const), all: fc.array(stored, { maxLength: 4 }) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('write' as const), most: fc.integer({ min: 1, max: 150 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('drop' as const) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('reload' as const) }) },
);

test('owners, lists and the log agree on the flags of many emails', async (t) => {
  const { world, account, mailbox, append } = await start();
  t.teardown(world.end);
  const { sql } = world;
  const deferredFlags = postgresDeferredFlags(sql);
  for (let i = 0; i < EMAILS; i += 20)
    await Promise.all(Array.from({ length: 20 }, (_, n) => append('inbox', `m${i + n}`)));
  const model = new Map(Array.from({ length: EMAILS }, (_, i) => [i + 1, 0]));
  const tagged = new Set<number>();

  async function found(): Promise<Map<number, number>> {
    const { reply } = await mailbox.ask('folderChanges', { folderId: 'inbox', since: null });
    const flags = unpackFlags(reply!.flags);
    return new Map([...unpackUids(reply!.uids)].map((uid, i) => [uid, flags[i]!]));
  }

  async function foundTagged(): Promise<number[]> {
    const { reply } = await mailbox.ask('folderChanges', { folderId: 'inbox', since: null });
    return inOrder(reply!.keywords.flatMap(({ uids }) => [...unpackUids(uids)]));
  }

  async function unread(): Promise<number> {
    const { reply } = await mailbox.ask('list', {
      folder: 'inbox',
      page: 1,
      pageSize: 1,
      sort: 'subject',
      isRead: false,
    });
    return reply!.totalCount;
  }

  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 6 }), async (steps) => {
      for (const next of steps) {
        if (next.kind === 'write') await deferredFlags.write(account.id, next.most);
        if (next.kind === 'drop') await deferredFlags.dropCovered(account.id);
        if (next.kind === 'reload') world.reload();
        if (next.kind !== 'batch') continue;
        // The commands are sent together, so they share a commit.
        const results = await Promise.all(
          next.all.map(({ range: [first, last], mode, names: flags, isTagged }) => {
            const bits = flags.reduce((all, name) => all | (BITS[name] ?? DELETED_BIT), 0);
            for (const [uid, before] of model) {
              if (uid < first || uid > last) continue;
              if (mode === 'remove' ? isTagged : !isTagged && mode === 'replace') tagged.delete(uid);
              else if (isTagged) tagged.add(uid);
              model.set(uid, mode === 'replace' ? bits : mode === 'add' ? before | bits : before & ~bits);
            }
            const selection = { folderId: 'inbox', uids: [[first, last]] as [number, number][] };
            return mailbox.ask('storeFlags', { selection, mode, flags: isTagged ? [...flags, 'Work'] : flags });
          }),
        );
        for (const { refusal } of results) t.is(refusal, undefined);
        t.deepEqual(await found(), model);
        t.deepEqual(await foundTagged(), inOrder(tagged));
        t.is(await unread(), [...model.values()].filter((flags) => (flags & (SEEN | DELETED_BIT)) === 0).length);
      }
      world.reload();
      t.deepEqual(await found(), model, 'the next owner');
      t.deepEqual(await foundTagged(), inOrder(tagged), 'the next owner');
    }),
    { numRuns: runs(15) },
  );

  const state = snapshotOf(world.stateOf(account.id));
  const fresh = await freshAccount(world);
  const change = replayed(fresh.state, await logOf(world, account.id, fresh.id));
  fresh.state.evolve(change!);
  t.deepEqual(snapshotOf(fresh.state), state, 'the state, from the log');
  t.is((await world.store.commit(change!)).kind, 'committed');
  for (const id of [account.id, fresh.id]) while (await deferredFlags.write(id, 100));
  t.deepEqual((await tablesOf(world, fresh.id))['emails'], (await tablesOf(world, account.id))['emails']);
  await checkRows(world, t, account.id);
});

test('an email that shares the batch of a large change keeps what happened to it alone', async (t) => {
  const { world, account, mailbox, append } = await start();
  t.teardown(world.end);
  for (let i = 0; i < EMAILS; i += 20)
    await Promise.all(Array.from({ length: 20 }, (_, n) => append('inbox', `m${i + n}`)));
  const all = { folderId: 'inbox', uids: [[1, 1e9]] as [number, number][] };
  const one = { folderId: 'inbox', uids: [[7, 7]] as [number, number][] };
  const store = (selection: typeof all, mode: 'add' | 'remove', flags: string[]) =>
    mailbox.ask('storeFlags', { selection, mode, flags });
  await Promise.all([
    store(one, 'add', ['Mine', '\\Flagged']),
    store(all, 'add', ['\\Seen']),
    append('inbox', 'late'),
    store(all, 'add', ['\\Answered']),
    store(one, 'remove', ['\\Seen']),
    mailbox.ask('expunge', { folderId: 'inbox', uids: [[9, 9]] }),
  ]);
  const expected = async () => {
    const { reply } = await mailbox.ask('folderChanges', { folderId: 'inbox', since: null });
    const uids = [...unpackUids(reply!.uids)];
    const flags = unpackFlags(reply!.flags);
    t.is(uids.length, EMAILS + 1);
    t.is(flags[uids.indexOf(7)], FLAGGED | ANSWERED);
    t.is(flags[uids.indexOf(EMAILS + 1)], ANSWERED);
    t.is(flags.filter((each) => each === (SEEN | ANSWERED)).length, EMAILS - 1);
    t.deepEqual(
      reply!.keywords.map(({ names, uids: tagged }) => [names, [...unpackUids(tagged)]]),
      [[['Mine'], [7]]],
    );
  };
  await expected();
  world.reload();
  await expected();
  const deferredFlags = postgresDeferredFlags(world.sql);
  while (await deferredFlags.write(account.id, 77));
  world.reload();
  await expected();
});

test('flags of all emails of a folder hold for the next owner, and when an email leaves the folder', async (t) => {
  const { world, account, mailbox, append } = await start();
  t.teardown(world.end);
  for (let i = 0; i < EMAILS; i += 20)
    await Promise.all(Array.from({ length: 20 }, (_, n) => append('inbox', `m${i + n}`)));
  const uids = (list: readonly [number, number][]) => ({ folderId: 'inbox', uids: [...list] });
  const add = async (list: readonly [number, number][], ...flags: string[]) => {
    const { reply } = await mailbox.ask('storeFlags', { selection: uids(list), mode: 'add', flags });
    return reply!.changed;
  };
  const found = async () => {
    const { reply } = await mailbox.ask('folderChanges', { folderId: 'inbox', since: null });
    return [...unpackFlags(reply!.flags)];
  };
  const gone = uids([
    [3, 3],
    [50, 55],
  ]);
  await mailbox.ask('storeFlags', { selection: gone, mode: 'add', flags: ['\\Deleted'] });
  await mailbox.ask('expunge', gone);
  const left = EMAILS - 7;

  t.is(await add([[1, EMAILS]], '\\Answered'), left);
  t.is(
    await add(
      [10, 20, 30, 70, 80].map((uid) => [uid, uid]),
      '\\Seen',
    ),
    5,
  );
  t.is(await add([[1, EMAILS]], '\\Seen'), left - 5);
  const tenth = Array.from({ length: 10 }, (_, i): [number, number] => [100 + i * 10, 100 + i * 10]);
  t.is(await add(tenth, '\\Flagged'), 10);
  t.is(await add([[1, EMAILS]], '\\Flagged'), left - 10);
  const all = Array.from({ length: left }, () => SEEN | FLAGGED | ANSWERED);
  t.deepEqual(await found(), all);
  world.reload();
  t.deepEqual(await found(), all, 'the next owner');
  await mailbox.ask('move', { selection: uids([[1, 1]]), toFolderId: 'archive' });
  world.reload();
  t.deepEqual(await found(), all.slice(1));
  const state = snapshotOf(world.stateOf(account.id));
  const fresh = await freshAccount(world);
  fresh.state.evolve(replayed(fresh.state, await logOf(world, account.id, fresh.id))!);
  t.deepEqual(snapshotOf(fresh.state), state, 'the state, from the log');
});
