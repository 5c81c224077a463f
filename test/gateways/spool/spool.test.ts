// The spool: what comes out is what went in, in memory and in a file, and everything is given back.
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import fc from 'fast-check';
import { asSpoolFault } from '../../../src/gateways/spool/errors.js';
import { prepareSpool, Spool, type SpooledContent, type SpoolOptions } from '../../../src/gateways/spool/spool.js';

async function newSpool(options: Partial<SpoolOptions> = {}): Promise<Spool> {
  const directory = join(mkdtempSync(join(tmpdir(), 'mansio-spool-')), 'spool');
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
      const writer = spool.writer();
      for (const chunk of chunks) await writer.write(chunk);
      const content = await writer.finish();
      const same = (await bytes(content)).equals(all) && (await bytes(content)).equals(all);
      content.release();
      content.release();
      const hash = createHash('sha256').update(all).digest('hex');
      return same && content.size === all.length && content.hash === hash && spool.reserved === 0;
    }),
  );
  t.deepEqual(readdirSync(spool.directory), []);
});

test('larger than the staging buffer, in pieces larger than it', async (t) => {
  const spool = await newSpool();
  const piece = Buffer.alloc(200_000, 'y');
  const writer = spool.writer();
  for (let i = 0; i < 10; i++) await writer.write(piece);
  t.true(spool.reserved < 300_000);
  const content = await writer.finish();
  t.true((await bytes(content)).equals(Buffer.concat(new Array<Buffer>(10).fill(piece))));
  content.release();
  t.is(spool.reserved, 0);
});

test('finishing waits for the last write', async (t) => {
  const spool = await newSpool();
  for (const size of [10, 30_000, 300_000]) {
    const writer = spool.writer();
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
    const writer = spool.writer();
    for (let i = 0; i < 4; i++) await writer.write(Buffer.alloc(60_000));
    const written = writer.write(Buffer.alloc(60_000))?.catch(() => undefined);
    for (let i = 0; i < turns; i++) await new Promise(setImmediate);
    writer.discard();
    await written;
    t.is(spool.reserved, 0);
  }
  t.deepEqual(readdirSync(spool.directory), []);
});

test('single octets do not each keep a buffer', async (t) => {
  const spool = await newSpool();
  const writer = spool.writer();
  for (let i = 0; i < 20_000; i++) await writer.write(Buffer.from([i & 0xff]));
  const content = await writer.finish();
  t.is([...(content.chunks() as Iterable<Uint8Array>)].length, 3);
  t.is((await bytes(content)).length, 20_000);
  content.release();
});

test('past the bound of all messages together: into a file first, then refused', async (t) => {
  const spool = await newSpool({ memoryLimit: 100_000 });
  const first = spool.writer();
  await first.write(Buffer.alloc(30_000));
  const second = spool.writer();
  await second.write(Buffer.alloc(80_000));
  t.is(spool.reserved, 30_000 + 65_536);
  const third = spool.writer();
  await t.throwsAsync(async () => third.write(Buffer.alloc(80_000)), { message: /memory of the spool/ });
  for (const writer of [first, second, third]) writer.discard();
  t.is(spool.reserved, 0);
});

test('a directory that was removed while the node runs is made again', async (t) => {
  const spool = await newSpool({ inMemory: 10 });
  rmSync(spool.directory, { recursive: true });
  const writers = [spool.writer(), spool.writer()];
  await Promise.all(writers.map((writer) => writer.write(Buffer.alloc(100, 'x'))));
  for (const writer of writers) {
    const content = await writer.finish();
    t.is((await bytes(content)).toString(), 'x'.repeat(100));
    content.release();
  }
  t.is(statSync(spool.directory).mode & 0o777, 0o700);
});

test('a spool that cannot be written is a fault, and nothing stays behind', async (t) => {
  const spool = await newSpool({ inMemory: 10 });
  rmSync(spool.directory, { recursive: true });
  writeFileSync(spool.directory, 'no directory');
  const writer = spool.writer();
  await t.throwsAsync(async () => writer.write(Buffer.alloc(100)), { name: 'SpoolFault' });
  writer.discard();
  t.is(spool.reserved, 0);
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
