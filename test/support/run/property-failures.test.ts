// Tests that the search for a smaller counterexample is bounded, and that it ends with a case that has failed.
import fc from 'fast-check';
import test from '../test.js';
import { shrinkingFor } from './property-failures.js';

const slow = async (n: number) => {
  await new Promise((resolve) => setTimeout(resolve, 5));
  return n < 1_000;
};

test('a property that fails stops the search for a smaller case in time', async (t) => {
  const details = await fc.check(fc.asyncProperty(fc.nat(), slow), { plugins: [shrinkingFor(0)] });
  t.true(details.failed);
  t.true(Number((details.counterexample as unknown[])[0]) >= 1_000);
  t.is(details.numShrinks, 0);
});

test('a property that fails in time has the smallest case', (t) => {
  const details = fc.check(
    fc.property(fc.nat(), (n) => n < 1_000),
    { plugins: [shrinkingFor(60_000)] },
  );
  t.deepEqual(details.counterexample, [1_000]);
});

test('cases that a precondition leaves out are no failures', (t) => {
  const isOdd = (n: number) => {
    fc.pre(n % 2 === 1);
    return true;
  };
  const details = fc.check(fc.property(fc.nat(), isOdd), { plugins: [shrinkingFor(0)] });
  t.false(details.failed);
  t.true(details.numSkips > 0);
});
