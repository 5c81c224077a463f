// Tests which recipients are the postmaster.
import { isOnlyForPostmaster, isPostmaster } from '../../src/message-checks/postmaster.js';
import test from '../support/test.js';

test('the postmaster of any domain, and of none, is the postmaster in any case', (t) => {
  for (const address of ['postmaster', 'Postmaster@example.test', 'POSTMASTER@a.b']) t.true(isPostmaster(address));
  for (const address of ['postmaster.x@example.test', 'postmasters@example.test', 'a@postmaster.test', ''])
    t.false(isPostmaster(address));
  t.true(isOnlyForPostmaster(['postmaster', 'postmaster@example.test']));
  t.false(isOnlyForPostmaster(['postmaster', 'ann@example.test']));
});
