// Tests what the search field suggests.
import { type Known, remembered, suggestionsFor } from '../../../web/src/list/suggestions.js';
import test from '../../support/test.js';

const KNOWN: Known = {
  operators: [
    { name: 'from:', hint: 'sent by', isOpen: true },
    { name: 'has:attachment', hint: 'with an attachment', isOpen: false },
    { name: 'in:', hint: 'in a folder', isOpen: true },
  ],
  folders: [
    { value: 'inbox', name: 'Inbox' },
    { value: 'Zoo society', name: 'Zoo society' },
  ],
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

test('in: suggests folders by the name that the reader sees', (t) => {
  t.deepEqual(texts('okapi in:'), ['okapi in:inbox ', 'okapi in:"Zoo society" ']);
  t.deepEqual(texts('in:"zo'), ['in:"Zoo society" ']);
  t.deepEqual(texts('in:nowhere'), []);
});

test('from: and to: suggest people', (t) => {
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
