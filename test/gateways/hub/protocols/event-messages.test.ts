// Tests events as hub messages.

import { pino } from 'pino';
import { eventMessages } from '../../../../src/gateways/hub/protocols/event-messages.js';
import { JSON_PROTOCOL } from '../../../../src/gateways/hub/protocols/json-protocol.js';
import { emailAdded } from '../../../support/hub-fakes.js';
import test from '../../../support/test.js';

const log = pino({ level: 'silent' });

test('an event is an invocation with one argument', (t) => {
  const [one] = eventMessages(emailAdded('e1'), 0, 'account', log);
  const { arguments: args, ...rest } = one!.message;
  t.deepEqual(rest, { type: 1, target: 'NewEmail' });
  t.is(args.length, 1);
  t.like(args[0], { id: 'e1' });
});

test('the record separator in a subject is escaped', (t) => {
  const event = emailAdded('e1');
  if (event.type !== 'EmailAdded') throw new Error('of the wrong type');
  const email = { ...event.payload.email, subject: 'a\u001eb' };
  const [one] = eventMessages({ ...event, payload: { ...event.payload, email } }, 0, 'account', log);
  const octets = JSON_PROTOCOL.encode(one!.message);
  t.is(octets.indexOf(0x1e), octets.length - 1);
});
