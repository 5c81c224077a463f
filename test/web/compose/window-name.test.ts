// Tests what a compose window that is put away is called.
import { asRecipient, NO_RECIPIENTS } from '../../../web/src/compose/recipients.js';
import { windowName } from '../../../web/src/compose/window-name.js';
import test from '../../support/test.js';

const TO_ZOE = { ...NO_RECIPIENTS, To: [asRecipient({ name: 'Zoë Ünal', address: 'zoe@example.test' })] };
const WRITTEN = '<div>Dear all,&nbsp;we <b>meet</b> &lt;soon&gt;</div><div>at the zoo</div>';

test('a window is named by its subject, else by its recipients, else by the first words', (t) => {
  t.is(windowName(' The zoo ', TO_ZOE, WRITTEN), 'The zoo');
  t.is(windowName(' ', TO_ZOE, WRITTEN), 'Zoë Ünal');
  const bcc = { ...TO_ZOE, Bcc: [asRecipient({ name: '', address: 'max@example.test' })] };
  t.is(windowName('', bcc, WRITTEN), 'Zoë Ünal, max@example.test');
  t.is(windowName('', NO_RECIPIENTS, WRITTEN), 'Dear all, we meet <soon>');
});

test('a window in which nothing was written has no name, whatever its signature', (t) => {
  t.is(windowName('', NO_RECIPIENTS, ''), '');
  t.is(windowName('', NO_RECIPIENTS, '<div><br></div><div><br></div><div>Zoë Ünal, Zoo</div>'), '');
});

test('a long first line gives its first words alone', (t) => {
  t.is(
    windowName('', NO_RECIPIENTS, '<p>one two three four five six seven eight nine</p>'),
    'one two three four five six seven eight',
  );
});
