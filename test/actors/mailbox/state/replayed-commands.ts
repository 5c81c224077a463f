// Draws the commands of random histories that are replayed, and lists commands that make every type of record.
import fc from 'fast-check';
import type { Kind } from '../outbound-world.js';

const WORDS = ['red', 'green', 'blue'];
const word = fc.constantFrom(...WORDS);
const which = fc.nat(5);

export const rule = fc.record({
  isEnabled: fc.boolean(),
  priority: fc.nat(3),
  subject: fc.option(word),
  body: fc.option(word, { freq: 3 }),
  markAsRead: fc.option(fc.boolean()),
  label: fc.option(which),
  delete: fc.option(fc.boolean(), { freq: 5 }),
});

export const command = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('deliver' as const),
      subject: word,
      at: fc.nat(9),
      refersTo: fc.option(fc.nat(6)),
      isJunk: fc.nat(4).map((n) => n === 0),
    }),
  },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('setRead' as const), which, isRead: fc.boolean() }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom('remove' as const, 'announce' as const), which }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('applyBodyFilters' as const), which, all: fc.boolean() }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constantFrom('createLabel' as const, 'updateLabel' as const), which, name: word }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('deleteLabel' as const), which }) },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constantFrom('assignLabel' as const, 'unassignLabel' as const),
      which,
      label: which,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constantFrom('createFilter' as const, 'updateFilter' as const), which, rule }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('deleteFilter' as const), which }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('runFilter' as const, 'undoRun' as const), which }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constantFrom('putScript' as const, 'activateScript' as const, 'deleteScript' as const),
      name: word,
      content: word,
      isActive: fc.constantFrom(true, false, null),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('renameScript' as const), name: word, newName: word }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('append' as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('choosePreferences' as const),
      chosen: fc.record({ theme: word, emailsPerPage: fc.nat() }, { requiredKeys: [], noNullPrototype: true }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('setMetadata' as const),
      label: fc.option(which),
      name: fc.constantFrom('/private/Comment', '/private/comment', '/shared/b'),
      value: fc.option(fc.constantFrom('YQ==', 'AP8=', '')),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constantFrom('copy' as const, 'move' as const),
      which,
      toFolderId: fc.constantFrom('drafts', 'archive'),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constantFrom('createDraft' as const, 'updateDraft' as const, 'deleteDraft' as const),
      which,
      to: fc.nat(2),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('enqueue' as const), which: fc.option(which), to: fc.nat(2) }),
  },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('startDelivery' as const), which }) },
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('reportDelivery' as const),
      which,
      outcomes: fc.array(fc.constantFrom<Kind>('delivered', 'temporary', 'permanent'), { maxLength: 3 }),
      isOver: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('giveDsn' as const), which }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('chooseVacation' as const),
      isEnabled: fc.boolean(),
      period: word,
      intervalDays: fc.constantFrom(1, 30),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('answerDue' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('removeSuppression' as const), which: fc.nat(2) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('manageOutbound' as const),
      which,
      action: fc.constantFrom('retry' as const, 'cancel' as const),
    }),
  },
);
export type Command = typeof command extends fc.Arbitrary<infer T> ? T : never;

const WAITING = {
  isEnabled: true,
  priority: 1,
  subject: null,
  body: 'red',
  markAsRead: true,
  label: null,
  delete: null,
};

export const FIRST: readonly Command[] = [
  { kind: 'createFilter', which: 0, rule: WAITING },
  ...WORDS.map((subject): Command => ({ kind: 'deliver', subject, at: 1, refersTo: null, isJunk: false })),
  ...WORDS.map((name, i): Command => ({ kind: 'createLabel', which: i, name })),
  { kind: 'createFilter', which: 0, rule: { ...WAITING, subject: 'blue', body: null, delete: true } },
];

export type Step = readonly Command[] | 'reload';

/** A history in which every type of record is made, so that the test needs no luck for that. */
export const EVERY_TYPE: Step[] = [
  [{ kind: 'announce', which: 1 }],
  [{ kind: 'applyBodyFilters', which: 0, all: true }],
  [{ kind: 'setRead', which: 0, isRead: true }],
  [{ kind: 'setRead', which: 0, isRead: false }],
  [{ kind: 'assignLabel', which: 0, label: 0 }],
  [{ kind: 'unassignLabel', which: 0, label: 0 }],
  [{ kind: 'updateLabel', which: 0, name: 'red' }],
  [{ kind: 'deleteLabel', which: 0 }],
  [{ kind: 'remove', which: 0 }],
  [{ kind: 'remove', which: 0 }],
  [{ kind: 'deliver', subject: 'blue', at: 1, refersTo: null, isJunk: false }],
  ...Array.from({ length: 11 }, (_, which): Step => [{ kind: 'runFilter', which }]),
  [{ kind: 'undoRun', which: 0 }],
  [{ kind: 'deleteFilter', which: 0 }],
  [{ kind: 'choosePreferences', chosen: { theme: 'red' } }],
  [{ kind: 'setMetadata', label: null, name: '/private/Comment', value: 'YQ==' }],
  [
    { kind: 'putScript', name: 'red', content: 'keep;', isActive: true },
    { kind: 'renameScript', name: 'red', newName: 'blue' },
  ],
  [{ kind: 'createDraft', which: 0, to: 1 }],
  [{ kind: 'deleteDraft', which: 0, to: 1 }],
  [{ kind: 'enqueue', which: null, to: 1 }],
  [{ kind: 'startDelivery', which: 0 }],
  [{ kind: 'reportDelivery', which: 0, outcomes: ['delivered'], isOver: true }],
  [{ kind: 'enqueue', which: null, to: 2 }],
  ...[0, 1].flatMap((which): Step[] => [
    [{ kind: 'startDelivery', which }],
    [{ kind: 'reportDelivery', which, outcomes: ['permanent', 'permanent', 'permanent'], isOver: true }],
  ]),
  [{ kind: 'removeSuppression', which: 0 }],
  [{ kind: 'chooseVacation', isEnabled: true, period: 'red', intervalDays: 1 }],
  [{ kind: 'deliver', subject: 'green', at: 1, refersTo: null, isJunk: false }],
  [{ kind: 'answerDue' }],
  [{ kind: 'putScript', name: 'blue', content: 'require "duplicate"; if duplicate { keep; }', isActive: true }],
  [{ kind: 'deliver', subject: 'green', at: 1, refersTo: null, isJunk: false }],
];
