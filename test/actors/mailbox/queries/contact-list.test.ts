// Tests whom a list of contacts finds, and in which order.
import { ContactList } from '../../../../src/actors/mailbox/queries/contact-list.js';
import test from '../../../support/test.js';

const DAY = 86_400_000;
const NOW = Date.UTC(2026, 10, 29);
const person = (address: string, displayName = '') => ({ address, displayName });

function listOf(...emails: readonly (readonly [daysAgo: number, ...people: ReturnType<typeof person>[]])[]) {
  const list = new ContactList();
  for (const [days, ...people] of emails) list.add(NOW - days * DAY, people);
  return list;
}
const addresses = (list: ContactList, text: string, limit = 20) => list.find(text, limit).map(({ address }) => address);

test('recent and frequent recipients come first', (t) => {
  const list = listOf(
    ...Array.from({ length: 5 }, (_, i): [number, ReturnType<typeof person>] => [700 + i, person('old@x.test')]),
    [1, person('new@x.test')],
    ...Array.from({ length: 3 }, (_, i): [number, ReturnType<typeof person>] => [20 + i, person('often@x.test')]),
    [400, person('once@x.test')],
  );
  t.deepEqual(addresses(list, ''), ['often@x.test', 'new@x.test', 'once@x.test', 'old@x.test']);
  t.deepEqual(addresses(list, '', 2), ['often@x.test', 'new@x.test']);
});

test('each word of the text begins a word of the name or the address, in any case and without accents', (t) => {
  const list = listOf([
    0,
    person('Jose.Munoz@Example.org', 'José Muñoz'),
    person('x1@y.test', 'Straße, Zoë'),
    person('z@y.test'),
  ]);
  for (const text of ['jose', 'JOSÉ', 'mun', 'munoz jo', 'jose.mu', 'Jose.Munoz@Exa', 'exam', 'josé example', ' jo '])
    t.deepEqual(addresses(list, text), ['Jose.Munoz@Example.org'], text);
  for (const text of ['ose', 'jose zoe', 'oz', 'example.com', '@', '.', 'josé  x1'])
    t.deepEqual(addresses(list, text), [], text);
  for (const text of ['zoe', 'STRASSE', 'straß', 'x1@y']) t.deepEqual(addresses(list, text), ['x1@y.test'], text);
  t.deepEqual(addresses(list, 'y').sort(), ['x1@y.test', 'z@y.test']);
});

test('one address is one person, with the newest name that is none', (t) => {
  const list = listOf(
    [3, person('Ann@x.test', 'Ann Old')],
    [1, person('ann@X.test', '')],
    [2, person('ann@x.test', 'Ann New')],
    [9, person('ann@x.test', 'Ann Oldest')],
  );
  t.deepEqual(list.find('', 20), [{ address: 'ann@X.test', displayName: 'Ann Old' }]);
  list.add(NOW, [person('ann@x.test', ' Ann Now ')]);
  t.deepEqual(list.find('now', 20), [{ address: 'ann@x.test', displayName: 'Ann Now' }]);
  t.deepEqual(list.find('old', 20), []);
});

test('the number of people and their texts are bounded', (t) => {
  const list = new ContactList();
  list.add(NOW, [
    person('best@x.test'),
    person(`${'x'.repeat(400)}@x.test`),
    person(''),
    person('n@x.test', 'y'.repeat(999)),
  ]);
  for (let i = 0; i < 30_000; i += 100) {
    list.add(
      NOW - 100 * DAY,
      Array.from({ length: 100 }, (_, n) => person(`p${i + n}@x.test`, 'Somebody')),
    );
  }
  t.true(list.find('', 100_000).length <= 10_000);
  t.is(addresses(list, '')[0], 'best@x.test');
  t.is(list.find('n@', 1)[0]?.displayName.length, 200);
  t.true(list.octets < 16 * 1024 * 1024);
});
