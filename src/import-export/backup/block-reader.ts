// Reads blocks, and refuses what is not a whole and sound backup. Blocks are decompressed some at the same time, after their checksums are
// compared.
import { BackupFault } from '../../store/backup/store-snapshot.js';
import { decompressed } from './compression.js';
import {
  type Block,
  CHECKSUM_OCTETS,
  checksumOf,
  FIRST_CHECKSUM,
  FIRST_LINE,
  FORMAT,
  HEAD_OCTETS,
  type Kind,
  parsedHead,
} from './format.js';

const AT_ONCE = 4;

export const BROKEN = 'the backup is broken or cut: its checksum is wrong';

/** Takes octets by number from chunks of any size. */
export class OctetReader {
  readonly #chunks: AsyncIterator<Uint8Array>;
  #buffered: Uint8Array[] = [];
  #octets = 0;

  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.#chunks = chunks[Symbol.asyncIterator]();
  }

  /** Returns fewer octets at the end. */
  async take(count: number): Promise<Buffer> {
    await this.#fetch(count);
    const taken = Buffer.concat(this.#buffered, Math.min(count, this.#octets));
    let left = taken.length;
    while (left > 0) {
      const chunk = this.#buffered[0]!;
      if (chunk.length > left) this.#buffered[0] = chunk.subarray(left);
      else this.#buffered.shift();
      left -= Math.min(left, chunk.length);
    }
    this.#octets -= taken.length;
    return taken;
  }

  /** The first octets, which are taken later. */
  async peek(count: number): Promise<Buffer> {
    await this.#fetch(count);
    return Buffer.concat(this.#buffered).subarray(0, count);
  }

  async *rest(): AsyncGenerator<Uint8Array> {
    while (this.#octets > 0 || (await this.#fetch(1))) yield this.take(this.#octets);
  }

  async #fetch(count: number): Promise<boolean> {
    while (this.#octets < count) {
      const { done, value } = await this.#chunks.next();
      if (done === true) return false;
      if (value.length > 0) this.#buffered.push(value);
      this.#octets += value.length;
    }
    return true;
  }
}

interface Waiting {
  readonly kind: Kind;
  readonly content: Promise<Uint8Array>;
}

/** @throws BackupFault */
export async function* decodeBlocks(reader: OctetReader): AsyncGenerator<Block> {
  refuseForeign(await reader.take(FIRST_LINE.length));
  let checksum: Buffer = FIRST_CHECKSUM;
  const waiting: Waiting[] = [];
  const first = async (): Promise<Block> => {
    const { kind, content } = waiting.shift()!;
    try {
      return { kind, content: await content };
    } catch (error) {
      throw new BackupFault(BROKEN, { cause: error });
    }
  };
  for (;;) {
    const head = await reader.take(HEAD_OCTETS);
    const parsed = head.length === HEAD_OCTETS ? parsedHead(head) : undefined;
    if (parsed === undefined) throw new BackupFault(BROKEN);
    const { kind, coding, codedOctets, octets } = parsed;
    const coded = await reader.take(codedOctets);
    const found = await reader.take(CHECKSUM_OCTETS);
    checksum = checksumOf(checksum, head, coded);
    if (!checksum.equals(found)) throw new BackupFault(BROKEN);
    const content = decompressed(coded, coding, octets);
    content.catch(() => undefined);
    waiting.push({ kind, content });
    if (kind === 'end') break;
    if (kind === 'header' || waiting.length === AT_ONCE) yield await first();
  }
  if ((await reader.take(1)).length > 0) throw new BackupFault(BROKEN);
  while (waiting.length > 0) yield await first();
}

function refuseForeign(line: Buffer): void {
  if (line.equals(FIRST_LINE)) return;
  const [, format] = /^mansio backup (\d{1,9})/.exec(line.toString('latin1')) ?? [];
  if (format !== undefined && Number(format) > FORMAT)
    throw new BackupFault('the backup is of a later version of Mansio: restore it with that version');
  throw new BackupFault('the file is no backup of Mansio');
}
