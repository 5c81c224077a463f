import fc from 'fast-check';
import {
  createMessageSource,
  type FolderKey,
  type Message,
} from '../../../../src/gateways/imap/messages/message-source.js';
import { StoreFault } from '../../../../src/store/errors.js';
import { runs } from '../../../support/amounts.js';
import test from '../../../support/test.js';
import { FakeFolderStore } from './fake-folder-store.js';

const INBOX: FolderKey = { accountId: 'a', folderId: 'inbox' };
const MIB = 1024 * 1024;
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i);
const uidsOf = (messages: readonly Message[]) => messages.map(({ uid }) => uid);

function setUp(count = 0, maxOctets = 64 * MIB) {
  const store = new FakeFolderStore();
  for (let uid = 1; uid <= count; uid++) store.add(INBOX.folderId, uid);
  return { store, source: createMessageSource({ store, maxOctets }) };
}

test('messages come in the order of their UIDs, and those that are kept come at once', async (t) => {
  const { store, source } = setUp(300);
  store.folder('inbox').delete(150);
  const all = range(1, 400);
  const there = [...range(1, 149), ...range(151, 300)];
  const needs = { header: true, index: true };
  const read = source.read(INBOX, all, needs);
  t.false(Array.isArray(read));
  t.deepEqual(uidsOf(await read), there);
  for (const uids of [there, Uint32Array.from(there), [], [7, 299]]) {
    const kept = source.read(INBOX, uids, needs);
    t.true(Array.isArray(kept));
    t.deepEqual(uidsOf(await kept), [...uids]);
  }
});

test('a message has its facts, and of its octets what was asked for', async (t) => {
  const { store, source } = setUp(9);
  const row = store.folder('inbox').get(2)!;
  const [facts] = await source.read(INBOX, [2], {});
  const { uid, emailId, threadId, blob, size, receivedAt, savedAt, preview } = facts!;
  const { header, indexJson, ...expected } = row;
  t.deepEqual({ uid, emailId, threadId, blob, size, receivedAt, savedAt, preview }, expected);
  t.throws(() => facts!.header, { message: /not asked for/ });
  t.throws(() => facts!.index, { message: /not asked for/ });
  const [, withHeader] = await source.read(INBOX, range(1, 9), { header: true });
  t.deepEqual(withHeader!.header, Buffer.from(header));
  t.throws(() => withHeader!.index, { message: /not asked for/ });
  const [whole] = await source.read(INBOX, [2], { index: true });
  t.deepEqual(whole!.index, JSON.parse(indexJson));
  t.deepEqual(whole!.header, Buffer.from(header));
});

test('a page that was read before knows of the UIDs that came since', async (t) => {
  const { store, source } = setUp(5);
  t.is((await source.read(INBOX, range(1, 9), {})).length, 5);
  store.add('inbox', 6);
  store.add('inbox', 200);
  t.deepEqual(uidsOf(await source.read(INBOX, [5, 6, 7, 200], {})), [5, 6, 200]);
});

test('a fault reaches whoever reads, and the next reading begins again', async (t) => {
  const { store, source } = setUp(10);
  store.pause = () => Promise.reject(new StoreFault('store-unavailable', 'down', { temporary: true }));
  const reads = [1, 2, 3].map(async () => source.read(INBOX, range(1, 10), {}));
  for (const read of reads) await t.throwsAsync(read, { instanceOf: StoreFault });
  store.pause = async () => {};
  t.is((await source.read(INBOX, range(1, 10), {})).length, 10);
});

test('batches give all messages, at most a page each', async (t) => {
  const { store, source } = setUp(1_000);
  store.folder('inbox').delete(500);
  const taken: number[] = [];
  for await (const messages of source.batches(INBOX, range(1, 1_100), { index: true })) {
    t.true(messages.length <= 128);
    taken.push(...uidsOf(messages));
  }
  t.deepEqual(taken, [...range(1, 499), ...range(501, 1_000)]);
});

test('a batch that is left early lets the fault of the next one pass', async (t) => {
  const { store, source } = setUp(1_000);
  for await (const messages of source.batches(INBOX, range(1, 1_000), {})) {
    t.is(messages.length, 32);
    store.pause = () => Promise.reject(new StoreFault('store-unavailable', 'down', { temporary: true }));
    break;
  }
  await new Promise(setImmediate);
  t.pass();
});

test('batches of hostile messages are small: headers of 256 kB, 10,000 parts', async (t) => {
  const { store, source } = setUp(0, 16 * MIB);
  const long = `X-Long: ${'long '.repeat(52_000)}\r\n\r\n`;
  const parts = `Content-Type: multipart/mixed; boundary=b\r\n\r\n${'--b\r\n\r\npart\r\n'.repeat(10_000)}--b--\r\n`;
  const raws = [long, parts].map((raw) => Buffer.from(raw));
  for (let uid = 1; uid <= 200; uid++) store.add('inbox', uid, raws[uid % 2]);
  const sizes: number[] = [];
  let octets = 0;
  for await (const messages of source.batches(INBOX, range(1, 200), { header: true, index: true })) {
    sizes.push(messages.length);
    for (const message of messages) octets += message.header.length;
    for (const { uid, index } of messages) t.deepEqual(index.truncated, uid % 2 === 1 ? ['parts'] : []);
  }
  t.is(
    sizes.reduce((a, b) => a + b),
    200,
  );
  t.is(octets, 100 * (store.folder('inbox').get(1)!.header.length + store.folder('inbox').get(2)!.header.length));
  t.true(Math.max(...sizes.slice(2)) <= 20, sizes.join());
});

const step = fc.oneof(
  fc.record({ kind: fc.constant('add' as const), count: fc.nat(40) }),
  fc.record({ kind: fc.constant('expunge' as const), share: fc.nat(9) }),
  fc.record({
    kind: fc.constant('read' as const),
    from: fc.nat(400),
    every: fc.integer({ min: 1, max: 30 }),
    header: fc.boolean(),
    index: fc.boolean(),
    derives: fc.boolean(),
  }),
);

test('whatever is added, expunged and read meanwhile, a reading is as good as one without a cache', async (t) => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 40 }),
      fc.scheduler(),
      fc.boolean(),
      async (steps, scheduler, isSmall) => {
        const { store, source } = setUp(0, isSmall ? 60_000 : 64 * MIB);
        store.pause = () => scheduler.schedule(Promise.resolve());
        const folder = store.folder('inbox');
        let uidNext = 1;
        const readings: Promise<void>[] = [];
        const open = new Set<Set<number>>();
        for (const each of steps) {
          if (each.kind === 'add') for (let i = 0; i < each.count; i++) store.add('inbox', uidNext++);
          if (each.kind === 'expunge') {
            for (const uid of folder.keys()) {
              if (uid % 10 !== each.share) continue;
              folder.delete(uid);
              for (const lasting of open) lasting.delete(uid);
            }
          }
          if (each.kind === 'read') {
            const { header, index, derives, from, every } = each;
            const uids = range(0, 20).map((n) => 1 + from + n * every);
            // These messages are there from the beginning of the reading to its end.
            const lasting = new Set(uids.filter((uid) => folder.has(uid)));
            open.add(lasting);
            const needs = derives ? { header: ['h'], index: ['i'] } : { header, index };
            readings.push(
              (async () => {
                const messages = await source.read(INBOX, uids, needs);
                open.delete(lasting);
                const found = uidsOf(messages);
                t.deepEqual(
                  found,
                  [...new Set(found)].toSorted((a, b) => a - b),
                );
                for (const uid of lasting) t.true(found.includes(uid), `${uid}`);
                for (const message of messages) {
                  t.true(uids.includes(message.uid) && message.uid < uidNext);
                  t.is(message.emailId, `inbox-${message.uid}`);
                  const text = `Subject: inbox ${message.uid}\r\n\r\n`;
                  if (!derives && header) t.is(message.header.toString(), text);
                  if (!derives && index) t.is(message.index.envelope.subject, `inbox ${message.uid}`);
                  if (!derives) continue;
                  t.is(
                    message.derived('h', () => message.header.toString()),
                    text,
                  );
                  t.is(
                    message.derived('i', () => message.index.preview),
                    `body ${message.uid}`,
                  );
                }
              })(),
            );
          }
          if (scheduler.count() > 0) await scheduler.waitOne();
        }
        while (scheduler.count() > 0) await scheduler.waitAll();
        await Promise.race([Promise.all(readings), drained(scheduler)]);
        await Promise.all(readings);
      },
    ),
    { numRuns: runs(60) },
  );
});

/** Also releases statements that begin when others end. */
async function drained(scheduler: fc.Scheduler): Promise<void> {
  for (let idle = 0; idle < 20; idle++) {
    await new Promise(setImmediate);
    if (scheduler.count() === 0) continue;
    idle = 0;
    await scheduler.waitAll();
  }
}
