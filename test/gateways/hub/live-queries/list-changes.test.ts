// Tests differences of lists: applied in order they turn one list into the other, and they are as short as possible.

import fc from 'fast-check';
import {
  changesOf,
  type ListSnapshot,
  neededBy,
  stepsBetween,
} from '../../../../src/gateways/hub/live-queries/list-changes.js';
import { runs } from '../../../support/amounts.js';
import { applyChanges, type FollowedList } from '../../../support/clients/followed-list.js';
import test from '../../../support/test.js';

const list = (
  entries: readonly (readonly [id: string, version: number])[],
  totalCount = 9,
  unreadCount = 3,
): ListSnapshot => ({
  emailIds: entries.map(([id]) => id),
  versions: entries.map(([, version]) => version),
  totalCount,
  unreadCount,
});

const lists = fc
  .record({
    entries: fc.uniqueArray(fc.tuple(fc.integer({ min: 0, max: 14 }).map(String), fc.nat(2)), {
      selector: ([id]) => id,
      maxLength: 12,
    }),
    total: fc.nat(3),
    unread: fc.nat(3),
  })
  .map(({ entries, total, unread }) => list(entries, total, unread));

function client({ emailIds, versions, totalCount: total, unreadCount: unread }: ListSnapshot): FollowedList {
  const items = emailIds.map((id, i) => ({ id, version: versions[i] }));
  return { id: 'list', items, total, unread, ended: undefined, changes: [] };
}

test('the changes make a list the other, whatever the lists are', (t) => {
  fc.assert(
    fc.property(lists, lists, (before, after) => {
      const steps = stepsBetween(before, after);
      const shown = client(before);
      const versions = new Map(neededBy(steps));
      applyChanges(shown, changesOf(steps, (id) => ({ id, version: versions.get(id) })) as never);
      const { changes: _, ...expected } = client(after);
      t.like(shown, expected);
    }),
    { numRuns: runs(500) },
  );
});

test('a new email is inserted, and the last of a full page removed', (t) => {
  const before = list(
    [
      ['a', 1],
      ['b', 1],
      ['c', 1],
    ],
    7,
    2,
  );
  const after = list(
    [
      ['n', 1],
      ['a', 1],
      ['b', 1],
    ],
    8,
    3,
  );
  t.deepEqual(stepsBetween(before, after), [
    { type: 'removed', index: 2, id: 'c' },
    { type: 'inserted', index: 0, id: 'n', version: 1 },
    { type: 'counted', total: 8, unread: 3 },
  ]);
});

test('an email that is shown in another way is changed where it is', (t) => {
  t.deepEqual(
    stepsBetween(
      list([
        ['a', 1],
        ['b', 1],
      ]),
      list([
        ['a', 1],
        ['b', 2],
      ]),
    ),
    [{ type: 'changed', index: 1, id: 'b', version: 2 }],
  );
});

test('equal lists have no difference', (t) => {
  t.deepEqual(stepsBetween(list([['a', 1]]), list([['a', 1]])), []);
});
