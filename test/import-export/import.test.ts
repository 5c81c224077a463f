// Tests an import into a fake store: what is skipped, what fails alone, how far a source is read, when reading waits.

import { type ImportCounts, importMail } from '../../src/import-export/import.js';
import type { SourceItem } from '../../src/import-export/source.js';
import { blobOf } from '../../src/store/blobs.js';
import { StoreFault } from '../../src/store/errors.js';
import type { ImportStore } from '../../src/store/imports.js';
import type { Limits } from '../../src/store/limits/quotas.js';
import test from '../support/test.js';

const message = (text: string, folder = 'A', isCopy = false): SourceItem => ({
  kind: 'message',
  where: text,
  folder,
  bytes: Buffer.from(`Subject: ${text}\r\nDate: Sat, 3 Feb 2001 04:05:06 +0000\r\n\r\n`),
  receivedAt: undefined,
  flags: [],
  isCopy,
});

const checkpoint = (uid: number, source = 's'): SourceItem => ({ kind: 'checkpoint', source, uidValidity: 1, uid });

function played() {
  const rows: {
    folder: string;
    hash: string;
    receivedAt: number;
    label: string | undefined;
    flags: readonly string[];
  }[] = [];
  const positions: number[] = [];
  const refused = new Set<string>();
  const store = {
    rows,
    positions,
    refused,
    waits: 0,
    fault: undefined as StoreFault | undefined,
    asked: 0,
  };
  const imports: ImportStore = {
    async present(_, folder, hashes) {
      const there = rows.filter((row) => folder === undefined || row.folder === folder).map(({ hash }) => hash);
      return new Set(hashes.filter((hash) => there.includes(hash)));
    },
    async add(_, messages) {
      if (store.fault !== undefined) throw store.fault;
      if (messages.some(({ envelope }) => refused.has(envelope.summary.subject)))
        throw new StoreFault('store-failed', 'refused', { temporary: false });
      let added = 0;
      for (const { content, envelope } of messages) {
        const { folder, receivedAt, label, flags } = envelope;
        if (rows.some((row) => row.folder === folder && row.hash === content.hash)) continue;
        rows.push({ folder, hash: content.hash, receivedAt, label, flags });
        added++;
      }
      return added;
    },
    async waiting() {
      store.asked++;
      return Math.max(0, store.waits--);
    },
    waitingUse: async () => ({ bytes: 0, messages: 0 }),
    accounts: async () => [],
    next: async () => [],
    position: async () => undefined,
    async setPosition(_, _source, { uid }) {
      positions.push(uid);
    },
  };
  const failed: string[] = [];
  const run = (items: Iterable<SourceItem>, label?: string, isServed = true, room?: Limits): Promise<ImportCounts> =>
    importMail({
      imports,
      accountId: 'a',
      source: {
        async *items() {
          yield* items;
        },
        progress: { done: 0, total: 0 },
      },
      label,
      ...(room && { room }),
      isServed: async () => isServed,
      failed: (where, problem) => failed.push(`${where}: ${problem}`),
      progressed() {},
    });
  return { store, run, failed };
}

test('what is there is skipped, and a copy of what is anywhere', async (t) => {
  const { store, run } = played();
  const items = [message('a'), message('b'), message('a'), message('a', 'B'), { kind: 'skip', count: 5 } as const];
  t.deepEqual(await run(items, 'L'), { imported: 3, skipped: 6, failed: 0, waiting: 0 });
  t.true(store.rows.every(({ label, receivedAt }) => label === 'L' && receivedAt === Date.UTC(2001, 1, 3, 4, 5, 6)));
  t.deepEqual(await run(items), { imported: 0, skipped: 9, failed: 0, waiting: 0 });
  const copies = [message('a', 'All', true), message('c', 'All', true)];
  t.deepEqual(await run(copies), { imported: 1, skipped: 1, failed: 0, waiting: 0 });
  t.deepEqual(store.rows.map(({ folder, hash }) => [folder, hash]).at(-1), [
    'All',
    blobOf((copies[1] as { bytes: Uint8Array }).bytes).hash,
  ]);
});

test('an import ends at the first message that would exceed the quota, and goes on there when there is room', async (t) => {
  const { store, run } = played();
  const items = [message('a'), checkpoint(1), message('b'), message('c'), message('d'), checkpoint(4)];
  const full = await run(items, undefined, true, { bytes: null, messages: 2 });
  t.deepEqual(full, { imported: 2, skipped: 0, failed: 0, waiting: 0, isFull: true });
  t.deepEqual(store.positions, [1]);
  const size = (items[0] as { bytes: Uint8Array }).bytes.length;
  const next = await run(items, undefined, true, { bytes: size, messages: null });
  t.deepEqual(next, { imported: 1, skipped: 2, failed: 0, waiting: 0, isFull: true });
  const rest = await run(items, undefined, true, { bytes: null, messages: null });
  t.deepEqual(rest, { imported: 1, skipped: 3, failed: 0, waiting: 0 });
  t.deepEqual(store.positions.at(-1), 4);
});

test('a message that the store refuses fails alone, and the source is not taken further', async (t) => {
  const { store, run, failed } = played();
  store.refused.add('b');
  const items = [
    message('a'),
    checkpoint(1),
    message('b'),
    message('c'),
    checkpoint(3),
    message('d'),
    checkpoint(4),
    message('e'),
    checkpoint(5, 'other'),
  ];
  t.deepEqual(await run(items), { imported: 4, skipped: 0, failed: 1, waiting: 0 });
  t.deepEqual(failed, ['b: refused']);
  t.deepEqual(store.positions, [1, 5], 'another source is');
  store.refused.clear();
  t.deepEqual(await run(items), { imported: 1, skipped: 4, failed: 0, waiting: 0 });
  t.deepEqual(store.positions, [1, 5, 1, 3, 4, 5]);
});

test('a store that is away ends the import, and a source that fails too', async (t) => {
  const { store, run } = played();
  for (const fault of [
    new StoreFault('store-unavailable', 'away', { temporary: true }),
    new StoreFault('store-conflict', 'gone', { temporary: false }),
  ]) {
    store.fault = fault;
    await t.throwsAsync(run([message('a'), message('b')]), { is: fault });
  }
  store.fault = undefined;
  const broken = (function* () {
    yield message('a');
    throw new Error('cut');
  })();
  await t.throwsAsync(run(broken), { message: 'cut' });
  t.is(store.rows.length, 1, 'what was read before is written');
});

test('with a node at work the import waits until all is placed, without one it does not', async (t) => {
  const { store, run } = played();
  store.waits = 5;
  t.is((await run([message('a')])).waiting, 0);
  t.true(store.asked >= 6);
  store.waits = 5;
  t.is((await run([message('b')], undefined, false)).waiting, 4, 'asked once after the batch, once at the end');
});

test('many messages are read no further than a batch ahead of what is written', async (t) => {
  const { store, run } = played();
  let read = 0;
  let most = 0;
  const many = (function* () {
    for (; read < 5_000; read++) {
      most = Math.max(most, read - store.rows.length);
      yield message(`${read}`);
    }
  })();
  t.is((await run(many)).imported, 5_000);
  t.true(most <= 3_000, `${most} ahead`);
});

test('a date that no mail may have gives way to that of the header', async (t) => {
  const { store, run } = played();
  const dated = (text: string, receivedAt: number): SourceItem => ({ ...message(text), receivedAt }) as SourceItem;
  await run([dated('a', Number.NaN), dated('b', -1e14), dated('c', Date.UTC(12000, 0)), dated('d', 0)]);
  const header = Date.UTC(2001, 1, 3, 4, 5, 6);
  t.deepEqual(
    store.rows.map(({ receivedAt }) => receivedAt),
    [header, header, header, 0],
  );
});

test('names that no flag may have are left out, and the message is taken', async (t) => {
  const { store, run, failed } = played();
  const flags = ['\\Seen', '\\deleted', 'work', 'a\0b', 'Zoë', '\ud800', 'two words', '\\Recent', 'x'.repeat(101), ''];
  const [each] = [message('flags')];
  t.is((await run([{ ...each, flags } as SourceItem])).imported, 1);
  t.deepEqual([store.rows[0]?.flags, failed], [['\\Seen', '\\deleted', 'work'], []]);
});
