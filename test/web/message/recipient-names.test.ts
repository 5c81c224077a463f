import { recipientNames } from '../../../web/src/message/recipient-names.js';
import test from '../../support/test.js';

const person = (address: string, displayName = '') => ({ address, displayName });

test('the reader is first, others have their first names', (t) => {
  const people = [person('ann@a.test', 'Ann Example'), person('Zoe@Example.test'), person('office@a.test')];
  t.is(recipientNames(people, ['zoe@example.test'], 'me'), 'me, Ann, office');
  t.is(recipientNames(people.slice(0, 1), [], 'me'), 'Ann');
  t.is(recipientNames([], [], 'me'), '');
});

test('many recipients are counted', (t) => {
  const people = Array.from({ length: 10 }, (_, i) => person(`p${i}@a.test`));
  t.is(recipientNames(people, [], 'me'), 'p0, p1, p2, p3, +6');
});
