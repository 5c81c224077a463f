// Tests what is said of an address when mail is from it.
import type { Preferences } from '../../../src/client/index.js';
import { identityOf, signatureFrom, withIdentity } from '../../../web/src/compose/identities.js';
import test from '../../support/test.js';

const SHOP = { address: 'Shop@Zoë.test', displayName: 'The shop', signature: '' };
const preferences = { signature: '<b>Z</b>', identities: [SHOP] } as unknown as Preferences;

test('an address has its own signature, also an empty one, and others have that of the account', (t) => {
  t.is(identityOf(preferences, 'SHOP@zoë.test'), SHOP);
  t.is(signatureFrom(preferences, 'shop@zoë.test'), '');
  t.is(signatureFrom(preferences, 'other@zoë.test'), '<b>Z</b>');
  t.is(signatureFrom(preferences, null), '<b>Z</b>');
  t.is(signatureFrom(undefined, null), '');
});

test('a change of an address keeps the rest, and what says nothing is left out', (t) => {
  const named = withIdentity([SHOP], 'a@b.test', { displayName: 'A' });
  t.deepEqual(named, [SHOP, { address: 'a@b.test', displayName: 'A' }]);
  t.deepEqual(withIdentity(named, 'A@b.test', { displayName: '' }), [SHOP]);
  t.deepEqual(withIdentity([SHOP], 'shop@zoë.test', { displayName: '' }), [
    { address: 'shop@zoë.test', signature: '' },
  ]);
});
