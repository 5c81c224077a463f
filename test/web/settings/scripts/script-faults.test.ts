// Tests how the page reads what is wrong with a Sieve script.
import { faultsIn, indexOf } from '../../../../web/src/settings/scripts/script-faults.js';
import test from '../../../support/test.js';

const refusal = (errors: object) => Object.assign(new Error('Bad Request'), { errors });

test('faults have the place that the server says, and others have none', (t) => {
  const content = ['line 3, column 15: there is no command foo: x', 'has more than 64 kB'];
  t.deepEqual(faultsIn(refusal({ content })), [
    { line: 3, column: 15, message: 'there is no command foo: x' },
    { line: undefined, column: undefined, message: 'has more than 64 kB' },
  ]);
  t.is(faultsIn(refusal({ name: ['must have 1 to 512 bytes'] })), undefined);
  t.is(faultsIn(new Error('no answer')), undefined);
  t.is(faultsIn('text'), undefined);
});

test('a place is found in the text, also behind its end', (t) => {
  const text = 'keep;\n  stop;\n\nx';
  t.is(indexOf(text, 1, 1), 0);
  t.is(indexOf(text, 2, 3), 8);
  t.is(indexOf(text, 2, 99), 13);
  t.is(indexOf(text, 3, 1), 14);
  t.is(indexOf(text, 4, 2), 16);
  t.is(indexOf(text, 9, 9), 16);
});
