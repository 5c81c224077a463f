// Tests what a request to send says of the time, and of the email that is answered.
import { sendOptions } from '../../../web/src/compose/send-options.js';
import test from '../../support/test.js';

const now = new Date('2026-11-29T12:00:00Z');
const later = '2026-11-29T13:00:00.000Z';

test('an email is sent at its time, or at once when that has passed without a network', (t) => {
  t.deepEqual(sendOptions({ sendAt: later }, null, now), { sendAt: later });
  t.deepEqual(sendOptions({ sendAt: later }, null, new Date(later)), {});
  t.deepEqual(sendOptions({ sendAt: null }, { emailId: 'e1', how: 'repliesTo' }, now), { repliesTo: 'e1' });
  t.deepEqual(sendOptions({ sendAt: null }, { emailId: 'e1', how: 'forwards' }, now), { forwards: 'e1' });
});
