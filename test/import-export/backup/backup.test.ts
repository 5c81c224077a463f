// Tests the form of a backup: what is written is read again, and a file that is cut, changed or foreign is refused wherever that is.

import { Decrypter, generateX25519Identity, identityToRecipient } from 'age-encryption';
import fc from 'fast-check';
import { backupOctets, IGNORED, openBackup } from '../../../src/import-export/backup/backup.js';
import { decodeBlocks, OctetReader } from '../../../src/import-export/backup/block-reader.js';
import { encodeBlocks } from '../../../src/import-export/backup/block-writer.js';
import { decompressed } from '../../../src/import-export/backup/compression.js';
import { blocksOf, openContents } from '../../../src/import-export/backup/contents.js';
import type { Encryption, Secrets } from '../../../src/import-export/backup/encryption.js';
import { BLOCK_OCTETS, type Block, type Coding } from '../../../src/import-export/backup/format.js';
import { BackupFault, type SnapshotFacts, type StoreSnapshot } from '../../../src/store/backup/store-snapshot.js';
import { runs } from '../../support/amounts.js';
import test from '../../support/test.js';

const FILES = [{ name: 'tls-key.pem', text: 'Zoë 💌\n' }];
/** Made by the program zstd. */
const ZSTD = 'KLUv/QRIJQEA0Fpvw6sg8J+SjCB3cml0ZXM6IGhlbGxvLC4KAgDbJlCYFJUxTOWafQ==';
const NO_SECRETS: Secrets = { identities: [] };

type Tables = Readonly<Record<string, readonly Uint8Array[]>>;

function snapshotOf(tables: Tables): StoreSnapshot {
  const facts: SnapshotFacts = {
    at: '2026-11-29T01:00:00.000Z',
    schema: [{ name: '0001_schema', checksum: 'ab'.repeat(32) }],
    tables: Object.keys(tables).map((name) => ({ name, columns: ['a', 'Zoë 💌'] })),
    sequences: { numbers: '9007199254740993' },
    emails: 3,
    accounts: 2,
  };
  return {
    facts,
    estimatedOctets: 1,
    async *rows({ name }) {
      yield* tables[name]!;
    },
  };
}

async function octetsOf(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const all: Uint8Array[] = [];
  for await (const chunk of chunks) all.push(chunk);
  return Buffer.concat(all);
}

function written(tables: Tables, encryption?: Encryption): Promise<Buffer> {
  const progressed = () => undefined;
  return octetsOf(backupOctets({ snapshot: snapshotOf(tables), files: FILES, encryption, progressed }));
}

async function* inChunks(octets: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < octets.length; at += size) yield octets.subarray(at, at + size);
}

async function read(octets: Uint8Array, secrets = NO_SECRETS, size = 65_536) {
  const tables: Record<string, Buffer> = {};
  const files: unknown[] = [];
  const opened = await openBackup(inChunks(octets, size), secrets);
  await opened.read({
    table: async ({ name }, rows) => {
      tables[name] = await octetsOf(rows);
    },
    file: async (file) => void files.push(file),
  });
  return { facts: opened.facts, tables, files };
}

const refused = (octets: Uint8Array, secrets = NO_SECRETS) =>
  read(octets, secrets).then(
    () => undefined,
    (error: unknown) => error,
  );

const SMALL: Tables = { accounts: [Buffer.from('row of Zoë 💌')], emails: [], blobs: [Buffer.alloc(300, 'a')] };

test('what is written is read again, in chunks of any size', async (t) => {
  const chunk = fc.uint8Array({ maxLength: 3000 });
  const tables = fc.dictionary(fc.stringMatching(/^[a-z_]{1,12}$/), fc.array(chunk, { maxLength: 5 }), {
    maxKeys: 5,
    noNullPrototype: true,
  });
  await fc.assert(
    fc.asyncProperty(tables, fc.integer({ min: 1, max: 5000 }), async (rows, size) => {
      const found = await read(await written(rows), NO_SECRETS, size);
      t.deepEqual(found.facts, snapshotOf(rows).facts);
      t.deepEqual(found.files, FILES);
      for (const [name, chunks] of Object.entries(rows)) t.deepEqual(found.tables[name], Buffer.concat(chunks));
    }),
    { numRuns: runs(100) },
  );
});

test('rows of several blocks are compressed with each coding, and rows that nobody reads are passed over', async (t) => {
  const rows = Buffer.concat(
    Array.from({ length: 40_000 }, (_, i) => Buffer.from(`row ${i} of many, of Zoë 💌 and others\n`.repeat(3))),
  );
  t.true(rows.length > 3 * BLOCK_OCTETS);
  const snapshot = snapshotOf({ blob_chunks: [rows] });
  const codings: readonly Coding[] = [
    'plain',
    'brotli',
    ...('zstdCompress' in (await import('node:zlib')) ? ['zstd' as const] : []),
  ];
  for (const coding of codings) {
    const file = await octetsOf(
      encodeBlocks(
        blocksOf(snapshot, FILES, () => undefined),
        coding,
      ),
    );
    t.is(file.length < rows.length / 3, coding !== 'plain', coding);
    t.true((await read(file)).tables['blob_chunks']!.equals(rows), coding);
    const opened = await openContents(decodeBlocks(new OctetReader(inChunks(file, 4096))));
    await t.notThrowsAsync(opened.read(IGNORED));
  }
});

test('zstd is read on every Node.js', async (t) => {
  const line = 'Zoë 💌 writes: hello, hello, hello, hello, hello, hello, hello, hello.\n';
  const frame = Buffer.from(ZSTD, 'base64');
  t.is(Buffer.from(await decompressed(frame, 'zstd', Buffer.byteLength(line) * 4)).toString(), line.repeat(4));
});

test('every cut and every changed octet is refused', async (t) => {
  const file = await written(SMALL);
  await t.notThrowsAsync(read(file));
  for (let at = 0; at < file.length; at++) {
    t.true((await refused(file.subarray(0, at))) instanceof BackupFault, `cut at ${at}`);
    const changed = Buffer.from(file);
    changed[at]! ^= 1 << (at % 8);
    t.true((await refused(changed)) instanceof BackupFault, `changed at ${at}`);
  }
  t.true((await refused(Buffer.concat([file, Buffer.from([0])]))) instanceof BackupFault, 'more after the end');
  t.true((await refused(Buffer.concat([file, file]))) instanceof BackupFault, 'twice');
});

test('blocks that are doubled, moved or left out are refused', async (t) => {
  const blocks: Block[] = [];
  for await (const block of blocksOf(snapshotOf(SMALL), FILES, () => undefined)) blocks.push(block);
  async function* some(chosen: readonly Block[]) {
    yield* chosen;
  }
  const reads = async (chosen: readonly Block[]) => refused(await octetsOf(encodeBlocks(some(chosen))));
  t.is(await reads(blocks), undefined);
  for (let i = 0; i < blocks.length; i++) {
    // The names and number of files are free.
    if (blocks[i]!.kind === 'file') continue;
    t.true((await reads(blocks.toSpliced(i, 1))) instanceof BackupFault, `without ${i}`);
    t.true((await reads(blocks.toSpliced(i, 0, blocks[i]!))) instanceof BackupFault, `${i} twice`);
    const [moved] = blocks.slice(i, i + 1);
    t.true(
      (await reads([...blocks.toSpliced(i, 1), moved!])) instanceof BackupFault || i === blocks.length - 1,
      `${i} last`,
    );
  }
});

test('a foreign file and one of a later version are named as such', async (t) => {
  for (const text of ['', 'x', 'From a@b.test Sat Feb  3 04:05:06 2001\n', 'PGDMP\u{1}'])
    t.like(await refused(Buffer.from(text)), { message: 'the file is no backup of Mansio' });
  t.regex(String(await refused(Buffer.from('mansio backup 2\nanything'))), /of a later version of Mansio/);
  t.regex(String(await refused(Buffer.from('mansio backup 1\n'))), /broken or cut/);
});

test('a backup for recipients opens for each of them, and for a passphrase only with it', async (t) => {
  const identities = [await generateX25519Identity(), await generateX25519Identity()];
  const recipients = await Promise.all(identities.map(identityToRecipient));
  const file = await written(SMALL, { recipients });
  t.false(file.includes('Zoë'));
  for (const identity of identities) {
    t.deepEqual((await read(file, { identities: [identity] })).files, FILES);
    // What age writes when it opens the file is a backup too.
    const decrypter = new Decrypter();
    decrypter.addIdentity(identity);
    t.deepEqual((await read(await decrypter.decrypt(file))).files, FILES);
  }
  t.regex(String(await refused(file)), /is encrypted: give --passphrase-file, or --identity-file/);
  t.regex(String(await refused(file, { identities: [await generateX25519Identity()] })), /does not open/);
  for (const cut of [file.length - 1, file.length >> 1, 200])
    t.true((await refused(file.subarray(0, cut), { identities })) instanceof BackupFault, `cut at ${cut}`);

  const locked = await written(SMALL, { passphrase: 'Zoë 💌' });
  t.deepEqual((await read(locked, { passphrase: 'Zoë 💌', identities: [] })).files, FILES);
  t.regex(String(await refused(locked, { passphrase: 'Zoe', identities: [] })), /does not open/);
});
