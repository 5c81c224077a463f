// Tests many emails that are copied, moved and expunged together, whose ids are packed: the owner, the next owner, the log and
// the rows agree after each change.

import fc from 'fast-check';
import { LEAST_PACKED } from '../../../../src/actors/mailbox/state/named-emails.js';
import { postgresDeferredFlags } from '../../../../src/store/postgres/commit/deferred-flags.js';
import { runs } from '../../../support/amounts.js';
import test from '../../../support/test.js';
import { message, start } from '../command-world.js';
import { freshAccount, logOf, replayed, snapshotOf, tablesOf } from '../log-replay.js';
import { checkRows } from '../mailbox-world.js';

const EMAILS = LEAST_PACKED + 60;
const FOLDERS = ['inbox', 'archive', 'trash', 'junk'];

const folder = fc.constantFrom(...FOLDERS);
/** A part of a folder: how many emails are left out before it, within it and after it. */
const part = fc.record({ before: fc.nat(3), gap: fc.option(fc.nat(EMAILS)), after: fc.nat(3) });
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('move' as const), folder, to: folder, part }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('copy' as const), folder, to: folder, part }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('expunge' as const), folder, part }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('mark' as const), folder, part }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('reload' as const) }) },
);

test('owners, rows and the log agree on where many emails are', async (t) => {
  const { world, account, mailbox } = await start();
  t.teardown(world.end);
  const load = () => mailbox.ask('folders', {});
  await load();
  const append = async () => {
    const messages = Array.from({ length: EMAILS }, () => message());
    t.is((await mailbox.ask('append', { folderId: 'inbox', messages })).refusal, undefined);
  };
  const uidsIn = (role: string): number[] => {
    const found = [...world.stateOf(account.id).folders.values()].find(({ row }) => row.role === role)!;
    return Array.from({ length: found.count }, (_, index) => found.uidAt(index));
  };
  const selection = (role: string, { before, gap, after }: { before: number; gap: number | null; after: number }) => {
    const all = uidsIn(role);
    const uids = all.slice(before, all.length - after).filter((_, i) => i !== gap);
    return { folderId: role, uids: uids.map((uid): [number, number] => [uid, uid]) };
  };

  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 6 }), async (steps) => {
      if (FOLDERS.every((role) => uidsIn(role).length < LEAST_PACKED)) await append();
      for (const next of steps) {
        if (next.kind === 'reload') {
          world.reload();
          await load();
          continue;
        }
        const chosen = selection(next.folder, next.part);
        if (next.kind === 'copy') await mailbox.ask('copy', { selection: chosen, toFolderId: next.to });
        if (next.kind === 'move') await mailbox.ask('move', { selection: chosen, toFolderId: next.to });
        if (next.kind === 'mark') {
          await mailbox.ask('storeFlags', { selection: chosen, mode: 'add', flags: ['\\Flagged'] });
        }
        if (next.kind === 'expunge') {
          await mailbox.ask('storeFlags', { selection: chosen, mode: 'add', flags: ['\\Deleted'] });
          await mailbox.ask('expunge', { folderId: next.folder, uids: chosen.uids });
        }
        await checkRows(world, t, account.id);
      }
      const owner = snapshotOf(world.stateOf(account.id));
      world.reload();
      await load();
      t.deepEqual(snapshotOf(world.stateOf(account.id)), owner, 'the next owner');
    }),
    {
      numRuns: runs(12),
      examples: [
        // The flags are stored as a range of UIDs; all of its emails leave the folder together.
        [
          [
            { kind: 'mark', folder: 'inbox', part: { before: 0, gap: null, after: 0 } },
            { kind: 'move', folder: 'inbox', to: 'archive', part: { before: 0, gap: null, after: 0 } },
            { kind: 'reload' },
            { kind: 'expunge', folder: 'archive', part: { before: 0, gap: null, after: 0 } },
          ],
        ],
        // All emails are copied, with gaps in the UIDs; then they return without a gap.
        [
          [
            { kind: 'copy', folder: 'inbox', to: 'archive', part: { before: 0, gap: 100, after: 1 } },
            { kind: 'move', folder: 'archive', to: 'trash', part: { before: 0, gap: null, after: 0 } },
            { kind: 'move', folder: 'inbox', to: 'junk', part: { before: 0, gap: 5, after: 0 } },
            { kind: 'expunge', folder: 'trash', part: { before: 1, gap: null, after: 0 } },
          ],
        ],
      ],
    },
  );

  const packed = await world.sql`
    select distinct entry->>'type' as type from events, json_array_elements(entries) entry
    where account_id = ${account.id} and (entry->'packed'->>'count')::int >= ${LEAST_PACKED} order by 1`;
  const types = packed.map((row) => row['type']);
  for (const type of ['DeletedChanged', 'EmailExpunged', 'EmailPlaced']) t.true(types.includes(type), type);
  const state = snapshotOf(world.stateOf(account.id));
  const fresh = await freshAccount(world);
  const change = replayed(fresh.state, await logOf(world, account.id, fresh.id));
  fresh.state.evolve(change!);
  t.deepEqual(snapshotOf(fresh.state), state, 'the state, from the log');
  t.is((await world.store.commit(change!)).kind, 'committed');
  // Moves into Junk and out of it have made deferred writes.
  const deferredFlags = postgresDeferredFlags(world.sql);
  for (const id of [account.id, fresh.id]) while (await deferredFlags.write(id, 1000));
  const [rows, expected] = [await tablesOf(world, fresh.id), await tablesOf(world, account.id)];
  for (const table of ['emails', 'placements', 'folders']) t.deepEqual(rows[table], expected[table], table);
});
