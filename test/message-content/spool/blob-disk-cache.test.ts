import { execFile } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { promisify } from 'node:util';
import type { ExecutionContext } from 'ava';
import fc from 'fast-check';
import { temporaryDirectory } from '../../../dev/temporary-directory.js';
import { BlobDiskCache } from '../../../src/message-content/spool/blob-disk-cache.js';
import { runs } from '../../support/amounts.js';
import test from '../../support/test.js';

const CAPACITY = 100_000;

async function openCache(t: ExecutionContext) {
  const directory = temporaryDirectory('mansio-cache-');
  const cache = await BlobDiskCache.open(directory, CAPACITY);
  t.teardown(() => cache.close());
  return { cache, directory };
}

function blob(octets: number): [hash: string, bytes: Buffer] {
  const bytes = randomBytes(octets);
  return [hashOf(bytes), bytes];
}

const hashOf = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

test('copies come back as they were, however many at a time, and the file has no name', async (t) => {
  const { cache, directory } = await openCache(t);
  const blobs = Array.from({ length: 50 }, (_, i) => blob(1 + i * 70));
  for (let i = 0; i < 50; i += 5) cache.keep(new Map(blobs.slice(i, i + 5)));
  await cache.settled();
  const hashes = blobs.map(([hash]) => hash);
  for (const wanted of [hashes, hashes.toReversed(), hashes.filter((_, i) => i % 7 === 0), [hashes[3]!, hashes[3]!]]) {
    const found = await cache.read([...wanted, 'not there']);
    t.deepEqual([...found.keys()].toSorted(), [...new Set(wanted)].toSorted());
    for (const [hash, bytes] of found) t.is(hashOf(bytes), hash);
  }
  t.deepEqual(await readdir(directory), []);
});

test('new copies go over the oldest ones', async (t) => {
  const { cache } = await openCache(t);
  const blobs = Array.from({ length: 30 }, () => blob(10_000));
  for (const each of blobs) {
    cache.keep(new Map([each]));
    await cache.settled();
  }
  const found = await cache.read(blobs.map(([hash]) => hash));
  t.deepEqual(
    [...found.keys()].toSorted(),
    blobs
      .slice(-10)
      .map(([hash]) => hash)
      .toSorted(),
  );
});

test('what is written over while it is read is not given out', async (t) => {
  const { cache } = await openCache(t);
  const first = Array.from({ length: 10 }, () => blob(9_000));
  const keepFirst = async () => {
    for (const each of first) cache.keep(new Map([each]));
    await cache.settled();
  };
  await keepFirst();
  for (let round = 0; round < 50; round++) {
    const [fresh, again] = [blob(30_000), blob(30_000)];
    const reading = cache.read(first.map(([hash]) => hash));
    cache.keep(new Map([fresh]));
    cache.keep(new Map([again]));
    for (const [hash, bytes] of await reading) t.is(hashOf(bytes), hash);
    await cache.settled();
    await keepFirst();
  }
});

test.serial('others have their turn before many copies that lie apart are read', async (t) => {
  const cache = await BlobDiskCache.open(temporaryDirectory('mansio-cache-'), 2_000_000);
  t.teardown(() => cache.close());
  const blobs = Array.from({ length: 40 }, () => blob(100));
  for (const each of blobs) cache.keep(new Map([each, blob(33_000)]));
  await cache.settled();
  // The clock makes the disk look slow for each file.
  const { now } = performance;
  let ms = now.call(performance);
  performance.now = () => ms++;
  t.teardown(() => Object.assign(performance, { now }));
  let isTurn = false;
  setImmediate(() => {
    isTurn = true;
  });
  const found = await cache.read(blobs.map(([hash]) => hash));
  t.true(isTurn);
  for (const [hash, bytes] of blobs) t.deepEqual(Buffer.from(found.get(hash)!), bytes);
});

test('what would fill half of the file, and what comes after the end, is not kept', async (t) => {
  const { cache } = await openCache(t);
  const [large, small] = [blob(CAPACITY / 2 + 1), blob(10)];
  cache.keep(new Map([large]));
  await cache.settled();
  t.is((await cache.read([large[0]])).size, 0);
  cache.keep(new Map([small]));
  await cache.close();
  cache.keep(new Map([small]));
  t.is((await cache.read([small[0]])).size, 0);
});

test('a disk that becomes full within a write leaves no copies', async (t) => {
  const directory = temporaryDirectory('mansio-cache-');
  const module = new URL('../../../src/message-content/spool/blob-disk-cache.js', import.meta.url).href;
  const script = `
    const { BlobDiskCache } = await import(${JSON.stringify(module)});
    const cache = await BlobDiskCache.open(${JSON.stringify(directory)}, ${CAPACITY});
    const found = [];
    for (const octets of [10_000, 12_000]) {
      cache.keep(new Map([['blob of ' + octets, new Uint8Array(octets)]]));
      await cache.settled();
      found.push((await cache.read(['blob of 10000'])).size);
    }
    console.log(JSON.stringify(found));`;
  // Files of that shell's programs have at most 16 kB: as on a full disk, the system writes the part that fits.
  const limited = 'ulimit -f 16 && exec "$0" --input-type=module --eval "$1"';
  const { stdout } = await promisify(execFile)('bash', ['-c', limited, process.execPath, script]);
  t.deepEqual(JSON.parse(stdout), [1, 0]);
});

const step = fc.record({
  sizes: fc.array(fc.integer({ min: 1, max: 9_000 }), { maxLength: 6 }),
  settles: fc.boolean(),
});

test('whatever is kept and read in whatever order, a copy is what was kept', async (t) => {
  const { cache } = await openCache(t);
  const known: string[] = [];
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 20 }), async (steps) => {
      const readings: Promise<Map<string, Uint8Array>>[] = [];
      for (const { sizes, settles } of steps) {
        const blobs = sizes.map(blob);
        cache.keep(new Map(blobs));
        known.push(...blobs.map(([hash]) => hash));
        if (settles) await cache.settled();
        readings.push(cache.read(known.slice(-40)));
        const last = blobs.at(-1)?.[0];
        if (settles && last !== undefined) t.true((await cache.read([last])).has(last));
      }
      for (const found of await Promise.all(readings)) {
        for (const [hash, bytes] of found) t.is(hashOf(bytes), hash);
      }
    }),
    { numRuns: runs(30) },
  );
});
