// Tests summaries in memory: after any change, lists, details and threads equal those of a freshly loaded mailbox.
// A control shows that the property notices a change that invalidates nothing.
import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { folderQueries } from '../../../../src/actors/mailbox/queries/folder-queries.js';
import { mailboxQueries } from '../../../../src/actors/mailbox/queries/queries.js';
import { loadMailbox, type MailboxState } from '../../../../src/actors/mailbox/state/state.js';
import { Summaries } from '../../../../src/actors/mailbox/state/summaries.js';
import type { BlobStore } from '../../../../src/store/blobs.js';
import { runs } from '../../../support/amounts.js';
import { startMemoryMailboxes } from '../../../support/memory-stores/memory-mailboxes.js';
import { memoryStores } from '../../../support/memory-stores/stores.js';
import { MemoryTables } from '../../../support/memory-stores/tables.js';
import { NO_SEARCH } from '../../../support/no-search.js';
import test from '../../../support/test.js';
import { blobOf, summary } from '../command-world.js';

const NO_BLOBS = { index: async () => undefined } as unknown as BlobStore;
const FOLDERS = ['inbox', 'archive', 'sent', 'trash'] as const;
const PAGE = { page: 1, pageSize: 4 };

const some = fc.array(fc.nat(12), { minLength: 1, maxLength: 3 });
const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('append' as const),
      folder: fc.constantFrom(...FOLDERS),
      /** The messages to which it refers, some of which arrive later. */
      refers: fc.array(fc.nat(14), { maxLength: 2 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('flag' as const),
      which: some,
      flag: fc.constantFrom('\\Seen', '\\Flagged', '\\Answered'),
      mode: fc.constantFrom('add' as const, 'remove' as const),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('move' as const), which: some, folder: fc.constantFrom(...FOLDERS) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('remove' as const), which: some }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('label' as const), which: some, label: fc.nat(2), on: fc.boolean() }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('rename' as const), label: fc.nat(2), name: fc.uuid() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('deleteLabel' as const), label: fc.nat(2) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('reload' as const) }) },
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

/** A loaded mailbox has its folders in another order. */
const inOrder = (name: string, value: unknown) => (name === 'folderIds' ? (value as string[]).toSorted() : value);

/** Returns the first difference between the mailbox and a freshly loaded one; undefined when there is none. */
async function differenceAfter(steps: readonly Step[], spread: number): Promise<string | undefined> {
  const tables = new MemoryTables();
  const account = tables.addAccount();
  const { mailboxes: store } = memoryStores(tables, NO_BLOBS);
  let reads = 0;
  /** Reads end some turns of the event loop later, so that commits happen meanwhile. */
  const late = async <T>(reading: Promise<T>): Promise<T> => {
    const result = await reading;
    for (let i = (reads++ * spread) % 4; i > 0; i--) await nextTurn();
    return result;
  };
  const { actors, reload, stop } = await startMemoryMailboxes(
    tables,
    NO_BLOBS,
    async () => '',
    (mailboxes) => ({
      ...mailboxes,
      summaries: (...of) => late(mailboxes.summaries(...of)),
      thread: (...of) => late(mailboxes.thread(...of)),
    }),
  );
  const mailbox = actors.of(account.id);
  const ids: string[] = [];
  const labels: string[] = [];
  for (const name of ['one', 'two', 'three']) {
    const { reply } = await mailbox.ask('createLabel', { name, color: '#000000', sortOrder: 0 });
    labels.push(reply!.id);
  }
  const chosen = (which: readonly number[]) => which.flatMap((i) => ids[i] ?? []);
  const folderOf = (role: string) => [...account.folders.values()].find((folder) => folder.role === role)!.id;
  let count = 0;

  async function take(next: Step): Promise<void> {
    switch (next.kind) {
      case 'append': {
        const of = summary(`mail ${count}`, `<${count++}@x>`);
        const references = next.refers.map((n) => `<${n}@x>`);
        const message = { blob: blobOf(randomUUID()), summary: { ...of, references }, receivedAt: count, flags: [] };
        const { reply } = await mailbox.ask('append', { folderId: folderOf(next.folder), messages: [message] });
        ids.push(reply!.emails[0]!.emailId);
        return;
      }
      case 'flag':
        await mailbox.ask('storeFlags', {
          selection: { emailIds: chosen(next.which) },
          mode: next.mode,
          flags: [next.flag],
        });
        return;
      case 'move': {
        const selection = { emailIds: chosen(next.which) };
        await mailbox.ask('move', { selection, toFolderId: folderOf(next.folder) });
        return;
      }
      case 'remove':
        await mailbox.ask('remove', { emailIds: chosen(next.which) });
        return;
      case 'label':
        for (const emailId of chosen(next.which)) {
          await mailbox.ask(next.on ? 'assignLabel' : 'unassignLabel', { emailId, labelId: labels[next.label]! });
        }
        return;
      case 'rename': {
        const shape = { name: next.name, color: '#ffffff', sortOrder: count };
        await mailbox.ask('updateLabel', { labelId: labels[next.label]!, ...shape });
        return;
      }
      case 'deleteLabel':
        await mailbox.ask('deleteLabel', { labelId: labels[next.label]! });
        return;
      case 'reload':
        reload();
    }
  }

  /** Returns everything that is shown: by the mailbox, and by queries without anything in memory. */
  async function shown(): Promise<readonly [unknown, unknown]> {
    const loaded = await loadMailbox(store, account.id, account.epoch);
    const state = (loaded as { readonly state: MailboxState }).state;
    const cold = { ...mailboxQueries(store, NO_SEARCH), ...folderQueries(store, NO_SEARCH) };
    const warm: unknown[] = [];
    const fresh: unknown[] = [];
    for (const folder of [...FOLDERS, ...labels]) {
      for (const groupByThread of [false, true]) {
        warm.push(await mailbox.ask('list', { folder, ...PAGE, groupByThread }));
        fresh.push(await cold.list(state, { folder, ...PAGE, groupByThread }));
      }
    }
    for (const id of ids) {
      warm.push(await mailbox.ask('detail', { emailId: id }), await mailbox.ask('thread', { threadId: id }));
      fresh.push(await cold.detail(state, { emailId: id }), await cold.thread(state, { threadId: id }));
    }
    return [warm, fresh];
  }

  try {
    for (const next of steps) {
      // Lists and threads are read while the change happens.
      const meanwhile = [...FOLDERS, ...labels].map((folder) => mailbox.ask('list', { folder, ...PAGE }));
      const threads = ids.map((threadId) => mailbox.ask('thread', { threadId }));
      const rows = FOLDERS.map((folder) => mailbox.ask('list', { folder, ...PAGE, groupByThread: true }));
      await Promise.all([take(next), ...meanwhile, ...threads, ...rows]);
      const [warm, fresh] = (await shown()).map((replies) => JSON.stringify(replies, inOrder));
      if (warm !== fresh) return `after ${JSON.stringify(next)}: ${warm} instead of ${fresh}`;
    }
    return undefined;
  } finally {
    await stop();
  }
}

const history = fc.array(step, { minLength: 1, maxLength: 14 });
const agrees = fc.asyncProperty(history, fc.nat(3), async (steps, spread) => {
  const difference = await differenceAfter(steps, spread);
  if (difference !== undefined) throw new Error(difference);
});

test.serial('lists, details and threads are those of a mailbox that has just been loaded', async (t) => {
  await t.notThrowsAsync(fc.assert(agrees, { numRuns: runs(60) }));
});

for (const name of ['evolve', 'threadsChanged'] as const) {
  test.serial(`control: without ${name} they are not`, async (t) => {
    const { [name]: whole } = Summaries.prototype;
    Summaries.prototype[name] = () => {};
    try {
      const { failed } = await fc.check(agrees, { numRuns: runs(300), endOnFailure: true });
      t.true(failed);
    } finally {
      Summaries.prototype[name] = whole as () => void;
    }
  });
}
