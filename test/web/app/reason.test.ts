// Tests what a failure says to people.
import { NetworkFault, Refusal } from '../../../src/client/index.js';
import { reasonOf } from '../../../web/src/app/reason.js';
import test from '../../support/test.js';

test('a refusal says what is wrong with each field, else its sentence, else its title', (t) => {
  t.is(reasonOf(new Refusal(403, { title: 'Forbidden', detail: 'Only the operator may.' })), 'Only the operator may.');
  const errors = { name: ['is too long', 'is empty'], scopes: ['must hold at least one'] };
  t.is(reasonOf(new Refusal(400, { errors })), 'name: is too long, is empty; scopes: must hold at least one');
  t.is(reasonOf(new Refusal(404, { title: 'Not Found' })), 'Not Found');
  t.is(reasonOf(new NetworkFault('ECONNREFUSED')), 'the server does not answer');
  t.is(reasonOf('odd'), 'odd');
});
