// Tests the replies to faults that the tests of the listeners do not reach.

import { ActorFault } from '../../../src/actors/runtime/errors.js';
import { replyTo, SmtpRefused } from '../../../src/gateways/smtp/replies.js';
import { SpoolFault } from '../../../src/message-content/spool/errors.js';
import { StoreFault } from '../../../src/store/errors.js';
import test from '../../support/test.js';

const said = (error: unknown): string => {
  const { code, text } = replyTo(error);
  return `${code} ${text.split(' ')[0]}`;
};

test('disk full is told apart however deep it lies', (t) => {
  const disk = Object.assign(new Error('could not extend file'), { code: '53100' });
  t.is(
    said(new StoreFault('store-failed', 'x', { temporary: false, cause: new Error('y', { cause: disk }) })),
    '452 4.3.1',
  );
  t.is(said(new SpoolFault('spool-full', 'x')), '452 4.3.1');
  const loop = new Error('self');
  loop.cause = loop;
  t.is(said(new StoreFault('store-failed', 'x', { temporary: false, cause: loop })), '451 4.3.0');
});

test('our faults are temporary, bugs end the connection', (t) => {
  t.is(said(new StoreFault('store-conflict', 'x', { temporary: false })), '451 4.3.0');
  t.is(said(new SpoolFault('spool-failed', 'x')), '451 4.3.0');
  t.is(said(new ActorFault('failed', 'x')), '451 4.3.0');
  t.is(said(new SmtpRefused('loop')), '554 5.4.6');
  t.is(said('thrown'), '421 4.3.0');
});
