// Tests the size of a signature, and what is an empty one.
import { LONGEST_SIGNATURE, signatureOf, signatureSize } from '../../../web/src/settings/signature-size.js';
import test from '../../support/test.js';

test('the size is that of UTF-8, as the server counts it', (t) => {
  t.is(signatureSize(''), 0);
  t.is(signatureSize('<b>Zoë 💌</b>'), 16);
  t.is(signatureSize('ë'.repeat(LONGEST_SIGNATURE / 2)), LONGEST_SIGNATURE);
});

test('empty lines are no signature, a picture is one', (t) => {
  t.is(signatureOf({ html: '<div dir="auto"><br></div>', text: '\n' }), '');
  t.is(signatureOf({ html: '<div>Zoë</div>', text: 'Zoë' }), '<div>Zoë</div>');
  t.is(
    signatureOf({ html: '<div><IMG src="https://a.test/z.png"></div>', text: '' }),
    '<div><IMG src="https://a.test/z.png"></div>',
  );
});
