// Tests the circuit breaker of a service: when it opens, and who tries the service again.
import { CheckBreaker } from '../../src/message-checks/check-breaker.js';
import test from '../support/test.js';

function breaker() {
  const clock = { now: 0 };
  return { clock, breaker: new CheckBreaker({ failures: 3, firstMs: 100, longestMs: 400, now: () => clock.now }) };
}

test('failures in a row open it; an answer between them does not let it open', (t) => {
  const { breaker: open } = breaker();
  for (let i = 0; i < 3; i++) {
    t.true(open.mayAsk());
    open.failed();
  }
  t.false(open.mayAsk());
  const { breaker: closed } = breaker();
  for (const failed of [true, true, false, true, true]) failed ? closed.failed() : closed.answered();
  t.true(closed.mayAsk());
});

test('messages of one holder that get no answer never open it for others; those of several do', (t) => {
  const { breaker: open } = breaker();
  for (let i = 0; i < 10; i++) open.failed('heavy');
  t.true(open.mayAsk('other'));
  open.failed('second');
  open.failed('second');
  t.true(open.mayAsk('other'));
  open.failed('third');
  t.false(open.mayAsk('other'));
  const { breaker: mixed } = breaker();
  mixed.failed();
  mixed.failed('heavy');
  t.true(mixed.mayAsk());
  // The service was not reached: the message is not the cause.
  mixed.failed('heavy', false);
  t.false(mixed.mayAsk());
});

test('it opens for one holder alone after several failures of its messages, until anybody is answered', (t) => {
  const { breaker: open, clock } = breaker();
  for (let i = 0; i < 3; i++) {
    t.true(open.mayAsk('heavy'));
    open.failed('heavy');
  }
  t.false(open.mayAsk('heavy'));
  t.true(open.mayAsk('other'));
  clock.now = 101;
  t.true(open.mayAsk('heavy'));
  t.false(open.mayAsk('heavy'), 'one message tries');
  open.failed('heavy');
  clock.now = 250;
  t.false(open.mayAsk('heavy'), 'the second pause is twice as long');
  open.answered();
  t.true(open.mayAsk('heavy'));
  t.true(open.mayAsk('heavy'));
});

test('after the pause one request tries the service, and the others wait for its answer', (t) => {
  const { breaker: tried, clock } = breaker();
  for (let i = 0; i < 3; i++) tried.failed();
  clock.now = 101;
  t.true(tried.mayAsk());
  t.false(tried.mayAsk());
  tried.failed();
  // The second pause is twice as long.
  clock.now = 250;
  t.false(tried.mayAsk());
  clock.now = 302;
  t.true(tried.mayAsk());
  tried.answered();
  t.true(tried.mayAsk());
  t.true(tried.mayAsk());
});
