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
import { NO_ACTIONS, NO_CONDITIONS } from '../../support/filter-row.js';
import test from '../../support/test.js';

const filter = (id: string, priority: number): Filter => ({
  id,
  name: id,
  isEnabled: true,
  priority,
  ...NO_CONDITIONS,
  ...NO_ACTIONS,
  fromAddressContains: 'news@',
  hasAttachments: false,
  markAsRead: true,
  disabledReason: null,
  createdAt: '2026-01-01T00:00:00.000Z',
  updatedAt: '2026-01-01T00:00:00.000Z',
  lastAppliedAt: null,
  timesApplied: 3,
  assignLabelName: null,
  assignLabelColor: null,
  moveToFolderName: null,
});

test('what is saved without a change is the same filter', (t) => {
  const own = filter('News', 7);
  const { name, isEnabled, priority, fromAddressContains, hasAttachments } = own;
  const conditions = { ...NO_CONDITIONS, fromAddressContains, hasAttachments };
  const same = { name, isEnabled, priority, ...conditions, ...NO_ACTIONS, markAsRead: true };
  t.deepEqual(inputOf(draftOf(own), 7, 'Filter'), same);
  t.deepEqual(changedFilter(own, { isEnabled: false }), { ...same, isEnabled: false });
});

test('blank words are no condition, and a filter needs a condition and an action', (t) => {
  t.is(faultOf(NO_FILTER), 'noCondition');
  t.is(faultOf({ ...NO_FILTER, subject: '  ', delete: true }), 'noCondition');
  t.is(faultOf({ ...NO_FILTER, attachments: 'with' }), 'noAction');
  t.is(faultOf({ ...NO_FILTER, body: 'x', labelId: 'label' }), undefined);
  t.deepEqual(conditionsOf({ ...NO_FILTER, from: ' a@b ', subject: ' ', attachments: 'without' }), {
    ...NO_CONDITIONS,
    fromAddressContains: 'a@b',
    hasAttachments: false,
  });
});

test('every condition and action comes back from a draft', (t) => {
  const whole = {
    ...{ name: 'All', isEnabled: false, priority: 3, fromAddressContains: 'a', toContains: 'b', ccContains: 'c' },
    ...{ subjectContains: 'd', bodyContains: 'e', headerName: 'X-F', headerContains: 'f', listId: 'g', matches: 'h+' },
    ...{ hasAttachments: true, minSizeBytes: 1_500, maxSizeBytes: 2_000_000, markAsRead: true, flag: '$Work' },
    ...{ assignLabelId: 'label', moveToFolderId: 'folder', forwardTo: 'x@y.test', delete: true, stop: true },
  };
  t.deepEqual(inputOf(draftOf(whole), 3, 'Filter'), whole);
  t.deepEqual(inputOf(draftOf({ ...whole, flag: true }), 3, 'Filter'), { ...whole, flag: true });
});

test('a value needs the name of its field, and a size is a number', (t) => {
  const draft = { ...NO_FILTER, subject: 'x', markAsRead: true };
  t.is(faultOf({ ...draft, field: 'high' }), 'noFieldName');
  t.is(faultOf({ ...draft, field: 'high', fieldName: 'X-Priority' }), undefined);
  for (const size of ['much', '-1', 'NaN', '1e99']) t.is(faultOf({ ...draft, atLeast: size }), 'noSize', size);
  t.is(faultOf({ ...draft, atLeast: '2', atMost: '1' }), 'noSizeBetween');
  t.is(faultOf({ ...draft, atLeast: '2', atMost: '2' }), undefined);
  t.is(conditionsOf({ ...draft, atMost: '1,5' }).maxSizeBytes, 1_500);
  t.is(faultOf({ ...NO_FILTER, atLeast: '0', folderId: 'folder' }), undefined);
  t.is(faultOf({ ...NO_FILTER, matches: 'x', stop: true }), undefined);
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
