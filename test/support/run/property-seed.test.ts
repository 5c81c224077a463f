// Checks that properties draw the same cases in every run of the suite; `npm run test:soak` uses other seeds.

import fc from 'fast-check';
import test from '../test.js';

test('properties draw the same cases in every run, but for a soak', (t) => {
  const seed = Number(process.env['PROPERTY_SEED'] ?? 1);
  t.is(fc.check(fc.property(fc.nat(), () => true)).seed, seed);
  t.deepEqual(fc.sample(fc.nat(), 5), fc.sample(fc.nat(), { numRuns: 5, seed }));
});
