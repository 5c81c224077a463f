// Tests cached pages of event logs: their memory is limited, whatever the events contain.
import { randomUUID } from 'node:crypto';
import { RecentPages } from '../../../src/actors/runtime/recent-pages.js';
import type { KeptResults } from '../../../src/actors/runtime/single-flight-reads.js';
import type { LogSegment } from '../../../src/actors/runtime/without-gaps.js';
import test from '../../support/test.js';

/** Returns one change of this many emails. */
const page = (seq: number, emails: number): LogSegment => {
  const others = Array.from({ length: emails }, () => randomUUID());
  return { after: seq - 1, seq, events: [{ seq, n: 0, type: 'FlagsChanged', payload: { others }, at: 0 }] };
};

/** Returns the number of characters in the cached pages at these positions. */
const kept = (of: KeptResults<LogSegment>, positions: readonly number[]) =>
  positions.reduce((sum, at) => sum + JSON.stringify(of.get(at)?.value ?? '').length, 0);

test('a page is kept for its follower alone', (t) => {
  const pages = new RecentPages();
  const [one, other] = [pages.ofFollower(), pages.ofFollower()];
  const [value, began] = [page(1, 3), 7];
  one.keep(0, { value, began });
  t.like(one.get(0), { value, began });
  t.is(other.get(0), undefined);
});

test('pages of few events that name many emails take no more memory than others, and an account has its share', (t) => {
  const pages = new RecentPages();
  const [quiet, other] = [pages.ofFollower(), pages.ofFollower()];
  quiet.keep(0, { value: page(1, 1), began: 0 });
  const positions = Array.from({ length: 100 }, (_, at) => at);
  for (const at of positions) other.keep(at, { value: page(at + 1, 4_000), began: 0 });
  t.truthy(other.get(99));
  t.true(kept(other, positions) <= 4 * 1024 * 1024);
  t.truthy(quiet.get(0), 'what one account reads takes nothing of another one');
  other.keep(100, { value: page(101, 20_000), began: 0 });
  t.is(other.get(100), undefined, 'larger than a page may be');
});

test('all accounts together keep no more than the memory', (t) => {
  const pages = new RecentPages();
  const positions = Array.from({ length: 10 }, (_, at) => at);
  const value = page(1, 4_000);
  const followers = Array.from({ length: 50 }, () => pages.ofFollower());
  for (const follower of followers) for (const at of positions) follower.keep(at, { value, began: 0 });
  t.true(followers.reduce((sum, follower) => sum + kept(follower, positions), 0) <= 32 * 1024 * 1024);
  t.is(kept(followers[0]!, positions), '""'.length * positions.length);
  t.truthy(followers.at(-1)!.get(9));
});

test.serial('a page is kept for some seconds', (t) => {
  const { now } = performance;
  const follower = new RecentPages().ofFollower();
  follower.keep(0, { value: page(1, 1), began: 0 });
  t.truthy(follower.get(0));
  const later = now.call(performance) + 6_000;
  performance.now = () => later;
  t.teardown(() => {
    performance.now = now;
  });
  t.is(follower.get(0), undefined);
});
