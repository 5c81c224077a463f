import { createHash, randomBytes, randomUUID } from 'node:crypto';
import type { OctetRange } from '../../../../src/mail-format/message-index.js';
import { indexMessage } from '../../../../src/mail-format/mime-index/indexer.js';
import { summarize } from '../../../../src/mail-format/summary.js';
import type { BlobContent } from '../../../../src/store/blobs.js';
import { postgresDirectory } from '../../../../src/store/postgres/accounts/directory.js';
import { connect, type Sql, type SqlTransaction } from '../../../../src/store/postgres/driver/client.js';
import { postgresBlobs } from '../../../../src/store/postgres/mailbox/blobs.js';
import { postgresInbound } from '../../../../src/store/postgres/mailbox/inbound.js';
import { migratedDatabase, migratedSql, type Teardown } from '../../../support/database/embedded-database.js';
import test from '../../../support/test.js';

async function setUp(t: Teardown) {
  const { address } = await migratedDatabase(t);
  const sql = connect(address, { max: 4, applicationName: 'test' });
  const writerSql = connect(address, { max: 4, applicationName: 'test', byKey: true });
  t.teardown(async () => {
    await Promise.all([sql.end(), writerSql.end()]);
  });
  const { id: accountId } = await postgresDirectory(sql, 1).createAccount('blobs@example.test', 'x');
  return { sql, accountId, blobs: postgresBlobs(sql, writerSql), inbound: postgresInbound(sql, writerSql) };
}

const index = indexMessage(Buffer.from('Subject: x\r\n\r\nbody'));

/** Returns `bytes` in pieces of `piece` octets. */
function content(bytes: Buffer, piece = 10_007): BlobContent {
  return {
    hash: createHash('sha256').update(bytes).digest('hex'),
    size: bytes.length,
    index,
    *chunks() {
      for (let from = 0; from < bytes.length; from += piece) yield bytes.subarray(from, from + piece);
    },
  };
}

const envelope = { receivedAt: 1, summary: summarize(index) };

async function drain(source: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of source) pieces.push(piece);
  return Buffer.concat(pieces);
}

const ASCII = (size: number) => Buffer.alloc(size, 'mail is mostly ASCII; ');
const LATIN = (size: number) => Buffer.from(Array.from({ length: size }, (_, i) => (i % 255) + 1));
const SIZES = [1, 7_999, 8_000, 8_001, 16_000, 255_999, 256_000, 262_144, 262_145, 1_000_003];

test('bytes of every kind and size come back as they were, whole and in slices', async (t) => {
  const { blobs, inbound, accountId } = await setUp(t);
  for (const size of SIZES) {
    const kinds = [ASCII(size), LATIN(size), randomBytes(size)].map((bytes) => ({ bytes, stored: content(bytes) }));
    await Promise.all(kinds.map(({ stored }) => inbound.spool(stored, envelope, [{ accountId, id: randomUUID() }])));
    for (const { bytes, stored } of kinds) {
      t.true((await drain(blobs.stream(stored.hash, 0, size))).equals(bytes), `${size}`);
      for (let i = 0; i < 5; i++) {
        const [from, to] = [Math.floor(Math.random() * size), Math.floor(Math.random() * size)].sort((a, b) => a - b);
        t.true(
          Buffer.from(await blobs.read(stored.hash, from!, to!)).equals(bytes.subarray(from, to)),
          `${from} ${to}`,
        );
      }
      t.deepEqual(await blobs.index(stored.hash), index);
      t.deepEqual(await blobs.indexes([stored.hash, 'ff'.repeat(32)]), new Map([[stored.hash, index]]));
    }
  }
  t.is((await drain(blobs.stream('00'.repeat(32), 0, 0))).length, 0);
});

test('bytes that the database reads in different forms come back as they were, each by itself and together', async (t) => {
  const { blobs, inbound, accountId } = await setUp(t);
  const ascii = String.fromCharCode(...Array.from({ length: 127 }, (_, i) => i + 1)).replace('\\', '');
  const spool = (bytes: Buffer) => inbound.spool(content(bytes), envelope, [{ accountId, id: randomUUID() }]);
  const texts = [ascii, '\\x4142', '\\101\\\\\\', 'caf\u00e9', '\\\u00ff', 'a\0b\\', "'; \\'"];
  for (const suffix of [' alone', ' together']) {
    const all = texts.map((text) => Buffer.from(`${text}${suffix}`, 'latin1'));
    if (suffix === ' together') await Promise.all(all.map(spool));
    else for (const bytes of all) await spool(bytes);
    for (const bytes of all) {
      t.true(
        (await drain(blobs.stream(content(bytes).hash, 0, bytes.length))).equals(bytes),
        JSON.stringify(`${bytes}`),
      );
    }
  }
});

test('many are read at once: bytes of every kind, of several chunks; what is not there is left out', async (t) => {
  const { blobs } = await setUp(t);
  const every = Buffer.from(Array.from({ length: 256 }, (_, i) => i));
  const contents = [
    every,
    Buffer.concat(Array.from({ length: 100 }, () => every)),
    Buffer.from('ASCII alone\r\n'),
    Buffer.from('\\ and \\\\ and \\101 and \\'),
    Buffer.from('Grüße, 漢字\0'),
    randomBytes(20_000),
  ].map((bytes) => ({ bytes, stored: content(bytes) }));
  for (const { stored } of contents) await blobs.put(stored);
  const read = await blobs.readAll([...contents.map(({ stored }) => stored.hash), 'ab'.repeat(32)]);
  t.is(read.size, contents.length);
  for (const { bytes, stored } of contents) t.true(bytes.equals(read.get(stored.hash)!), stored.hash);
});

test('the same bytes are stored once, however they come', async (t) => {
  const { sql, inbound, blobs, accountId } = await setUp(t);
  for (const size of [5_000, 400_000]) {
    const bytes = randomBytes(size);
    await Promise.all(
      [10_007, 999, 65_536].map((piece) =>
        inbound.spool(content(bytes, piece), envelope, [{ accountId, id: randomUUID() }]),
      ),
    );
    const { hash } = content(bytes);
    t.true((await drain(blobs.stream(hash, 0, size))).equals(bytes));
    const [{ chunks }] = (await sql`
      select count(*)::int as chunks from blob_chunks where hash = ${Buffer.from(hash, 'hex')}`) as unknown as [
      { chunks: number },
    ];
    t.is(chunks, Math.ceil(size / 8_000));
  }
  t.is((await inbound.overdue([0], 0, 100, [])).length, 6);
});

test('a blob waits for the disk, and so does what its session commits afterwards', async (t) => {
  const sql = await migratedSql(t, { max: 1, byKey: true });
  const blobs = postgresBlobs(sql);
  await sql`create table modes (mode text)`;
  await sql`
    create function noted() returns trigger language plpgsql as $$
      begin insert into modes values (current_setting('synchronous_commit')); return null; end $$`;
  await sql`
    create constraint trigger noted after insert on blob_candidates initially deferred for each row execute function noted()`;
  for (const size of [5_000, 400_000]) await blobs.put(content(randomBytes(size)));
  t.deepEqual([...(await sql`select mode from modes`)], [{ mode: 'on' }, { mode: 'on' }]);
  t.deepEqual([...(await sql`show synchronous_commit`)], [{ synchronous_commit: 'on' }]);
});

test('a source that breaks off leaves nothing behind', async (t) => {
  const { sql, inbound, accountId } = await setUp(t);
  const bytes = randomBytes(900_000);
  const broken: BlobContent = {
    ...content(bytes),
    *chunks() {
      yield bytes.subarray(0, 600_000);
      throw new Error('the spool file is gone');
    },
  };
  await t.throwsAsync(inbound.spool(broken, envelope, [{ accountId, id: randomUUID() }]));
  t.deepEqual(await counts(sql), { blobs: 0, chunks: 0, inbound: 0 });
  await inbound.spool(content(bytes), envelope, [{ accountId, id: randomUUID() }]);
  t.deepEqual(await counts(sql), { blobs: 1, chunks: 113, inbound: 1 });
});

test('what an octet range or a hash does not have is a fault, not silence', async (t) => {
  const { inbound, blobs, accountId } = await setUp(t);
  const stored = content(randomBytes(20_000));
  await inbound.spool(stored, envelope, [{ accountId, id: randomUUID() }]);
  await t.throwsAsync(blobs.read(stored.hash, 0, 20_001));
  await t.throwsAsync(blobs.read('ff'.repeat(32), 0, 1));
  t.is(await blobs.index('ff'.repeat(32)), undefined);
});

test('collection takes candidates that nothing refers to, and spares the others', async (t) => {
  const { sql, inbound, blobs, accountId } = await setUp(t);
  const [kept, dropped] = [content(randomBytes(9_000)), content(randomBytes(300_000))];
  for (const stored of [kept, dropped]) await inbound.spool(stored, envelope, [{ accountId, id: randomUUID() }]);
  for (const { hash } of [kept, dropped]) {
    await sql`insert into blob_candidates (hash) values (${Buffer.from(hash, 'hex')})`;
  }
  await sql`delete from inbound where blob = ${Buffer.from(dropped.hash, 'hex')}`;
  t.is(await blobs.collect(3_600_000, 100), 0, 'within the grace time');
  t.is(await blobs.collect(0, 100), 2, 'candidates');
  t.deepEqual(await counts(sql), { blobs: 1, chunks: 2, inbound: 1 });
  t.is((await drain(blobs.stream(kept.hash, 0, 9_000))).length, 9_000);
  t.is(await blobs.index(dropped.hash), undefined);
});

test('bytes stored again while they are collected are there afterwards', async (t) => {
  const { sql, blobs, accountId } = await setUp(t);
  // The writers' lock timeout is not set: a busy machine may need long for the collection.
  const inbound = postgresInbound(sql, sql);
  for (const size of [9_000, 300_000]) {
    const bytes = randomBytes(size);
    const stored = content(bytes);
    const hash = Buffer.from(stored.hash, 'hex');
    await inbound.spool(stored, envelope, [{ accountId, id: randomUUID() }]);
    await sql`delete from inbound`;
    let again: Promise<void> | undefined;
    await sql.begin(async (tx) => {
      await tx`delete from blobs where hash = ${hash}`;
      again = inbound.spool(stored, envelope, [{ accountId, id: randomUUID() }]);
      await untilBlocked(tx);
      await tx`delete from blob_chunks where hash = ${hash}`;
    });
    await again;
    t.true((await drain(blobs.stream(stored.hash, 0, size))).equals(bytes), `${size}`);
  }
});

test('octets whose row comes again, or whose mailbox has declined them, are there however a collection runs meanwhile', async (t) => {
  const { sql, blobs, accountId } = await setUp(t);
  // The writers' lock timeout is not set: a busy machine may need long for the collection.
  const inbound = postgresInbound(sql, sql);
  const bytes = randomBytes(9_000);
  const stored = content(bytes);
  const hash = Buffer.from(stored.hash, 'hex');
  const id = randomUUID();
  for (let round = 0; round < 30; round++) {
    // Nothing refers to the blob, and its time is over.
    await sql`delete from inbound`;
    await sql`insert into blob_candidates (hash, at) values (${hash}, now() - interval '2 hours')`;
    await sql`update blobs set stored_at = now() - interval '2 hours'`;
    // A mailbox that declines gets the message by the first of these statements, a mailbox that has not answered by both.
    const tried = [{ accountId, id, isTried: true }];
    await Promise.all([
      blobs.collect(3_600_000, 100),
      inbound.spool(stored, envelope, tried),
      blobs.collect(0, 100),
      inbound.spool(stored, envelope, tried),
      blobs.collect(0, 100),
    ]);
    t.true((await drain(blobs.stream(stored.hash, 0, 9_000))).equals(bytes), `${round}`);
    t.is((await counts(sql)).inbound, 1);
  }
});

test('octets that were stored again stay candidates until they are old again', async (t) => {
  const { sql, inbound, blobs, accountId } = await setUp(t);
  const stored = content(randomBytes(9_000));
  const age = () => sql`update blobs set stored_at = now() - interval '2 hours'`;
  await blobs.put(stored);
  await age();
  await sql`update blob_candidates set at = now() - interval '2 hours'`;
  const delivery = { accountId, id: randomUUID() };
  await inbound.spool(stored, envelope, [delivery]);
  // The mailbox has placed the message before: the row ends, and the email may be gone.
  await sql`delete from inbound`;
  t.is(await blobs.collect(3_600_000, 100), 0);
  t.deepEqual(await counts(sql), { blobs: 1, chunks: 2, inbound: 0 });
  await age();
  t.is(await blobs.collect(3_600_000, 100), 1);
  t.deepEqual(await counts(sql), { blobs: 0, chunks: 0, inbound: 0 });
});

test('mail for an account that is gone is refused as temporary, and only that mail', async (t) => {
  const { sql, inbound, accountId } = await setUp(t);
  for (const size of [5_000, 300_000]) {
    const [good, bad, mixed] = [content(randomBytes(size)), content(randomBytes(size)), content(randomBytes(size))];
    const here = { accountId, id: randomUUID() };
    const gone = { accountId: randomUUID(), id: randomUUID() };
    const results = await Promise.allSettled([
      inbound.spool(good, envelope, [here]),
      inbound.spool(bad, envelope, [gone]),
      inbound.spool(mixed, envelope, [{ accountId, id: randomUUID() }, gone]),
    ]);
    t.deepEqual(
      results.map((result) => (result.status === 'rejected' ? result.reason.temporary : result.status)),
      ['fulfilled', true, true],
    );
    t.is((await counts(sql)).inbound, size === 5_000 ? 1 : 2);
  }
  // Octets of the refused messages are collected.
  await new Promise((resolve) => setTimeout(resolve, 5));
  await postgresBlobs(sql).collect(1, 100);
  t.deepEqual(await counts(sql), { blobs: 2, chunks: 1 + Math.ceil(300_000 / 8_000), inbound: 2 });
});

test('an account that is locked for long holds up its own mail alone', async (t) => {
  const { sql, inbound, accountId } = await setUp(t);
  const { id: other } = await postgresDirectory(sql, 1).createAccount('other@example.test', 'x');
  await sql.begin(async (tx) => {
    await tx`select 1 from accounts where id = ${accountId} for update`;
    const results = await Promise.allSettled(
      [accountId, other].map((id) =>
        inbound.spool(content(randomBytes(100)), envelope, [{ accountId: id, id: randomUUID() }]),
      ),
    );
    t.deepEqual(
      results.map((result) => (result.status === 'rejected' ? result.reason.code : result.status)),
      ['store-locked', 'fulfilled'],
    );
  });
});

/** Resolves when another connection waits for a lock of this one. */
async function untilBlocked(tx: SqlTransaction): Promise<void> {
  for (;;) {
    const [row] = await tx`
      select count(*)::int as waiting from pg_locks
      where not granted and pg_backend_pid() = any(pg_blocking_pids(pid))`;
    if (row?.['waiting'] > 0) return;
  }
}

async function counts(sql: Sql) {
  const [row] = await sql`
    select (select count(*)::int from blobs) as blobs, (select count(*)::int from blob_chunks) as chunks,
      (select count(*)::int from inbound) as inbound`;
  return { blobs: row?.['blobs'], chunks: row?.['chunks'], inbound: row?.['inbound'] };
}

test('each of many small blobs is there when its put resolves', async (t) => {
  const { blobs } = await setUp(t);
  const many = Array.from({ length: 50 }, (_, i) => randomBytes(i * 400));
  const twice = [...many, ...many.slice(10)];
  await Promise.all(
    twice.map(async (bytes) => {
      const put = content(bytes, 997);
      await blobs.put(put);
      t.deepEqual(Buffer.from(await blobs.read(put.hash, 0, put.size)), bytes);
    }),
  );
  const large = content(randomBytes(300_000));
  await blobs.put(large);
  t.is((await drain(blobs.stream(large.hash, 0, large.size))).length, 300_000);
});

test('what was put and never referred to is collected, and can be put again', async (t) => {
  const { blobs } = await setUp(t);
  const small = content(Buffer.from('From: a\r\n\r\nnever queued'));
  await blobs.put(small);
  await blobs.put(small);
  t.is(await blobs.collect(60_000, 100), 0);
  t.is(await blobs.collect(-1000, 100), 2, 'a candidate per time that it was put');
  t.is(await blobs.index(small.hash), undefined);
  await blobs.put(small);
  t.deepEqual(await blobs.index(small.hash), index);
});

test('any ranges of a blob come back, and a range that it does not have is a fault', async (t) => {
  const { blobs } = await setUp(t);
  const bytes = randomBytes(1_500_000);
  const stored = content(bytes);
  await blobs.put(stored);
  const check = async (ranges: readonly OctetRange[]) => {
    const parts = await blobs.readRanges(stored.hash, ranges);
    t.is(parts.length, ranges.length);
    for (const [i, { start, end }] of ranges.entries()) {
      t.true(Buffer.from(parts[i]!).equals(bytes.subarray(start, end)), `${start} ${end}`);
    }
  };
  await check(Array.from({ length: 1000 }, (_, i) => ({ start: 100 + i * 10, end: 100 + i * 10 + (i % 10) })));
  await check([]);
  await check([{ start: 0, end: bytes.length }]);
  for (let round = 0; round < 10; round++) {
    const cuts = Array.from({ length: 20 }, () => Math.floor(Math.random() * bytes.length)).sort((a, b) => a - b);
    await check(Array.from({ length: 10 }, (_, i) => ({ start: cuts[i * 2]!, end: cuts[i * 2 + 1]! })));
  }
  await t.throwsAsync(blobs.readRanges(stored.hash, [{ start: 0, end: bytes.length + 8_000 }]), {
    code: 'store-failed',
  });
  const given = new AbortController();
  given.abort();
  await t.throwsAsync(blobs.readRanges(stored.hash, [{ start: 0, end: 10 }], given.signal), {
    any: true,
    name: 'AbortError',
  });
});
