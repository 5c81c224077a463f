// Writes blocks: compresses some of them at the same time and gives them in their order, each with its checksum.
import { BEST_CODING, compressed } from './compression.js';
import { type Block, type Coding, checksumOf, FIRST_CHECKSUM, FIRST_LINE, headOf, type Kind } from './format.js';

/** Blocks that are compressed at the same time; each takes up to 2 MiB of memory. */
const AT_ONCE = 4;

interface Waiting {
  readonly kind: Kind;
  readonly octets: number;
  readonly coding: Coding;
  readonly coded: Promise<Uint8Array>;
}

/** The octets of a file with these blocks. */
export async function* encodeBlocks(
  blocks: AsyncIterable<Block>,
  coding: Coding = BEST_CODING,
): AsyncGenerator<Uint8Array> {
  yield FIRST_LINE;
  let checksum: Buffer = FIRST_CHECKSUM;
  const waiting: Waiting[] = [];
  async function* first() {
    const { kind, octets, coding, coded } = waiting.shift()!;
    const content = await coded;
    const head = headOf(kind, coding, content.length, octets);
    checksum = checksumOf(checksum, head, content);
    yield head;
    yield content;
    yield checksum;
  }
  for await (const { kind, content } of blocks) {
    const used = kind === 'rows' ? coding : 'plain';
    const coded = compressed(content, used);
    // Its turn comes later, and the reader may leave before.
    coded.catch(() => undefined);
    waiting.push({ kind, octets: content.length, coding: used, coded });
    if (waiting.length === AT_ONCE) yield* first();
  }
  while (waiting.length > 0) yield* first();
}
