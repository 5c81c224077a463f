// Tests which keys leave when an account remembers more than it may.
import { RememberedKeys } from '../../../../src/actors/mailbox/state/remembered-keys.js';
import { LazyMap } from '../../../../src/store/changes/lazy-map.js';
import test from '../../../support/test.js';

const MOST = 5_000;
const NOW = 1_000_000;
const LATER = NOW + 60_000;

/** Keys `old 0` and so on, as many as an account may have. */
function full(): LazyMap<string, number> {
  const keys = new LazyMap<string, number>();
  for (let i = 0; i < MOST; i++) keys.set(`old ${i}`, LATER);
  return keys;
}

/** Remembers the keys in one batch and commits it; returns how many keys leave with each. */
function remember(committed: LazyMap<string, number>, keys: readonly string[], now = NOW): number[] {
  const batch = new RememberedKeys(committed, MOST);
  const changes = keys.map((key) => {
    const change = batch.change(key, LATER, now);
    batch.apply(change);
    return change;
  });
  for (const { key, until, forgotten } of changes) {
    for (const one of forgotten) committed.delete(one);
    committed.append(key, until);
  }
  return changes.map(({ forgotten }) => forgotten.length);
}

const named = (name: string, count: number) => Array.from({ length: count }, (_, i) => `${name} ${i}`);

test('each further key takes the place of the first one, in a batch and in those behind it', (t) => {
  const keys = full();
  for (let i = 0; i < 7; i++) t.deepEqual(remember(keys, named(`batch ${i}`, 16)), Array(16).fill(1));
  t.is(keys.size, MOST);
  t.deepEqual(keys.keys().slice(0, 2), ['old 112', 'old 113']);
});

test('a key that is remembered already takes no place', (t) => {
  const keys = full();
  t.deepEqual(remember(keys, ['old 0', 'new', 'new', 'old 7']), [0, 1, 0, 0]);
  t.is(keys.size, MOST);
  t.deepEqual(keys.keys().slice(0, 1), ['old 2']);
  t.deepEqual(keys.keys().slice(-3), ['old 0', 'new', 'old 7']);
});

test('keys that have ended leave first, and live ones only when these are too few', (t) => {
  const keys = full();
  keys.set('old 4000', NOW);
  keys.set('old 4001', NOW);
  t.deepEqual(remember(keys, ['a', 'b', 'c']), [2, 0, 1]);
  t.is(keys.size, MOST);
  t.deepEqual(keys.keys().slice(0, 1), ['old 1']);
});

test('what the batch has forgotten is not remembered, and what it has written is', (t) => {
  const batch = new RememberedKeys(full(), MOST);
  batch.apply(batch.change('new', LATER, NOW));
  t.false(batch.has('old 0', NOW));
  t.true(batch.has('old 1', NOW));
  t.true(batch.has('new', NOW));
  t.false(batch.has('new', LATER));
});
