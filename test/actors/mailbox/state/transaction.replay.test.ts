// Tests that the log is the whole truth of a mailbox: replayed into an empty state it gives the state of the actor, committed to a
// fresh account it gives the same tables. Histories are random, of several writers whose commands share commits.
import { randomUUID } from 'node:crypto';
import type { ExecutionContext } from 'ava';
import fc from 'fast-check';
import { runs } from '../../../support/amounts.js';
import test from '../../../support/test.js';
import { cutAfter, freshAccount, logOf, recordsOf, replayed, replayInto, snapshotOf, tablesOf } from '../log-replay.js';
import { checkDrafts, checkRows, type MailboxWorld, mailboxWorld } from '../mailbox-world.js';
import { Writers } from './replay-writers.js';
import { command, EVERY_TYPE, FIRST, type Step } from './replayed-commands.js';

async function checkReplay(t: ExecutionContext, world: MailboxWorld, accountId: string): Promise<void> {
  const state = world.stateOf(accountId);
  const [whole, byCommit, byCommand] = [
    await freshAccount(world),
    await freshAccount(world),
    await freshAccount(world),
  ];
  const log = await logOf(world, accountId, whole.id);
  const seqs = [...new Set(log.map(({ seq }) => seq))];
  t.deepEqual(
    seqs,
    Array.from({ length: state.modseq - whole.state.modseq }, (_, i) => whole.state.modseq + 1 + i),
    'every modseq has an entry',
  );
  const change = replayed(whole.state, log);
  if (change !== undefined) whole.state.evolve(change);
  t.deepEqual(snapshotOf(whole.state), snapshotOf(state), 'the state, from the log as one list');

  const commits = world.commits.filter((commit) => commit.accountId === accountId).map((commit) => commit.modseqAfter);
  await replayInto(world, byCommit, cutAfter(await logOf(world, accountId, byCommit.id), commits));
  const tables = await tablesOf(world, accountId);
  t.deepEqual(await tablesOf(world, byCommit.id), tables, 'the tables, from the log as it was committed');
  t.deepEqual(snapshotOf(byCommit.state), snapshotOf(state), 'the state, from the log as it was committed');

  await replayInto(world, byCommand, cutAfter(await logOf(world, accountId, byCommand.id), seqs));
  // An email that one commit adds and removes leaves expunged UIDs and thread ids when these are two commits.
  const { expunged, thread_refs: refs, ...others } = await tablesOf(world, byCommand.id);
  const { expunged: coalescedExpunged, thread_refs: coalescedRefs, ...coalescedOthers } = tables;
  t.deepEqual(others, coalescedOthers, 'the tables, from the log command by command');
  t.true(coalescedExpunged!.every((row) => expunged!.includes(row)));
  t.true(coalescedRefs!.every((row) => refs!.includes(row)));
}

test('the log of random histories gives the state of the actor and the tables of the account', async (t) => {
  const world = await mailboxWorld();
  t.teardown(world.end);
  // Bodies cannot be read: filters that need them wait until the history applies them.
  world.texts.fault = new Error('not read');
  await world.stopBackground();
  const seen = new Set<string>();
  const step: fc.Arbitrary<Step> = fc.oneof(
    { weight: 6, arbitrary: fc.array(command, { minLength: 1, maxLength: 8 }) },
    { weight: 1, arbitrary: fc.constant('reload' as const) },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 10 }), async (steps) => {
      const { id: accountId } = await world.directory.createAccount(`${randomUUID()}@example.test`, 'Model');
      const { id: other } = await world.directory.createAccount(`${randomUUID()}@example.test`, 'Other');
      const writers = new Writers(world, accountId, other);
      // Short histories need something to work on.
      for (const next of FIRST) await writers.issue(next);
      for (const next of steps) {
        if (next === 'reload') world.reload();
        else {
          await writers.look();
          await Promise.all(next.map((one) => writers.issue(one)));
        }
      }
      for (const { type } of await recordsOf(world, accountId)) seen.add(type);
      await checkRows(world, t, accountId);
      await checkDrafts(world, t, accountId);
      await checkReplay(t, world, accountId);
    }),
    { numRuns: runs(40, 40), examples: [[EVERY_TYPE]] },
  );
  t.deepEqual([...seen].sort(), [
    'AnnotationsChanged',
    'AutomaticMailDue',
    'AutomaticMailEnded',
    'BodyFiltersEnded',
    'DeliveredLocally',
    'DeliveryAttempted',
    'EmailAdded',
    'EmailAnnounced',
    'EmailExpunged',
    'EmailPlaced',
    'EmailRemoved',
    'FilterChanged',
    'FilterDeleted',
    'FilterRunApplied',
    'FilterRunChanged',
    'FilterRunRemoved',
    'FiltersAwaitBody',
    'FlagsChanged',
    'FolderChanged',
    'FolderCreated',
    'FolderDeleted',
    'MailDiscarded',
    'OutboundChanged',
    'OutboundRemoved',
    'PreferencesChanged',
    'RecipientChanged',
    'SieveKeyTracked',
    'SieveScriptActivated',
    'SieveScriptDeleted',
    'SieveScriptStored',
    'SuppressionAdded',
    'SuppressionRemoved',
    'UnreadCountChanged',
    'VacationAnswered',
  ]);
});
