// Tests the follower of an account: it follows again after an interruption, says where events may be missing, and ends for good.

import { Observable, of, type Subscriber, throwError } from 'rxjs';
import type { MailboxEvent, Mailboxes } from '../../../src/actors/mailbox/protocol.js';
import { AccountFollower } from '../../../src/gateways/events/account-follower.js';
import { VirtualTime } from '../../support/cluster/virtual-time.js';
import { statusChanged } from '../../support/hub-fakes.js';
import test from '../../support/test.js';

const EVENT = statusChanged('018f0000-0000-7000-8000-000000000001', 'Sending');
const time = new VirtualTime();
test.before(() => time.install());
test.after.always(() => time.uninstall());

/** `next`: the streams that the mailbox gives, one per subscription; the last one is open. */
function start(...next: Observable<readonly MailboxEvent[]>[]) {
  const told: unknown[] = [];
  let open: Subscriber<readonly MailboxEvent[]> | undefined;
  const last = new Observable<readonly MailboxEvent[]>((subscriber) => {
    open = subscriber;
    return () => {
      open = undefined;
    };
  });
  const mailboxes = { of: () => ({ events$: () => next.shift() ?? last }) } as unknown as Mailboxes;
  const listener = {
    heard: (events: readonly MailboxEvent[], isGap: boolean) => void told.push([events.length, isGap]),
    interrupted: (error: unknown) => void told.push((error as Error).message),
  };
  const follower = new AccountFollower(mailboxes, 'a', listener);
  return { follower, told, stream: () => open };
}

test('events after the first ones have no gap', (t) => {
  const { follower, told, stream } = start();
  stream()!.next([]);
  stream()!.next([EVENT]);
  follower.end();
  t.deepEqual(told, [
    [0, true],
    [1, false],
  ]);
  t.is(stream(), undefined);
});

test('a stream that fails or ends is opened again after a second, each time', async (t) => {
  const { follower, told, stream } = start(
    of([EVENT]),
    throwError(() => new Error('no owner')),
  );
  t.deepEqual(told, [[1, true], 'the event stream has ended']);
  await time.advance(999);
  t.is(told.length, 2);
  await time.advance(1);
  t.deepEqual(told.slice(2), ['no owner']);
  await time.advance(1_000);
  stream()!.next([EVENT, EVENT]);
  t.deepEqual(told.slice(3), [[2, true]]);
  follower.end();
});

test('a follower that has ended follows no more, also when it ends between two streams', async (t) => {
  const { follower, told, stream } = start(throwError(() => new Error('no owner')));
  follower.end();
  await time.advance(10_000);
  t.deepEqual(told, ['no owner']);
  t.is(stream(), undefined);
});
