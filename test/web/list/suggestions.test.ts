// Tests what the search field suggests.
import { type Known, knownDays, personPart, remembered, suggestionsFor } from '../../../web/src/list/suggestions.js';
import test from '../../support/test.js';

const KNOWN: Known = {
  operators: [
    { name: 'from:', hint: 'sent by', isOpen: true },
    { name: 'has:attachment', hint: 'with an attachment', isOpen: false },
    { name: 'in:', hint: 'in a folder', isOpen: true },
  ],
  values: {
    'in:': [
      { value: 'inbox', name: 'Posteingang' },
      { value: 'Zoo society', name: 'Zoo society' },
    ],
    'after:': [
      { value: '2026-11-29', name: 'Today' },
      { value: '2026-11-28', name: 'Yesterday' },
    ],
    'larger:': [{ value: '5M', name: '5 MB' }],
  },
  people: [{ address: 'ann@example.test', displayName: 'Ann Example' }],
  recent: ['invoice has:attachment', 'okapi'],
  recentHint: 'Recent search',
};
const texts = (text: string) => suggestionsFor(text, KNOWN).map((suggestion) => suggestion.text);

test('an empty field suggests searches of before and every operator', (t) => {
  t.deepEqual(texts(''), ['invoice has:attachment', 'okapi', 'from:', 'has:attachment ', 'in:']);
});

test('the last word is completed, and what is before it stays', (t) => {
  t.deepEqual(texts('okapi ha'), ['okapi has:attachment ']);
  t.deepEqual(texts('inv'), ['invoice has:attachment']);
  t.deepEqual(texts('okapi f'), ['okapi from:']);
  t.like(suggestionsFor('okapi ha', KNOWN)[0], { label: 'has:attachment', isComplete: true });
  t.like(suggestionsFor('fr', KNOWN)[0], { isComplete: false });
});

test('in: suggests folders, by their name and by the one that the reader sees', (t) => {
  t.deepEqual(texts('okapi in:'), ['okapi in:inbox ', 'okapi in:"Zoo society" ']);
  t.deepEqual(texts('in:post'), ['in:inbox ']);
  t.deepEqual(texts('in:"zo'), ['in:"Zoo society" ']);
  t.deepEqual(texts('in:nowhere'), []);
});

test('days and sizes are suggested by what one types, and by their names', (t) => {
  t.deepEqual(texts('okapi after:'), ['okapi after:2026-11-29 ', 'okapi after:2026-11-28 ']);
  t.deepEqual(texts('after:ye'), ['after:2026-11-28 ']);
  t.deepEqual(texts('after:2026-11-2'), ['after:2026-11-29 ', 'after:2026-11-28 ']);
  t.deepEqual(texts('larger:'), ['larger:5M ']);
  t.deepEqual(knownDays(new Date(2026, 2, 1, 23, 59)), {
    today: '2026-03-01',
    yesterday: '2026-02-28',
    week: '2026-02-22',
    month: '2026-03-01',
    year: '2026-01-01',
  });
});

test('from:, to: and cc: suggest people', (t) => {
  t.is(personPart('okapi cc:"An'), 'An');
  t.is(personPart('subject:an'), undefined);
  t.deepEqual(texts('okapi from:an'), ['okapi from:ann@example.test ']);
  t.like(suggestionsFor('to:', KNOWN)[0], { hint: 'Ann Example', isComplete: true });
});

test('a search is remembered once, the newest first', (t) => {
  t.deepEqual(remembered(['a', 'b', 'c'], 'b'), ['b', 'a', 'c']);
  t.is(
    remembered(
      Array.from({ length: 10 }, (_, i) => `${i}`),
      'new',
    ).length,
    10,
  );
});
