// What the blocks of a backup say: the header with the facts of the snapshot, the rows of each table, files of the data directory, and the
// octets of all rows at the end. `blocksOf` writes this order, and a reader refuses any other one.
import { array, create, integer, min, nonempty, record, type Struct, string, type as struct } from 'superstruct';
import {
  BackupFault,
  type SavedTable,
  type SnapshotFacts,
  type StoreSnapshot,
} from '../../store/backup/store-snapshot.js';
import { BROKEN } from './block-reader.js';
import { BLOCK_OCTETS, type Block, type Kind } from './format.js';

/** A file of the data directory. */
export interface KeptFile {
  readonly name: string;
  readonly text: string;
}

/** What takes the contents, in this order; each call is waited for. Rows that `table` does not read are passed over. */
export interface ContentsReader {
  table(table: SavedTable, rows: AsyncIterable<Uint8Array>): Promise<void>;
  file(file: KeptFile): Promise<void>;
}

const count = min(integer(), 0);
const header = struct({
  at: string(),
  schema: nonempty(array(struct({ name: string(), checksum: string() }))),
  tables: array(struct({ name: string(), columns: nonempty(array(string())) })),
  sequences: record(string(), string()),
  emails: count,
  accounts: count,
});
const tableStart = struct({ name: string() });
const file = struct({ name: string(), text: string() });
const end = struct({ octets: count });

const json = (kind: Kind, value: unknown): Block => ({ kind, content: Buffer.from(JSON.stringify(value)) });

/** The blocks of a backup. `progressed` is told the octets of rows so far. */
export async function* blocksOf(
  { facts, rows }: StoreSnapshot,
  files: readonly KeptFile[],
  progressed: (octets: number) => void,
): AsyncGenerator<Block> {
  yield json('header', facts);
  let octets = 0;
  for (const table of facts.tables) {
    yield json('table', { name: table.name });
    for await (const content of inBlocks(rows(table))) {
      octets += content.length;
      progressed(octets);
      yield { kind: 'rows', content };
    }
  }
  for (const kept of files) yield json('file', kept);
  yield json('end', { octets });
}

async function* inBlocks(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let block = Buffer.allocUnsafeSlow(BLOCK_OCTETS);
  let length = 0;
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length; ) {
      const taken = Math.min(chunk.length - at, BLOCK_OCTETS - length);
      block.set(chunk.subarray(at, at + taken), length);
      at += taken;
      length += taken;
      if (length < BLOCK_OCTETS) continue;
      yield block;
      block = Buffer.allocUnsafeSlow(BLOCK_OCTETS);
      length = 0;
    }
  }
  if (length > 0) yield block.subarray(0, length);
}

/** A backup whose header has been read. */
export interface OpenedBackup {
  readonly facts: SnapshotFacts;
  /** Reads the rest; resolves after the last octet has been checked. @throws BackupFault */
  read(contents: ContentsReader): Promise<void>;
}

/** @throws BackupFault */
export async function openContents(blocks: AsyncIterable<Block>): Promise<OpenedBackup> {
  const cursor = new BlockCursor(blocks);
  const facts = parsed(header, await cursor.next('header'));
  return { facts, read: (contents) => readContents(facts, cursor, contents) };
}

async function readContents({ tables }: SnapshotFacts, cursor: BlockCursor, contents: ContentsReader): Promise<void> {
  let octets = 0;
  for (const table of tables) {
    if (parsed(tableStart, await cursor.next('table')).name !== table.name) throw new BackupFault(BROKEN);
    const rows = cursor.rows((length) => {
      octets += length;
    });
    await contents.table(table, rows);
    for await (const _ of rows);
  }
  while ((await cursor.kind()) === 'file') await contents.file(parsed(file, await cursor.next('file')));
  if (parsed(end, await cursor.next('end')).octets !== octets) throw new BackupFault(BROKEN);
  // The blocks end here, after the check that nothing follows.
  if ((await cursor.kind()) !== undefined) throw new BackupFault(BROKEN);
}

function parsed<T, S>(shape: Struct<T, S>, content: Uint8Array): T {
  try {
    return create(JSON.parse(Buffer.from(content).toString()), shape);
  } catch (error) {
    throw new BackupFault(BROKEN, { cause: error });
  }
}

class BlockCursor {
  readonly #blocks: AsyncIterator<Block>;
  #ahead: Promise<Block | undefined> | undefined;

  constructor(blocks: AsyncIterable<Block>) {
    this.#blocks = blocks[Symbol.asyncIterator]();
  }

  /** The kind of the next block; undefined at the end. */
  async kind(): Promise<Kind | undefined> {
    this.#ahead ??= this.#blocks.next().then(({ done, value }) => (done === true ? undefined : value));
    return (await this.#ahead)?.kind;
  }

  async next(kind: Kind): Promise<Uint8Array> {
    if ((await this.kind()) !== kind) throw new BackupFault(BROKEN);
    const block = await this.#ahead;
    this.#ahead = undefined;
    return block!.content;
  }

  /** The blocks of rows that follow; a second iteration goes on where the first one has ended. */
  rows(read: (octets: number) => void): AsyncIterable<Uint8Array> {
    const next = async (): Promise<IteratorResult<Uint8Array>> => {
      if ((await this.kind()) !== 'rows') return { done: true, value: undefined };
      const value = await this.next('rows');
      read(value.length);
      return { done: false, value };
    };
    return { [Symbol.asyncIterator]: () => ({ next }) };
  }
}
