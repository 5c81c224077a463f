// Events as hub messages.
import test from 'ava';
import { pino } from 'pino';
import { eventTexts } from '../../../src/gateways/hub/event-text.js';
import { emailAdded } from '../../support/hub-fakes.js';

const log = pino({ level: 'silent' });

test('an event is an invocation with one argument', (t) => {
  const [one] = eventTexts(emailAdded('e1'), 0, 'account', log);
  const { arguments: args, ...rest } = JSON.parse(one!.text.slice(0, -1));
  t.deepEqual(rest, { type: 1, target: 'NewEmail' });
  t.is(args.length, 1);
  t.is(args[0].id, 'e1');
});

test('the record separator in a subject is escaped', (t) => {
  const event = emailAdded('e1');
  if (event.type !== 'EmailAdded') throw new Error('of the wrong type');
  const email = { ...event.payload.email, subject: 'a\u001eb' };
  const [one] = eventTexts({ ...event, payload: { ...event.payload, email } }, 0, 'account', log);
  t.is(one!.text.indexOf('\u001e'), one!.text.length - 1);
});
