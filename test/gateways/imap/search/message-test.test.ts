// Tests search keys that are decided message by message.

import type { Message } from '../../../../src/gateways/imap/messages/message-source.js';
import { messageTest } from '../../../../src/gateways/imap/search/message-test.js';
import test from '../../../support/test.js';

test('a year below 100 is of the first century', (t) => {
  const message = { receivedAt: Date.UTC(1930, 0, 1) } as Message;
  const day = { year: 50, month: 1, day: 1 };
  const isFound = (compare: 'before' | 'since') =>
    messageTest({ type: 'day', of: 'received', compare, day }, 0).test(message);
  t.false(isFound('before'));
  t.true(isFound('since'));
});
