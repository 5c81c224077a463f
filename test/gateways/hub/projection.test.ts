// What clients are told: names and payloads exactly as docs/hub.md has them.
import test from 'ava';
import type { MailboxEvent } from '../../../src/actors/mailbox/protocol.js';
import { CHANGES, projectEvent, TIMELINE } from '../../../src/gateways/hub/projection.js';
import {
  attempted,
  emailDelivered,
  emailRemoved,
  readChanged,
  statusChanged,
  unreadCount,
} from '../../support/hub-fakes.js';

/** What everybody is told. */
function told(event: MailboxEvent, topic = 0): unknown {
  const texts = projectEvent(event).filter((one) => one.topic === topic);
  if (texts.length > 1) throw new Error('told of twice');
  return texts[0] && JSON.parse(texts[0].text.slice(0, -1));
}

/** Name and payload of everything of a topic. */
function toldOf(topic: number, event: MailboxEvent): unknown[] {
  return projectEvent(event)
    .filter((one) => one.topic === topic)
    .map(({ text }) => JSON.parse(text.slice(0, -1)))
    .map(({ target, arguments: [payload] }) => [target, payload]);
}

const of = <T extends MailboxEvent['type']>(type: T, payload: Extract<MailboxEvent, { type: T }>['payload']) =>
  ({ type, seq: 1, n: 0, at: 0, payload }) as MailboxEvent;

test('NewEmail', (t) => {
  t.deepEqual(told(emailDelivered('e1')), {
    type: 1,
    target: 'NewEmail',
    arguments: [
      {
        id: 'e1',
        from: 'ann@remote.test',
        fromDisplay: 'Ann',
        subject: 'Subject of e1',
        receivedAt: '2026-05-01T12:00:00.000Z',
        hasAttachments: false,
      },
    ],
  });
});

test('EmailUpdated, EmailDeleted and UnreadCountChanged', (t) => {
  t.deepEqual(told(readChanged('e1', true)), {
    type: 1,
    target: 'EmailUpdated',
    arguments: [{ id: 'e1', isRead: true }],
  });
  t.deepEqual(told(emailRemoved('e1')), { type: 1, target: 'EmailDeleted', arguments: ['e1'] });
  t.deepEqual(told(unreadCount(12)), { type: 1, target: 'UnreadCountChanged', arguments: [12] });
});

test('DeliveryStatusChanged, and DeliveryAttempted with its time as the interface has times', (t) => {
  t.deepEqual(told(statusChanged('o1', 'Sent')), {
    type: 1,
    target: 'DeliveryStatusChanged',
    arguments: [{ id: 'o1', status: 'Sent' }],
  });
  const event = attempted('o1');
  if (event.type !== 'OutboundAttempted') throw new Error('of the wrong type');
  const attempt = { ...event.payload.attempt, at: '2026-05-01T12:00:00.000Z' };
  t.is(told(event), undefined, 'for those alone who asked');
  t.deepEqual(told(event, TIMELINE), { type: 1, target: 'DeliveryAttempted', arguments: [{ id: 'o1', attempt }] });
});

test('mail that was sent, or put into Junk, is no new email', (t) => {
  const payload = { emailId: 'e1', folderId: 'f1', uid: 1 };
  t.is(told({ type: 'EmailPlaced', seq: 1, n: 0, at: 0, payload }), undefined);
});

test('changes of labels, drafts and folders, for those who asked for them', (t) => {
  const label = { name: 'Bills', color: '#ff0000', sortOrder: 1 };
  const placement = { emailId: 'e1', folderId: 'f1', uid: 7 };
  const cases: [MailboxEvent, string, unknown][] = [
    [of('LabelCreated', { labelId: 'l1', ...label }), 'LabelCreated', { id: 'l1', ...label }],
    [of('LabelChanged', { labelId: 'l1', ...label }), 'LabelUpdated', { id: 'l1', ...label }],
    [of('LabelDeleted', { labelId: 'l1', archived: 3 }), 'LabelDeleted', { id: 'l1' }],
    [of('DraftCreated', { outboundId: 'o1' }), 'DraftCreated', { id: 'o1' }],
    [of('DraftChanged', { outboundId: 'o1' }), 'DraftUpdated', { id: 'o1' }],
    [of('DraftDeleted', { outboundId: 'o1' }), 'DraftDeleted', { id: 'o1' }],
    [of('EmailPlaced', placement), 'EmailPlaced', { id: 'e1', folderId: 'f1' }],
    [of('EmailUnplaced', placement), 'EmailUnplaced', { id: 'e1', folderId: 'f1' }],
  ];
  for (const [event, name, payload] of cases) {
    t.deepEqual(toldOf(CHANGES, event), [[name, payload]]);
    t.deepEqual(toldOf(0, event), [], name);
  }
  const delivered = emailDelivered('e1');
  if (delivered.type !== 'EmailDelivered') throw new Error('of the wrong type');
  const placements = ['inbox-id', 'label-id'].map((folderId) => ({ folderId, uid: 1 }));
  t.deepEqual(
    toldOf(CHANGES, { ...delivered, payload: { ...delivered.payload, placements } }),
    ['inbox-id', 'label-id'].map((folderId) => ['EmailPlaced', { id: 'e1', folderId }]),
  );
});

test('the record separator in a subject is escaped', (t) => {
  const event = emailDelivered('e1');
  if (event.type !== 'EmailDelivered') throw new Error('of the wrong type');
  const [one] = projectEvent({ ...event, payload: { ...event.payload, subject: 'a\u001eb' } });
  t.is(one!.text.indexOf('\u001e'), one!.text.length - 1);
});

test('an event type of a later version is passed over', (t) => {
  t.deepEqual(projectEvent({ type: 'LabelPainted', seq: 1, n: 0, at: 0, payload: {} } as unknown as MailboxEvent), []);
});
