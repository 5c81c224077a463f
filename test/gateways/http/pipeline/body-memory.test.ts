// Tests the memory of bodies: only octets that have arrived count, and no key takes what the next one needs.

import type { KeyedLimiter } from '../../../../src/concurrency/keyed-limiter.js';
import { bodyLimiter, readBodyPieces } from '../../../../src/gateways/http/pipeline/body-memory.js';
import { Problem } from '../../../../src/gateways/http/problem.js';
import test from '../../../support/test.js';

const KIB = 1024;
const MIB = 1024 * KIB;

/** Reads a body of pieces of these sizes. Returns the reservation, or undefined when the body was refused. */
async function read(limiter: KeyedLimiter, key: string, sizes: readonly number[]) {
  const memory = limiter.charge(key, 0);
  let taken = 0;
  const request = {
    async body(_limit: number, take: (piece: Uint8Array) => unknown) {
      for (const size of sizes) await take(new Uint8Array(size));
    },
  };
  try {
    await readBodyPieces(request, 100 * MIB, memory, (piece) => {
      taken += piece.length;
    });
    return { memory, taken };
  } catch (error) {
    if (!(error instanceof Problem && error.status === 503)) throw error;
    memory.release();
    return undefined;
  }
}

test('a key alone has half, and every next one as much as is left then', async (t) => {
  const limiter = bodyLimiter(64 * MIB);
  const used: number[] = [];
  for (const key of ['a', 'b', 'c', 'd', 'e']) {
    while ((await read(limiter, key, [64 * KIB, MIB])) !== undefined);
    used.push(limiter.usedBy(key) / MIB);
  }
  t.true(
    used.every((octets, i) => Math.abs(octets - 64 / 2 ** (i + 1)) <= 1),
    String(used),
  );
});

test('the first octets of a body need no room, and all is released', async (t) => {
  const limiter = bodyLimiter(MIB);
  const bodies = await Promise.all(Array.from({ length: 100 }, () => read(limiter, 'a', [32 * KIB, 32 * KIB])));
  t.true(bodies.every((body) => body?.taken === 64 * KIB));
  t.is(limiter.used, 0);
  const large = await read(limiter, 'a', [64 * KIB, 512 * KIB]);
  t.is(limiter.used, 512 * KIB);
  t.is(await read(limiter, 'a', [64 * KIB, 1]), undefined);
  t.is(limiter.used, 512 * KIB, 'a body that is refused keeps nothing');
  t.truthy(await read(limiter, 'a', [10]));
  large!.memory.release();
  t.truthy(await read(limiter, 'a', [576 * KIB]));
});
