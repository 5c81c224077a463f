// Pages of event logs that are kept: they are bounded by what they take in memory, whatever their events hold.
import { randomUUID } from 'node:crypto';
import test from 'ava';
import { RecentPages } from '../../../src/actors/runtime/recent-pages.js';
import type { LogSegment } from '../../../src/actors/runtime/without-gaps.js';

/** One change of so many emails. */
const page = (seq: number, emails: number): LogSegment => {
  const others = Array.from({ length: emails }, () => randomUUID());
  return { after: seq - 1, seq, events: [{ seq, n: 0, type: 'FlagsChanged', payload: { others }, at: 0 }] };
};

test('a page is kept for its follower alone', (t) => {
  const pages = new RecentPages();
  const [one, other] = [pages.ofFollower(), pages.ofFollower()];
  const found = { value: page(1, 3), began: 7 };
  one.keep(0, found);
  t.is(one.get(0), found);
  t.is(other.get(0), undefined);
});

test('pages of few events that name many emails take no more memory than others', (t) => {
  const kept = new RecentPages().ofFollower();
  const count = 300;
  for (let at = 0; at < count; at++) kept.keep(at, { value: page(at + 1, 4_000), began: 0 });
  const found = Array.from({ length: count }, (_, at) => kept.get(at)).filter((each) => each !== undefined);
  const characters = found.reduce((sum, { value }) => sum + JSON.stringify(value).length, 0);
  t.true(found.length > 0);
  t.true(characters <= 32 * 1024 * 1024);
  kept.keep(count, { value: page(count + 1, 20_000), began: 0 });
  t.is(kept.get(count), undefined, 'larger than a page may be');
});
