// Tests streams whose first piece is read before anything is written.

import { primed } from '../../../src/net/tcp/primed-stream.js';
import test from '../../support/test.js';

const PIECES = [Buffer.from('a'), Buffer.from('b'), Buffer.from('c')];

function source() {
  const seen = { pulled: 0, ended: 0 };
  async function* pieces() {
    try {
      for (const piece of PIECES) {
        seen.pulled++;
        yield piece;
      }
    } finally {
      seen.ended++;
    }
  }
  return { seen, pieces };
}

async function all(stream: AsyncIterable<Uint8Array>): Promise<readonly Uint8Array[]> {
  const pieces: Uint8Array[] = [];
  for await (const piece of stream) pieces.push(piece);
  return pieces;
}

test('every piece is there, and one is read ahead', async (t) => {
  const { seen, pieces } = source();
  const stream = await primed(pieces());
  t.is(seen.pulled, 1);
  t.deepEqual(await all(stream), PIECES);
  t.is(seen.ended, 1);
});

test('an empty stream', async (t) => {
  async function* nothing(): AsyncGenerator<Uint8Array> {}
  t.deepEqual(await all(await primed(nothing())), []);
});

test('what cannot be read at all fails before it is read', async (t) => {
  // biome-ignore lint/correctness/useYield: it fails
  async function* failing(): AsyncGenerator<Uint8Array> {
    throw new Error('gone');
  }
  await t.throwsAsync(primed(failing()), { message: 'gone' });
});

test('a reader that stops at the first piece ends the source', async (t) => {
  const { seen, pieces } = source();
  for await (const piece of await primed(pieces())) {
    t.is(piece, PIECES[0]!);
    break;
  }
  t.deepEqual(seen, { pulled: 1, ended: 1 });
});

test('a reader that stops before the first piece ends the source', async (t) => {
  const { seen, pieces } = source();
  const stream = await primed(pieces());
  await stream[Symbol.asyncIterator]().return?.();
  t.deepEqual(seen, { pulled: 1, ended: 1 });
});
