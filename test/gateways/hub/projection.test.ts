// What clients are told: names and payloads exactly as section 6 of the interface has them.
import test from 'ava';
import type { MailboxEvent } from '../../../src/actors/mailbox/protocol.js';
import { projectEvent } from '../../../src/gateways/hub/projection.js';
import {
  attempted,
  emailDelivered,
  emailRemoved,
  readChanged,
  statusChanged,
  unreadCount,
} from '../../support/hub-fakes.js';

function told(event: MailboxEvent): unknown {
  const text = projectEvent(event);
  if (text === undefined) return undefined;
  return JSON.parse(text.slice(0, -1));
}

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
  t.deepEqual(told(event), { type: 1, target: 'DeliveryAttempted', arguments: [{ id: 'o1', attempt }] });
});

test('mail that was sent, or put into Junk, is no new email', (t) => {
  const payload = { emailId: 'e1', folderId: 'f1', uid: 1 };
  t.is(projectEvent({ type: 'EmailPlaced', seq: 1, n: 0, at: 0, payload }), undefined);
});

test('the record separator in a subject is escaped', (t) => {
  const event = emailDelivered('e1');
  if (event.type !== 'EmailDelivered') throw new Error('of the wrong type');
  const text = projectEvent({ ...event, payload: { ...event.payload, subject: 'a\u001eb' } });
  t.is(text?.indexOf('\u001e'), (text?.length ?? 0) - 1);
});

test('an event type of a later version is passed over', (t) => {
  t.is(projectEvent({ type: 'LabelPainted', seq: 1, n: 0, at: 0, payload: {} } as unknown as MailboxEvent), undefined);
});
