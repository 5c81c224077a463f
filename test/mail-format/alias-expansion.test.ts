// Tests how aliases are followed: their ends are those of a simple model, and no web of aliases makes many look-ups.
import fc from 'fast-check';
import { expandAlias, MOST_ALIASES_DEEP, MOST_TARGETS } from '../../src/mail-format/alias-expansion.js';
import { runs } from '../support/amounts.js';
import test from '../support/test.js';

type Aliases = ReadonlyMap<string, readonly string[]>;

async function expand(aliases: Aliases, start = 'a0') {
  let lookups = 0;
  const found = await expandAlias(start, async (addresses) => {
    lookups += addresses.length;
    return addresses.map((address) => aliases.get(address));
  });
  return { ...found, lookups };
}

/** Follows every way, one after the other. */
function model(aliases: Aliases, start: string): { ends: string[] } | { fault: string } {
  const ends = new Set<string>();
  const faults = new Set<string>();
  const walk = (address: string, path: readonly string[]): void => {
    const targets = aliases.get(address);
    if (targets === undefined) ends.add(address);
    else if (path.includes(address)) faults.add('loop');
    else if (path.length >= MOST_ALIASES_DEEP) faults.add('tooDeep');
    for (const target of targets !== undefined && !path.includes(address) ? targets : [])
      walk(target, [...path, address]);
  };
  walk(start, []);
  if (faults.has('loop')) return { fault: 'loop' };
  return faults.has('tooDeep') ? { fault: 'tooDeep' } : { ends: [...ends].sort() };
}

test('the ends of an alias are those of every way through it', async (t) => {
  const node = fc.integer({ min: 0, max: 12 });
  // Most targets come later, so that loops are seldom and chains are long.
  const web = fc.array(fc.array(fc.tuple(node, fc.integer({ min: 0, max: 40 })), { minLength: 1, maxLength: 3 }), {
    minLength: 1,
    maxLength: 13,
  });
  await fc.assert(
    fc.asyncProperty(web, async (nodes) => {
      const aliases = new Map(
        nodes.map((targets, from) => [
          `a${from}`,
          targets.map(([step, back]) => `a${back === 0 ? step : from + 1 + (step % 3)}`),
        ]),
      );
      const { ends, fault } = await expand(aliases);
      t.deepEqual(fault === undefined ? { ends: ends?.toSorted() } : { fault }, model(aliases, 'a0'));
    }),
    { numRuns: runs(500) },
  );
});

const chain = (length: number): Aliases =>
  new Map(Array.from({ length }, (_, i) => [`a${i}`, [i === length - 1 ? 'end' : `a${i + 1}`]]));

test('ten aliases in a row are followed, and no more', async (t) => {
  t.deepEqual((await expand(chain(MOST_ALIASES_DEEP))).ends, ['end']);
  t.is((await expand(chain(MOST_ALIASES_DEEP + 1))).fault, 'tooDeep');
  t.is((await expand(new Map([['a0', ['a0']]]))).fault, 'loop');
  t.deepEqual((await expand(new Map())).ends, ['a0'], 'an address that is no alias is its own end');
});

test('an alias leads to a thousand addresses, and no more, however often they are named', async (t) => {
  const names = (count: number) => Array.from({ length: count }, (_, i) => `x${i}`);
  const two = (count: number): Aliases =>
    new Map([
      ['a0', ['a1', 'a2']],
      ['a1', names(count)],
      ['a2', names(MOST_TARGETS)],
    ]);
  t.is((await expand(two(MOST_TARGETS))).ends?.length, MOST_TARGETS);
  t.is((await expand(two(MOST_TARGETS + 1))).fault, 'tooMany');
});

test('a bomb of aliases costs a bounded number of look-ups', async (t) => {
  const level = (depth: number) => Array.from({ length: 1_000 }, (_, i) => `l${depth}-${i}`);
  const bomb = new Map<string, readonly string[]>([['a0', level(0)]]);
  for (let depth = 0; depth < 9; depth++) for (const one of level(depth)) bomb.set(one, level(depth + 1));
  const { fault, lookups } = await expand(bomb);
  t.is(fault, 'tooMany');
  t.true(lookups < 5_000, `${lookups}`);
  // Two ways at each level are a thousand ways in the end, and twenty aliases.
  const ladder = new Map<string, readonly string[]>([['a0', ['b1', 'c1']]]);
  for (let depth = 1; depth < 9; depth++)
    for (const side of ['b', 'c']) ladder.set(`${side}${depth}`, [`b${depth + 1}`, `c${depth + 1}`]);
  const climbed = await expand(ladder);
  t.deepEqual(climbed.ends?.toSorted(), ['b9', 'c9']);
  t.true(climbed.lookups < 30, `${climbed.lookups}`);
});
