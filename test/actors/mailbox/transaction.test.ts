// Tests transactions by their own calls: random batches of changes of emails, flags, placements and folders, in which later calls use
// emails and folders that the batch itself has created and removed. The log of such batches gives the same mailbox, and the view
// after a batch is the state after its commit.

import { createHash, randomUUID } from 'node:crypto';
import type { ExecutionContext } from 'ava';
import fc from 'fast-check';
import { deleteIntoArchive } from '../../../src/actors/mailbox/folder-deletion.js';
import { loadMailbox, type MailboxState } from '../../../src/actors/mailbox/state.js';
import { MailboxTransaction } from '../../../src/actors/mailbox/transaction.js';
import { runs } from '../../support/amounts.js';
import test from '../../support/test.js';
import { CONTEXT, cutAfter, freshAccount, logOf, replayed, replayInto, snapshotOf, tablesOf } from './log-replay.js';
import { checkRows, type MailboxWorld, mailboxWorld } from './mailbox-world.js';

const index = fc.nat(7);
const keywords = fc.subarray(['Later', 'Work', '$Custom']);
const flags = fc.nat(31);
/** An email; `isMany`: all later ones as well. */
const emails = { email: index, isMany: fc.boolean() };

const call = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('add' as const), folder: index, flags, keywords }) },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('setFlags' as const),
      ...emails,
      flags,
      keywords: fc.option(keywords),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('setDeleted' as const),
      ...emails,
      folder: index,
      isDeleted: fc.boolean(),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constantFrom('place' as const, 'unplace' as const), ...emails, folder: index }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('remove' as const), ...emails }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constantFrom('createFolder' as const, 'changeFolder' as const, 'deleteFolder' as const),
      folder: index,
      role: fc.constantFrom('label' as const, 'folder' as const),
      isSubscribed: fc.boolean(),
    }),
  },
);
type Call = typeof call extends fc.Arbitrary<infer T> ? T : never;

/** Emails and folders by the numbers that calls use, those of the batch included. */
interface Known {
  readonly emails: string[];
  number: number;
}

function make(tx: MailboxTransaction, next: Call, known: Known): void {
  const folders = tx.folders.rows();
  const first = 'email' in next ? known.emails.length - 1 - next.email : -1;
  const chosen = 'email' in next ? known.emails.slice(Math.max(first, 0), next.isMany ? undefined : first + 1) : [];
  const slots = chosen.map((id) => tx.find(id)).filter((slot) => slot >= 0);
  const folder = 'folder' in next ? folders[next.folder % folders.length]! : folders[0]!;
  const inside = slots.filter((slot) => tx.folders.uid(folder.id, slot) !== 0);
  const archive = tx.folders.rowOf('archive').id;
  switch (next.kind) {
    case 'add': {
      tx.begin();
      const id = tx.newId();
      known.emails.push(id);
      const blob = createHash('sha256').update(id).digest('hex');
      const email = { ...EMAIL, id, blob, threadId: id, flags: next.flags, keywords: next.keywords };
      tx.add({ ...email, receivedAt: known.number++ % 5 }, [folder.id], { isNew: true });
      return;
    }
    case 'setFlags': {
      const names = next.keywords?.toSorted().join();
      const isSame = (slot: number) =>
        next.flags === tx.flags(slot) && (names === undefined || names === tx.keywords(slot).toSorted().join());
      if (slots.every(isSame)) return;
      tx.begin();
      tx.setFlags(slots, next.flags, next.keywords ?? undefined);
      return;
    }
    case 'setDeleted':
      if (inside.every((slot) => tx.isDeleted(slot, folder.id) === next.isDeleted)) return;
      tx.begin();
      tx.setDeleted(inside, folder.id, next.isDeleted);
      return;
    case 'place':
      if (slots.length === inside.length) return;
      tx.begin();
      tx.place(
        slots.filter((slot) => !inside.includes(slot)),
        folder.id,
      );
      return;
    case 'unplace':
      if (inside.length === 0) return;
      tx.begin();
      tx.unplace(inside, folder.id);
      tx.place(
        inside.filter((slot) => tx.folders.holding(slot).length === 0),
        archive,
      );
      return;
    case 'remove':
      if (slots.length === 0) return;
      tx.begin();
      tx.remove(slots);
      return;
    case 'createFolder': {
      const uidValidity = tx.begin();
      const name = `${next.role} ${known.number++}`;
      const color = '#000000';
      const { role, isSubscribed } = next;
      tx.createFolder({ id: tx.otherId(), role, name, color, sortOrder: 0, uidValidity, isSubscribed, createdAt: 1 });
      return;
    }
    case 'changeFolder':
      if (folder.role !== 'label' && folder.role !== 'folder') return;
      tx.begin();
      tx.changeFolder(folder.id, { name: `changed ${known.number++}`, isSubscribed: next.isSubscribed });
      return;
    case 'deleteFolder':
      if (folder.role !== 'label' && folder.role !== 'folder') return;
      tx.begin();
      deleteIntoArchive(tx, folder.id, archive);
  }
}

const EMAIL = {
  messageId: null,
  inReplyTo: null,
  references: [],
  fromAddress: 'a@b.test',
  fromName: 'A',
  subject: 's',
  preview: '',
  size: 10,
  hasAttachments: false,
  attachmentCount: 0,
};

/** Returns what the view contains of every email and folder; ids of removed emails are left out. */
function viewOf(tx: MailboxTransaction, ids: readonly string[]) {
  const slots = ids.map((id) => tx.find(id)).filter((slot) => slot >= 0);
  return {
    folders: tx.folders.rows().sort((a, b) => (a.id < b.id ? -1 : 1)),
    emails: slots.map((slot) => ({
      id: tx.id(slot),
      flags: tx.flags(slot),
      keywords: tx.keywords(slot),
      placements: tx.folders
        .holding(slot)
        .map((folderId) => [folderId, tx.folders.uid(folderId, slot), tx.isDeleted(slot, folderId)])
        .sort(),
    })),
  };
}

let time = Date.UTC(2026, 0, 1);
const transaction = (state: MailboxState) =>
  new MailboxTransaction(state, { ...CONTEXT, now: time++, random: (octets) => randomBytesOf(octets) });
const randomBytesOf = (octets: number) => Buffer.from(randomUUID().replaceAll('-', ''), 'hex').subarray(0, octets);

async function check(
  t: ExecutionContext,
  world: MailboxWorld,
  accountId: string,
  state: MailboxState,
  modseqs: number[],
) {
  const [whole, byCommit, byCommand] = [
    await freshAccount(world),
    await freshAccount(world),
    await freshAccount(world),
  ];
  const change = replayed(whole.state, await logOf(world, accountId, whole.id));
  if (change !== undefined) whole.state.evolve(change);
  t.deepEqual(snapshotOf(whole.state), snapshotOf(state), 'from the log as one list');
  await replayInto(world, byCommit, cutAfter(await logOf(world, accountId, byCommit.id), modseqs));
  const tables = await tablesOf(world, accountId);
  t.deepEqual(await tablesOf(world, byCommit.id), tables, 'from the log as it was committed');
  const log = await logOf(world, accountId, byCommand.id);
  await replayInto(world, byCommand, cutAfter(log, [...new Set(log.map(({ seq }) => seq))]));
  const { expunged, ...others } = await tablesOf(world, byCommand.id);
  const { expunged: coalescedExpunged, ...coalescedOthers } = tables;
  t.deepEqual(others, coalescedOthers, 'from the log command by command');
  t.true(coalescedExpunged!.every((row) => expunged!.includes(row)));
}

test('the view of a batch is the state after it, and the log of batches gives the same mailbox', async (t) => {
  const world = await mailboxWorld();
  t.teardown(world.end);
  const batch = fc.array(call, { minLength: 1, maxLength: 15 });
  await fc.assert(
    fc.asyncProperty(fc.array(batch, { minLength: 1, maxLength: 6 }), fc.boolean(), async (batches, reloads) => {
      let { id: accountId, state } = await freshAccount(world);
      const known: Known = { emails: [], number: 0 };
      const modseqs: number[] = [];
      for (const calls of batches) {
        const tx = transaction(state);
        for (const next of calls) make(tx, next, known);
        const view = viewOf(tx, known.emails);
        const change = tx.change([]);
        if (change === undefined) continue;
        t.is((await world.store.commit(change)).kind, 'committed');
        state.evolve(change);
        modseqs.push(change.modseqAfter);
        t.deepEqual(viewOf(transaction(state), known.emails), view);
        if (!reloads) continue;
        const loaded = await loadMailbox(world.store, accountId, CONTEXT.epoch);
        if (loaded.kind !== 'loaded') throw new Error(loaded.kind);
        t.deepEqual(snapshotOf(loaded.state), snapshotOf(state), 'a fresh owner loads the same');
        state = loaded.state;
      }
      await checkRows(world, t, accountId);
      await check(t, world, accountId, state, modseqs);
    }),
    { numRuns: runs(25) },
  );
});
