// Tests the spool: octets come out unchanged, from memory and from a file, and all memory and disk is released.
import { createHash } from 'node:crypto';
import { readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { temporaryDirectory } from '../../../dev/temporary-directory.js';
import { asSpoolFault } from '../../../src/message-content/spool/errors.js';
import {
  prepareSpool,
  Spool,
  type SpooledContent,
  type SpoolOptions,
} from '../../../src/message-content/spool/spool.js';
import test from '../../support/test.js';

async function newSpool(options: Partial<SpoolOptions> = {}): Promise<Spool> {
  const directory = join(temporaryDirectory('mansio-spool-'), 'spool');
  await prepareSpool(directory);
  return new Spool({ directory, ...options });
}

async function bytes(content: SpooledContent): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of content.chunks()) pieces.push(piece);
  return Buffer.concat(pieces);
}

test('bytes, hash and size survive any cutting, in memory and beyond it; twice readable', async (t) => {
  const spool = await newSpool({ inMemory: 3000 });
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 0, max: 1500 }), { maxLength: 10 }), async (sizes) => {
      const chunks = sizes.map((size, i) => Buffer.alloc(size, i + 1));
      const all = Buffer.concat(chunks);
      const writer = spool.writer('a');
      for (const chunk of chunks) await writer.write(chunk);
      const content = await writer.finish();
      const same = (await bytes(content)).equals(all) && (await bytes(content)).equals(all);
      content.release();
      content.release();
      const hash = createHash('sha256').update(all).digest('hex');
      return same && content.size === all.length && content.hash === hash && spool.memory.used === 0;
    }),
  );
  t.deepEqual(readdirSync(spool.directory), []);
});

test('larger than the staging buffer, in pieces larger than it', async (t) => {
  const spool = await newSpool();
  const piece = Buffer.alloc(200_000, 'y');
  const writer = spool.writer('a');
  for (let i = 0; i < 10; i++) await writer.write(piece);
  t.true(spool.memory.used < 300_000);
  const content = await writer.finish();
  t.true((await bytes(content)).equals(Buffer.concat(new Array<Buffer>(10).fill(piece))));
  content.release();
  t.is(spool.memory.used, 0);
});

test('finishing waits for the last write', async (t) => {
  const spool = await newSpool();
  for (const size of [10, 30_000, 300_000]) {
    const writer = spool.writer('a');
    await writer.write(Buffer.alloc(size, 'a'));
    await writer.write(Buffer.alloc(50_000, 'b'));
    void writer.write(Buffer.alloc(60_000, 'c'));
    const content = await writer.finish();
    const all = await bytes(content);
    t.is(all.length, size + 110_000);
    t.is(createHash('sha256').update(all).digest('hex'), content.hash);
    content.release();
  }
});

test('discarded while the disk works', async (t) => {
  const spool = await newSpool();
  for (let turns = 0; turns < 40; turns++) {
    const writer = spool.writer('a');
    for (let i = 0; i < 4; i++) await writer.write(Buffer.alloc(60_000));
    const written = writer.write(Buffer.alloc(60_000))?.catch(() => undefined);
    for (let i = 0; i < turns; i++) await new Promise(setImmediate);
    writer.discard();
    await written;
    t.is(spool.memory.used, 0);
  }
  t.deepEqual(readdirSync(spool.directory), []);
});

test('single octets do not each keep a buffer', async (t) => {
  const spool = await newSpool();
  const writer = spool.writer('a');
  for (let i = 0; i < 20_000; i++) await writer.write(Buffer.from([i & 0xff]));
  const content = await writer.finish();
  t.is([...(content.chunks() as Iterable<Uint8Array>)].length, 3);
  t.is((await bytes(content)).length, 20_000);
  content.release();
});

test('what a holder has above its share goes into files, and so does all that is above the bound', async (t) => {
  const spool = await newSpool({ memoryLimit: 100_000, memoryShare: 40_000 });
  const [first, second, third, fourth] = ['a', 'a', 'b', 'c'].map((holder) => spool.writer(holder));
  await first!.write(Buffer.alloc(30_000, 1));
  await second!.write(Buffer.alloc(30_000, 2));
  t.is(spool.memory.used, 30_000);
  await third!.write(Buffer.alloc(40_000, 3));
  t.is(spool.memory.used, 70_000);
  await fourth!.write(Buffer.alloc(30_001, 4));
  await fourth!.write(Buffer.alloc(10, 4));
  t.is(spool.memory.used, 70_000);
  const written = [first, second, third, fourth];
  const contents = await Promise.all(written.map((writer) => writer!.finish()));
  const expected = [30_000, 30_000, 40_000, 30_011].map((size, i) => Buffer.alloc(size, i + 1));
  for (const [i, content] of contents.entries()) t.true((await bytes(content)).equals(expected[i]!));
  for (const content of contents) content.release();
  t.is(spool.memory.used, 0);
});

test('a directory that was removed while the node runs is made again', async (t) => {
  const spool = await newSpool({ inMemory: 10 });
  rmSync(spool.directory, { recursive: true });
  const writers = [spool.writer('a'), spool.writer('a')];
  await Promise.all(writers.map((writer) => writer.write(Buffer.alloc(100, 'x'))));
  for (const writer of writers) {
    const content = await writer.finish();
    t.is((await bytes(content)).toString(), 'x'.repeat(100));
    content.release();
  }
  t.is(statSync(spool.directory).mode & 0o777, 0o700);
});

test('a holder has a share of the disk too, and others have theirs', async (t) => {
  const spool = await newSpool({ inMemory: 1000, diskShare: 100_000 });
  const [first, second, other] = ['a', 'a', 'b'].map((holder) => spool.writer(holder));
  await first!.write(Buffer.alloc(60_000));
  await second!.write(Buffer.alloc(30_000));
  await second!.write(Buffer.alloc(10_000));
  await t.throwsAsync(async () => first!.write(Buffer.alloc(1)), {
    name: 'SpoolFault',
    message: /share of the spool's/,
  });
  await other!.write(Buffer.alloc(100_000));
  first!.discard();
  await second!.write(Buffer.alloc(60_000));
  second!.discard();
  other!.discard();
  t.is(spool.disk.used, 0);
  t.is(spool.memory.used, 0);
});

test('the files of all have half of the free disk, and one holder half of that', async (t) => {
  let free = 1_000_000;
  const spool = await newSpool({ inMemory: 1000, freeDisk: async () => free });
  const [first, second, third] = [spool.writer('a'), spool.writer('b'), spool.writer('c')];
  await first.write(Buffer.alloc(200_000));
  free -= 200_000;
  await t.throwsAsync(async () => first.write(Buffer.alloc(60_000)), { message: /share of the spool's disk/ });
  await second.write(Buffer.alloc(240_000));
  free -= 240_000;
  await t.throwsAsync(async () => third.write(Buffer.alloc(70_000)), {
    name: 'SpoolFault',
    message: /half of the free disk/,
  });
  // Other programs fill the disk: the spool counts only what is still free.
  free = 0;
  const late = spool.writer('d');
  await t.throwsAsync(async () => late.write(Buffer.alloc(300_000)), { name: 'SpoolFault' });
  for (const writer of [first, second, third, late]) writer.discard();
  t.is(spool.disk.used, 0);
  free = 1_000_000;
  const content = spool.writer('a');
  await content.write(Buffer.alloc(200_000));
  (await content.finish()).release();
});

test('a header that is replaced at the end, in memory and in a file', async (t) => {
  const spool = await newSpool({ inMemory: 3000 });
  const property = fc.asyncProperty(
    fc.array(fc.integer({ min: 0, max: 900 }), { maxLength: 8 }),
    fc.integer({ min: 0, max: 4000 }),
    async (sizes, from) => {
      const all = Buffer.concat(sizes.map((size, i) => Buffer.alloc(size, i + 65)));
      const writer = spool.bodyWriter('a');
      let at = 0;
      for (const size of sizes) {
        await writer.write(all.subarray(at, at + size));
        at += size;
      }
      const read: Uint8Array[] = [];
      for await (const piece of writer.read(from)) read.push(piece);
      const content = await writer.finish(Buffer.from('new'), from);
      const expected = Buffer.concat([Buffer.from('new'), all.subarray(from)]);
      const isSame = (await bytes(content)).equals(expected) && Buffer.concat(read).equals(all.subarray(from));
      content.release();
      return isSame && content.size === expected.length && spool.memory.used === 0;
    },
  );
  await t.notThrowsAsync(fc.assert(property));
});

test('a spool that cannot be written is a fault, and nothing stays behind', async (t) => {
  const spool = await newSpool({ inMemory: 10 });
  rmSync(spool.directory, { recursive: true });
  writeFileSync(spool.directory, 'no directory');
  const writer = spool.writer('a');
  await t.throwsAsync(async () => writer.write(Buffer.alloc(100)), { name: 'SpoolFault' });
  writer.discard();
  t.is(spool.memory.used, 0);
  t.is(asSpoolFault(Object.assign(new Error('full'), { code: 'ENOSPC' })).code, 'spool-full');
  t.is(asSpoolFault(Object.assign(new Error('gone'), { code: 'ENOENT' })).code, 'spool-failed');
});

test('preparing removes what a killed process left, and only that', async (t) => {
  const spool = await newSpool();
  writeFileSync(join(spool.directory, '1-1.spool'), 'x');
  writeFileSync(join(spool.directory, 'note'), 'x');
  await prepareSpool(spool.directory);
  t.deepEqual(readdirSync(spool.directory), ['note']);
});
