// Tests blobs that are read from memory right after they were stored: their octets equal the store's, and no other blob is returned.

import fc from 'fast-check';
import { recentBlobs } from '../../../src/node/engine/recent-blobs.js';
import { type BlobContent, type BlobStore, blobOf } from '../../../src/store/blobs.js';
import { StoreFault } from '../../../src/store/errors.js';
import type { CommitResult, MailboxChange } from '../../../src/store/mailboxes.js';
import test from '../../support/test.js';

const MESSAGE = Buffer.from(`Subject: hello\r\n\r\n${'a line of it\r\n'.repeat(20)}`);

interface Stored {
  readonly content: BlobContent;
  readonly bytes: Buffer;
}

/** Returns a store in memory that counts the questions. */
function storeOf() {
  const stored = new Map<string, Stored>();
  const asked = { reads: 0, fault: undefined as Error | undefined };
  const bytesOf = (hash: string, start: number, end: number) => {
    asked.reads++;
    return stored.get(hash)!.bytes.subarray(start, end);
  };
  function mapOf<T>(hashes: readonly string[], of: (blob: Stored) => T): Map<string, T> {
    return new Map(hashes.flatMap((hash) => (stored.has(hash) ? [[hash, of(stored.get(hash)!)]] : [])));
  }
  const store: BlobStore = {
    async put(content) {
      if (asked.fault !== undefined) throw asked.fault;
      const pieces: Uint8Array[] = [];
      for await (const piece of content.chunks()) pieces.push(piece);
      stored.set(content.hash, { content, bytes: Buffer.concat(pieces) });
    },
    async index(hash) {
      asked.reads++;
      return stored.get(hash)?.content.index;
    },
    indexes: async (hashes) => {
      asked.reads++;
      return mapOf(hashes, ({ content }) => content.index);
    },
    read: async (hash, start, end) => bytesOf(hash, start, end),
    readRanges: async (hash, ranges) =>
      ranges.map(({ start, end }) => Uint8Array.prototype.slice.call(bytesOf(hash, start, end))),
    readAll: async (hashes) => {
      asked.reads++;
      return mapOf(hashes, ({ bytes }) => bytes);
    },
    async *stream(hash, start, end) {
      yield bytesOf(hash, start, end);
    },
    collect: async () => 0,
  };
  return { store, asked };
}

async function streamed(pieces: AsyncIterable<Uint8Array>): Promise<string> {
  const all: Uint8Array[] = [];
  for await (const piece of pieces) all.push(piece);
  return Buffer.concat(all).toString();
}

test('any part of what was just stored is as the store has it, and the store is not asked', async (t) => {
  const { store, asked } = storeOf();
  const blobs = recentBlobs(store);
  const content = blobOf(MESSAGE);
  await blobs.put(content);
  await fc.assert(
    fc.asyncProperty(fc.nat({ max: MESSAGE.length }), fc.nat({ max: MESSAGE.length }), async (a, b) => {
      const [start, end] = [Math.min(a, b), Math.max(a, b)];
      const wanted = MESSAGE.subarray(start, end).toString();
      t.is(Buffer.from(await blobs.read(content.hash, start, end)).toString(), wanted);
      t.is(await streamed(blobs.stream(content.hash, start, end)), wanted);
    }),
  );
  t.deepEqual(await blobs.index(content.hash), content.index);
  t.is(asked.reads, 0);
  t.is(Buffer.from(await store.read(content.hash, 0, content.size)).toString(), MESSAGE.toString());
});

test('a blob that came in pieces is kept by itself, whatever becomes of the memory that they are parts of', async (t) => {
  const { store, asked } = storeOf();
  const blobs = recentBlobs(store);
  const body = Buffer.from('Zoë 💌\r\n'.repeat(1_000));
  const memory = Buffer.alloc(10 * body.length);
  body.copy(memory, 7);
  const pieces = [new Uint8Array(MESSAGE), memory.subarray(7, 7 + body.length)];
  const whole = Buffer.concat(pieces);
  const content = { ...blobOf(whole), chunks: () => pieces };
  await blobs.put(content);
  memory.fill('x');
  asked.reads = 0;
  t.true((await blobs.readAll([content.hash])).get(content.hash)!.every((octet, i) => octet === whole[i]));
  t.is(Buffer.from(await blobs.read(content.hash, 3, whole.length - 1)).compare(whole, 3, whole.length - 1), 0);
  t.is(asked.reads, 0);
});

test('what the commit of a mailbox stores is read from memory once it is committed, and not before', async (t) => {
  const { store, asked } = storeOf();
  const blobs = recentBlobs(store);
  const [small, large] = [blobOf(MESSAGE), blobOf(Buffer.concat([MESSAGE, Buffer.alloc(100_000, 'x')]))];
  const committed: MailboxChange[] = [];
  let result: CommitResult = { kind: 'fenced' };
  const mailboxes = blobs.keptBy({
    async commit(change) {
      committed.push(change);
      t.is(await blobs.index(small.hash), undefined);
      return result;
    },
  });
  const change = { changes: [], contents: [small, large], shared: [] } as unknown as MailboxChange;
  t.deepEqual(await mailboxes.commit(change), result);
  t.is(await blobs.index(small.hash), undefined);
  result = { kind: 'committed' };
  t.deepEqual(await mailboxes.commit(change), result);
  // A change is recognised by its list of changes.
  t.true(committed.every(({ changes, contents }) => changes === change.changes && contents.length === 2));
  asked.reads = 0;
  t.deepEqual(await blobs.index(small.hash), small.index);
  t.is(Buffer.from(await blobs.read(small.hash, 0, small.size)).toString(), MESSAGE.toString());
  t.is(asked.reads, 0);
  t.is(await blobs.index(large.hash), undefined);
});

test('what could not be stored is not there, and what is large or was stored by others is read from the store', async (t) => {
  const { store, asked } = storeOf();
  const blobs = recentBlobs(store);
  asked.fault = new StoreFault('store-unavailable', 'away', { temporary: true });
  const lost = blobOf(MESSAGE);
  await t.throwsAsync(blobs.put(lost), { message: 'away' });
  asked.fault = undefined;
  t.is(await blobs.index(lost.hash), undefined);
  const large = blobOf(Buffer.concat([MESSAGE, Buffer.alloc(100_000, 'x')]));
  await blobs.put(large);
  asked.reads = 0;
  t.is((await blobs.read(large.hash, 0, large.size)).length, large.size);
  t.is((await streamed(blobs.stream(large.hash, 0, large.size))).length, large.size);
  await store.put(lost);
  t.is((await blobs.read(lost.hash, 0, 7)).length, 7);
  t.is(asked.reads, 3);
});

test('of several blobs those that were stored a moment ago are read from memory, the others from the store at once', async (t) => {
  const { store, asked } = storeOf();
  const blobs = recentBlobs(store);
  const [recent, older, large] = [
    blobOf(MESSAGE),
    blobOf(Buffer.concat([MESSAGE, MESSAGE])),
    blobOf(Buffer.alloc(100_000, 'x')),
  ];
  await store.put(older);
  await blobs.put(recent);
  await blobs.put(large);
  const hashes = [recent, older, large].map(({ hash }) => hash);
  asked.reads = 0;
  t.deepEqual(
    await blobs.indexes([...hashes, 'none']),
    new Map([recent, older, large].map(({ hash, index }) => [hash, index])),
  );
  t.is(asked.reads, 1);
  const read = await blobs.readAll(hashes);
  t.deepEqual(new Set(read.keys()), new Set(hashes));
  t.deepEqual(Buffer.from(read.get(recent.hash)!), MESSAGE);
  t.deepEqual(Buffer.from(read.get(older.hash)!), Buffer.concat([MESSAGE, MESSAGE]));
  t.is(asked.reads, 2);
  await blobs.indexes([recent.hash]);
  await blobs.readAll([recent.hash]);
  t.is(asked.reads, 2);
});
