import fc from 'fast-check';
import { limitsOf, shareOfConnections, shareOfMemory, shareOfPool } from '../../../src/node/processes/process-share.js';
import test from '../../support/test.js';

test('one process has all of a bound, more of them have a part with some room', (t) => {
  t.is(shareOfConnections(200, 1), 200);
  t.deepEqual(
    [2, 4, 8].map((count) => count * shareOfConnections(200, count)),
    [244, 276, 320],
  );
  t.deepEqual(limitsOf({ connections: 20_000, connectionsPerAddress: 200, connectionsPerAccount: 100, idleMs: 7 }, 2), {
    connections: 10_213,
    connectionsPerAddress: 122,
    connectionsPerAccount: 65,
    idleMs: 7,
  });
  t.is(shareOfMemory(100, 3), 34);
});

test('a holder that stays within the bound of a single node is hardly ever refused by one process', (t) => {
  // Each connection goes to a random process; counts the trials in which some process would have refused one.
  let seed = 1;
  const random = () => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed / 2_147_483_647;
  };
  for (const [bound, count] of [
    [50, 2],
    [200, 2],
    [200, 8],
  ] as const) {
    const share = shareOfConnections(bound, count);
    let refused = 0;
    const trials = 2_000;
    for (let trial = 0; trial < trials; trial++) {
      const held = new Array<number>(count).fill(0);
      for (let i = 0; i < bound; i++) held[Math.floor(random() * count)]!++;
      if (held.some((each) => each > share)) refused++;
    }
    t.true(refused / trials < 0.03, `${bound} over ${count}: ${refused} of ${trials}`);
  }
});

test('a share is at least the mean and at most the bound', (t) => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1e6 }), fc.integer({ min: 1, max: 128 }), (bound, count) => {
      const share = shareOfConnections(bound, count);
      return share * count >= bound && share <= bound;
    }),
  );
  t.pass();
});

test('pools shrink with the number of processes, down to the least that a node works with', (t) => {
  t.deepEqual(
    [1, 2, 3, 4, 8, 64].map((count) => shareOfPool(16, count, 4)),
    [16, 16, 11, 8, 4, 4],
  );
});
