// Tests filters as their form has them.
import type { Filter } from '../../../src/client/index.js';
import {
  changedFilter,
  conditionsOf,
  draftOf,
  faultOf,
  inputOf,
  lastPriority,
  movedFilters,
  NO_FILTER,
} from '../../../web/src/filters/filter-draft.js';
import test from '../../support/test.js';

const filter = (id: string, priority: number): Filter => ({
  id,
  name: id,
  isEnabled: true,
  priority,
  fromAddressContains: 'news@',
  subjectContains: null,
  bodyContains: null,
  hasAttachments: false,
  markAsRead: true,
  assignLabelId: null,
  delete: null,
  createdAt: '2026-01-01T00:00:00.000Z',
  updatedAt: '2026-01-01T00:00:00.000Z',
  lastAppliedAt: null,
  timesApplied: 3,
  assignLabelName: null,
  assignLabelColor: null,
});

test('what is saved without a change is the same filter', (t) => {
  const own = filter('News', 7);
  const { name, isEnabled, priority, fromAddressContains, subjectContains, bodyContains, hasAttachments } = own;
  const rest = { markAsRead: true, assignLabelId: null, delete: null };
  const same = {
    name,
    isEnabled,
    priority,
    fromAddressContains,
    subjectContains,
    bodyContains,
    hasAttachments,
    ...rest,
  };
  t.deepEqual(inputOf(draftOf(own), 7, 'Filter'), same);
  t.deepEqual(changedFilter(own, { isEnabled: false }), { ...same, isEnabled: false });
});

test('blank words are no condition, and a filter needs a condition and an action', (t) => {
  t.is(faultOf(NO_FILTER), 'noCondition');
  t.is(faultOf({ ...NO_FILTER, subject: '  ', delete: true }), 'noCondition');
  t.is(faultOf({ ...NO_FILTER, attachments: 'with' }), 'noAction');
  t.is(faultOf({ ...NO_FILTER, body: 'x', labelId: 'label' }), undefined);
  t.deepEqual(conditionsOf({ ...NO_FILTER, from: ' a@b ', subject: ' ', attachments: 'without' }), {
    fromAddressContains: 'a@b',
    subjectContains: null,
    bodyContains: null,
    hasAttachments: false,
  });
});

test('a filter without a name is called after its words', (t) => {
  t.is(inputOf({ ...NO_FILTER, name: ' Mine ' }, 0, 'Filter').name, 'Mine');
  t.is(inputOf({ ...NO_FILTER, subject: ' Invoice' }, 0, 'Filter').name, 'Invoice');
  t.is(inputOf({ ...NO_FILTER, body: 'x'.repeat(500) }, 0, 'Filter').name.length, 200);
  t.is(inputOf({ ...NO_FILTER, attachments: 'with' }, 0, 'Filter').name, 'Filter');
});

test('a new filter comes last, and filters change places', (t) => {
  const filters = [filter('a', 0), filter('b', 0), filter('c', 5)];
  t.is(lastPriority([]), 0);
  t.is(lastPriority(filters), 6);
  t.deepEqual(movedFilters(filters, 'c', -1), [
    { id: 'c', number: 1 },
    { id: 'b', number: 2 },
  ]);
  t.deepEqual(movedFilters(filters, 'a', -1), []);
  t.deepEqual(movedFilters(filters, 'c', 1), []);
});
