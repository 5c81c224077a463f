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
  const { length } = store.statements;
  t.true(length <= 4, 'a statement reads a page');
  for (const uids of [there, Uint32Array.from(there), [], [7, 299]]) {
    const kept = source.read(INBOX, uids, needs);
    t.true(Array.isArray(kept));
    t.deepEqual(uidsOf(await kept), [...uids]);
  }
  t.is(store.statements.length, length);
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
  t.is(store.statements.length, 3);
});

test('the header of a message alone comes with its index', async (t) => {
  const { store, source } = setUp(3);
  await source.read(INBOX, [2], { header: true });
  const [message] = await source.read(INBOX, [2], { header: true, index: true });
  t.deepEqual(message!.index, JSON.parse(store.folder('inbox').get(2)!.indexJson));
  t.is(store.statements.length, 1);
});

test('a page that was read before knows of the UIDs that came since', async (t) => {
  const { store, source } = setUp(5);
  t.is((await source.read(INBOX, range(1, 9), {})).length, 5);
  store.add('inbox', 6);
  store.add('inbox', 200);
  t.deepEqual(uidsOf(await source.read(INBOX, [5, 6, 7, 200], {})), [5, 6, 200]);
});

test('UIDs that lie far apart share statements', async (t) => {
  const { store, source } = setUp();
  const uids = range(1, 1000).map((n) => n * 4_000_000);
  for (const uid of uids) store.add('inbox', uid);
  t.deepEqual(uidsOf(await source.read(INBOX, uids, {})), uids);
  t.true(store.statements.length <= 8, `${store.statements.length}`);
  t.true(store.statements.every(({ uids: asked }) => asked.length <= 128));
});

test('many readers of one page at a time cause one statement, and an account two at a time', async (t) => {
  const { store, source } = setUp(2_000);
  let running = 0;
  let most = 0;
  store.pause = async () => {
    most = Math.max(most, ++running);
    await new Promise(setImmediate);
    running--;
  };
  const reads = await Promise.all(range(1, 50).map(() => source.read(INBOX, range(1, 2_000), { header: true })));
  for (const messages of reads) t.is(messages.length, 2_000);
  t.is(store.statements.length, Math.ceil(2_001 / 128));
  t.is(most, 2);
});

test('a fault reaches whoever reads, and the next reading begins again', async (t) => {
  const { store, source } = setUp(10);
  store.pause = () => Promise.reject(new StoreFault('store-unavailable', 'down', { temporary: true }));
  const reads = [1, 2, 3].map(async () => source.read(INBOX, range(1, 10), {}));
  for (const read of reads) await t.throwsAsync(read, { instanceOf: StoreFault });
  store.pause = async () => {};
  t.is((await source.read(INBOX, range(1, 10), {})).length, 10);
});

test('what is derived is made once, and stands for what it was made from', async (t) => {
  const { store, source } = setUp(5);
  const all = range(1, 5);
  let made = 0;
  const derive = (message: Message) =>
    message.derived('subject', () => {
      made++;
      return message.header.toString('latin1', 9, 17);
    });
  for (let i = 0; i < 3; i++) {
    const messages = await source.read(INBOX, all, { header: ['subject'] });
    t.deepEqual(
      messages.map(derive),
      all.map((n) => `inbox ${n}\r`),
    );
  }
  t.is(made, 5);
  t.is(store.statements.length, 1);
  t.deepEqual(uidsOf(await source.read(INBOX, [1], { header: ['subject'], index: ['structure'] })), [1]);
  t.is(store.statements.length, 2, 'the index is not there');
});

test('batches give all messages, at most a page each, and read ahead of whoever takes them', async (t) => {
  const { store, source } = setUp(1_000);
  store.folder('inbox').delete(500);
  const taken: number[] = [];
  let batches = 0;
  for await (const messages of source.batches(INBOX, range(1, 1_100), { index: true })) {
    batches++;
    t.true(messages.length <= 128);
    taken.push(...uidsOf(messages));
    if (batches === 2) t.true(store.statements.length >= 3, 'the third is under way');
  }
  t.deepEqual(taken, [...range(1, 499), ...range(501, 1_000)]);
  const { length } = store.statements;
  for await (const messages of source.batches(INBOX, range(501, 1_000), { index: true })) t.true(messages.length > 0);
  t.is(store.statements.length, length);
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
