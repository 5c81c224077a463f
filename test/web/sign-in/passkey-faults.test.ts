// Tests what people are told when a passkey does not work, and where passkeys can work at all.
import { NetworkFault, Refusal } from '../../../src/client/index.js';
import { en } from '../../../web/src/i18n/en.js';
import { isNamedHost, passkeyFault } from '../../../web/src/sign-in/passkey-faults.js';
import test from '../../support/test.js';

const fault = (name: string): Error => Object.assign(new Error(name), { name });

test('passkeys need the name of a host', (t) => {
  for (const name of ['localhost', 'mail.example.org', '1.example.org']) t.true(isNamedHost(name), name);
  for (const address of ['127.0.0.1', '[::1]', '10.0.0.8']) t.false(isNamedHost(address), address);
});

test('a fault says what happened and what to do next', (t) => {
  t.is(passkeyFault(fault('NotAllowedError'), 'signIn'), 'passkeys.fault.cancelled');
  t.is(passkeyFault(fault('NotAllowedError'), 'add'), 'passkeys.fault.notAdded');
  t.is(passkeyFault(fault('InvalidStateError'), 'add'), 'passkeys.fault.known');
  t.is(passkeyFault(fault('ConstraintError'), 'add'), 'passkeys.fault.unable');
  t.is(passkeyFault(fault('SecurityError'), 'signIn'), 'passkeys.fault.elsewhere');
  t.is(passkeyFault(new Refusal(401, {}), 'signIn'), 'passkeys.fault.unknown');
  t.is(passkeyFault(new Refusal(400, {}), 'add'), 'passkeys.fault.late');
  // The library wraps what the browser threw.
  const wrapped = Object.assign(new Error('wrapped', { cause: fault('NotAllowedError') }), { name: 'WebAuthnError' });
  t.is(passkeyFault(wrapped, 'signIn'), 'passkeys.fault.cancelled');
  for (const [key, text] of Object.entries(en))
    if (key.startsWith('passkeys.fault.')) t.regex(String(text), /[.;:] .*(?:Try|Sign|Set up|Open)/, key);
});

test('what has its own words keeps them', (t) => {
  t.is(passkeyFault(new NetworkFault('gone'), 'signIn'), undefined);
  t.is(passkeyFault(new Refusal(409, { detail: 'full' }), 'add'), undefined);
  t.is(passkeyFault('odd', 'add'), undefined);
});
