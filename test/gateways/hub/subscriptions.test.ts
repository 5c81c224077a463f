// Tests fan-out: one subscription per account, one frame per subscriber and tick, nothing lost and nothing too early.

import fc from 'fast-check';
import type { MailboxEvent } from '../../../src/actors/mailbox/protocol.js';
import { CHANGES, TIMELINE } from '../../../src/gateways/events/client-events.js';
import { eventFilterOf } from '../../../src/gateways/hub/event-filter.js';
import { JSON_PROTOCOL } from '../../../src/gateways/hub/protocols/json-protocol.js';
import { type Subscriber, Subscriptions } from '../../../src/gateways/hub/subscriptions.js';
import {
  attempted,
  emailAdded,
  emailRemoved,
  FakeMailboxes,
  FakeTiming,
  readChanged,
  recordingLog,
  statusChanged,
  unreadCount,
} from '../../support/hub-fakes.js';
import test from '../../support/test.js';

class Reader implements Subscriber {
  readonly octets: Uint8Array[] = [];
  readonly filter: number;
  interruptions = 0;
  timesReady = 0;

  constructor(topics = 0) {
    this.filter = eventFilterOf({ protocol: JSON_PROTOCOL, topics });
  }

  ready(): void {
    this.timesReady++;
  }

  deliver(frame: Uint8Array): void {
    this.octets.push(frame);
  }

  get frames(): string[] {
    return this.octets.map((frame) => Buffer.from(frame).toString());
  }

  interrupted(): void {
    this.interruptions++;
  }

  invocations(): [target: string, argument: unknown][] {
    const messages = this.frames.join('').split('\u001e').slice(0, -1);
    return messages.map((text) => {
      const { target, arguments: args } = JSON.parse(text) as { target: string; arguments: unknown[] };
      return [target, args[0]];
    });
  }
}

function setUp() {
  const mailboxes = new FakeMailboxes();
  const timing = new FakeTiming();
  const { log, lines } = recordingLog();
  const subscriptions = new Subscriptions(mailboxes.refs, log, (run) => timing.defer(run));
  return { mailboxes, timing, lines, subscriptions };
}

test('the connections of an account share one subscription, which ends with the last', (t) => {
  const { mailboxes, subscriptions } = setUp();
  const [a, b] = [new Reader(), new Reader()];
  t.true(subscriptions.join('account-1', a));
  t.true(mailboxes.isFollowed('account-1'));
  t.true(subscriptions.join('account-1', b));
  t.is(mailboxes.followed, 1);
  subscriptions.leave('account-1', a);
  t.true(mailboxes.isFollowed('account-1'));
  subscriptions.leave('account-1', b);
  subscriptions.leave('account-1', b);
  t.false(mailboxes.isFollowed('account-1'));
  t.is(subscriptions.accounts, 0);
  t.true(subscriptions.join('account-1', a));
  t.is(mailboxes.followed, 2);
});

test('a connection that joins is ready when its group is, at once when the group is ready already', (t) => {
  const { mailboxes, timing, subscriptions } = setUp();
  mailboxes.late = true;
  const [a, b, c] = [new Reader(), new Reader(), new Reader()];
  subscriptions.join('account-1', a);
  subscriptions.join('account-1', b);
  t.deepEqual([a.timesReady, b.timesReady], [0, 0]);
  subscriptions.leave('account-1', b);
  mailboxes.events('account-1').next([emailRemoved('e1')]);
  t.deepEqual([a.timesReady, b.timesReady], [1, 0]);
  timing.flush();
  t.deepEqual(a.invocations(), [['EmailDeleted', 'e1']]);
  subscriptions.join('account-1', c);
  mailboxes.events('account-1').next([emailRemoved('e2')]);
  t.deepEqual([a.timesReady, c.timesReady], [1, 1]);
});

test('the events of a tick are sent as one frame, the same octets to all', (t) => {
  const { mailboxes, timing, subscriptions } = setUp();
  const [a, b] = [new Reader(), new Reader()];
  subscriptions.join('account-1', a);
  subscriptions.join('account-1', b);
  const events = mailboxes.events('account-1');
  events.next([emailAdded('e1', 1)]);
  events.next([readChanged('e1', true, 2), emailRemoved('e1', 2)]);
  t.deepEqual(a.frames, []);
  timing.flush();
  t.is(a.frames.length, 1);
  // The frame is encoded once and as octets, also when it has letters beyond ASCII: builds of the server library send strings differently.
  t.is(a.octets[0], b.octets[0]);
  t.true(a.octets[0] instanceof Uint8Array);
  t.deepEqual(
    a.invocations().map(([target]) => target),
    ['NewEmail', 'EmailUpdated', 'EmailDeleted'],
  );
  events.next([emailRemoved('e2', 3)]);
  timing.flush();
  t.is(a.frames.length, 2);
});

test('a connection that joins gets later events, not those that wait to be sent', (t) => {
  const { mailboxes, timing, subscriptions } = setUp();
  const [early, late] = [new Reader(), new Reader()];
  subscriptions.join('account-1', early);
  mailboxes.events('account-1').next([emailRemoved('e1')]);
  subscriptions.join('account-1', late);
  mailboxes.events('account-1').next([emailRemoved('e2')]);
  timing.flush();
  t.deepEqual(early.invocations(), [
    ['EmailDeleted', 'e1'],
    ['EmailDeleted', 'e2'],
  ]);
  t.deepEqual(late.invocations(), [['EmailDeleted', 'e2']]);
});

test('a later unread count replaces one that was not sent; all other events keep their order', (t) => {
  const event = fc.oneof(
    fc.nat(99).map((n) => emailAdded(`e${n}`)),
    fc.nat(99).map((n) => emailRemoved(`e${n}`)),
    fc.nat(99).map((n) => unreadCount(n)),
  );
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.array(event, { minLength: 1 }), fc.boolean())), (steps) => {
      const { mailboxes, timing, subscriptions } = setUp();
      const reader = new Reader();
      subscriptions.join('account-1', reader);
      const all: MailboxEvent[] = [];
      for (const [batch, flush] of steps) {
        mailboxes.events('account-1').next(batch);
        all.push(...batch);
        if (flush) timing.flush();
      }
      timing.flush();
      const sent = reader.invocations();
      const isCount = (target: string) => target === 'UnreadCountChanged';
      t.deepEqual(
        sent
          .filter(([target]) => !isCount(target))
          .map(([, id]) => (typeof id === 'string' ? id : (id as { id: string }).id)),
        all.flatMap((each) => {
          if (each.type === 'EmailAdded') return [each.payload.email.id];
          return each.type === 'EmailRemoved' ? [each.payload.emailId] : [];
        }),
      );
      const last = all.filter((each) => each.type === 'UnreadCountChanged').at(-1);
      t.deepEqual(sent.filter(([target]) => isCount(target)).at(-1)?.[1], last?.payload.unread);
      for (const frame of reader.frames) t.true(frame.split('UnreadCountChanged').length <= 2);
    }),
  );
});

test('attempts go to connections that asked for the timeline, in order among the other events', (t) => {
  const { mailboxes, timing, subscriptions } = setUp();
  const [plain, watching] = [new Reader(), new Reader(TIMELINE)];
  subscriptions.join('account-1', plain);
  subscriptions.join('account-1', watching);
  mailboxes.events('account-1').next([statusChanged('o1', 'Sending')]);
  timing.flush();
  t.is(plain.frames[0], watching.frames[0]);
  mailboxes.events('account-1').next([attempted('o1')]);
  timing.flush();
  mailboxes.events('account-1').next([attempted('o1'), statusChanged('o1', 'Sent')]);
  timing.flush();
  t.deepEqual(
    plain.invocations().map(([target]) => target),
    ['DeliveryStatusChanged', 'DeliveryStatusChanged'],
  );
  t.deepEqual(
    watching.invocations().map(([target]) => target),
    ['DeliveryStatusChanged', 'DeliveryAttempted', 'DeliveryAttempted', 'DeliveryStatusChanged'],
  );
  t.deepEqual([plain.frames.length, watching.frames.length], [2, 3]);
});

test('each connection gets its topics, whatever others asked for', (t) => {
  const { mailboxes, timing, subscriptions } = setUp();
  const readers = [0, TIMELINE, CHANGES, TIMELINE | CHANGES].map((topics) => new Reader(topics));
  for (const reader of readers) subscriptions.join('account-1', reader);
  const payload = { emailId: 'e1', folderId: 'f1', uid: 1 };
  const placed: MailboxEvent = { type: 'EmailPlaced', seq: 2, n: 0, at: 0, payload };
  mailboxes.events('account-1').next([attempted('o1'), placed, statusChanged('o1', 'Sent')]);
  timing.flush();
  t.deepEqual(
    readers.map((reader) => reader.invocations().map(([target]) => target)),
    [
      ['DeliveryStatusChanged'],
      ['DeliveryAttempted', 'DeliveryStatusChanged'],
      ['EmailPlaced', 'DeliveryStatusChanged'],
      ['DeliveryAttempted', 'EmailPlaced', 'DeliveryStatusChanged'],
    ],
  );
});

test('a connection that leaves while a frame is sent does not disturb the others', (t) => {
  const { mailboxes, timing, subscriptions } = setUp();
  const stays = new Reader();
  const leaves: Subscriber = {
    filter: 0,
    ready: () => {},
    deliver: () => subscriptions.leave('account-1', leaves),
    interrupted: () => {},
  };
  subscriptions.join('account-1', leaves);
  subscriptions.join('account-1', stays);
  mailboxes.events('account-1').next([emailRemoved('e1')]);
  timing.flush();
  mailboxes.events('account-1').next([emailRemoved('e2')]);
  timing.flush();
  t.is(stays.frames.length, 2);
});

test('when the events break off, connections get the events before and are then interrupted', (t) => {
  const { mailboxes, lines, subscriptions } = setUp();
  const reader = new Reader();
  subscriptions.join('account-1', reader);
  mailboxes.events('account-1').next([emailRemoved('e1')]);
  mailboxes.events('account-1').error(new Error('the log is gone'));
  t.is(reader.frames.length, 1);
  t.is(reader.interruptions, 1);
  t.is(subscriptions.accounts, 0);
  t.true(lines.some((line) => line.level === 40 && line['accountId'] === 'account-1'));
  t.false(subscriptions.join('account-1', reader));
  t.is(subscriptions.accounts, 0);
});

test('an event that cannot be encoded is skipped and logged', (t) => {
  const { mailboxes, timing, lines, subscriptions } = setUp();
  const reader = new Reader();
  subscriptions.join('account-1', reader);
  const broken = emailAdded('e1', 7);
  if (broken.type !== 'EmailAdded') throw new Error('of the wrong type');
  const email = { ...broken.payload.email, receivedAt: 1e300 };
  const event: MailboxEvent = { ...broken, payload: { ...broken.payload, email } };
  const unknown = { type: 'LabelPainted', seq: 7, n: 2, at: 0, payload: {} } as unknown as MailboxEvent;
  mailboxes.events('account-1').next([unknown, event, emailRemoved('e2', 7)]);
  timing.flush();
  t.deepEqual(reader.invocations(), [['EmailDeleted', 'e2']]);
  t.true(lines.some((line) => line.level === 50 && line['seq'] === 7));
});

test('a new email is logged once with its id, change number and connections', (t) => {
  const { mailboxes, timing, lines, subscriptions } = setUp();
  subscriptions.join('account-1', new Reader());
  subscriptions.join('account-1', new Reader());
  mailboxes.events('account-1').next([emailAdded('e1', 5), unreadCount(1, 5)]);
  mailboxes.events('account-1').next([unreadCount(2, 6)]);
  timing.flush();
  const info = lines.filter((line) => line.level === 30);
  t.is(info.length, 1);
  t.like(info[0], { emailIds: ['e1'], seq: 5, accountId: 'account-1', connections: 2 });
});
