// Passkeys as their account manages them; `auth/passkeys` verifies what authenticators answer.
import type { PasskeyStore } from '../../store/sign-in/passkeys.js';
import type { Passkeys } from './protocol.js';

const MOST_PASSKEYS = 20;

export function createPasskeys(store: PasskeyStore): Passkeys {
  return {
    list: (accountId) => store.list(accountId),
    add: (accountId, passkey, challenge) => store.add(accountId, passkey, challenge, MOST_PASSKEYS),
    remove: (accountId, id) => store.remove(accountId, id),
    find: (credentialId, rpId) => store.find(credentialId, rpId),
    use: (id, counter, challenge) => store.use(id, counter, challenge),
  };
}
