// Tests what clients are told: names and payloads are exactly those of docs/hub.md.

import type { MailboxEvent } from '../../../src/actors/mailbox/protocol.js';
import { CHANGES, type ClientEvent, clientEventsOf, TIMELINE } from '../../../src/gateways/events/client-events.js';
import { FLAGGED, SEEN } from '../../../src/mail-format/flags.js';
import type { FilterRow } from '../../../src/store/mailbox-rows.js';
import { NO_VACATION } from '../../../src/store/vacation.js';
import {
  attempted,
  draftChanged,
  emailAdded,
  emailRemoved,
  readChanged,
  statusChanged,
  unreadCount,
} from '../../support/hub-fakes.js';
import test from '../../support/test.js';

const ALL = CHANGES | TIMELINE;

/** Returns the event of this topic alone; events of topic 0 go to every client. */
function told(event: MailboxEvent, topic = 0): unknown {
  const events = clientEventsOf(event, topic).filter((one) => one.topic === topic);
  if (events.length > 1) throw new Error('told of twice');
  return events[0] && shown(events[0]);
}

/** Returns name and payload of each event of a topic. */
function sentOf(topic: number, event: MailboxEvent): unknown[] {
  return clientEventsOf(event, topic)
    .filter((one) => one.topic === topic)
    .map(shown)
    .map(({ type, payload }) => [type, payload]);
}

function shown({ type, payload }: ClientEvent): { readonly type: string; readonly payload: unknown } {
  return JSON.parse(JSON.stringify({ type, payload }));
}

const of = <T extends MailboxEvent['type']>(type: T, payload: Extract<MailboxEvent, { type: T }>['payload']) =>
  ({ type, seq: 1, n: 0, at: 0, payload }) as MailboxEvent;

test('NewEmail', (t) => {
  t.deepEqual(told(emailAdded('e1')), {
    type: 'NewEmail',
    payload: {
      id: 'e1',
      from: 'ann@remote.test',
      fromDisplay: 'Ann',
      subject: 'Subject of e1',
      receivedAt: '2026-05-01T12:00:00.000Z',
      hasAttachments: false,
    },
  });
});

test('EmailUpdated, EmailDeleted and UnreadCountChanged', (t) => {
  t.deepEqual(told(readChanged('e1', true)), {
    type: 'EmailUpdated',
    payload: { id: 'e1', isRead: true },
  });
  t.deepEqual(told(emailRemoved('e1')), { type: 'EmailDeleted', payload: 'e1' });
  t.deepEqual(told(unreadCount(12)), { type: 'UnreadCountChanged', payload: 12 });
});

test('DeliveryStatusChanged, and DeliveryAttempted with its time as the interface has times', (t) => {
  t.deepEqual(told(statusChanged('o1', 'Sent')), {
    type: 'DeliveryStatusChanged',
    payload: { id: 'o1', status: 'Sent' },
  });
  const event = attempted('o1');
  if (event.type !== 'DeliveryAttempted') throw new Error('of the wrong type');
  const attempt = { ...event.payload.attempt, at: '2026-05-01T12:00:00.000Z' };
  t.is(told(event), undefined, 'for those alone who asked');
  t.deepEqual(told(event, TIMELINE), { type: 'DeliveryAttempted', payload: { id: 'o1', attempt } });
});

test('mail that was sent, or put into Junk, is no new email', (t) => {
  const payload = { emailId: 'e1', folderId: 'f1', uid: 1 };
  t.is(told({ type: 'EmailPlaced', seq: 1, n: 0, at: 0, payload }), undefined);
});

test('changes of labels, drafts and folders, for those who asked for them', (t) => {
  const label = { name: 'Bills', color: '#ff0000', sortOrder: 1 };
  const placement = { emailId: 'e1', folderId: 'f1', uid: 7 };
  const folder = { id: 'l1', role: 'label' as const, ...label, uidValidity: 1, isSubscribed: true, createdAt: 0 };
  const cases: [MailboxEvent, string, unknown][] = [
    [of('FolderCreated', { folder }), 'LabelCreated', { id: 'l1', ...label }],
    [of('FolderChanged', { folder }), 'LabelUpdated', { id: 'l1', ...label }],
    [of('FolderDeleted', { folderId: 'l1', role: 'label', placed: null }), 'LabelDeleted', { id: 'l1' }],
    [draftChanged('o1', true), 'DraftCreated', { id: 'o1' }],
    [draftChanged('o1', false), 'DraftUpdated', { id: 'o1' }],
    [of('OutboundRemoved', { outboundId: 'o1' }), 'DraftDeleted', { id: 'o1' }],
    [of('EmailPlaced', placement), 'EmailPlaced', { id: 'e1', folderId: 'f1' }],
    [of('EmailExpunged', placement), 'EmailUnplaced', { id: 'e1', folderId: 'f1' }],
  ];
  for (const [event, name, payload] of cases) {
    t.deepEqual(sentOf(CHANGES, event), [[name, payload]]);
    t.deepEqual(sentOf(0, event), [], name);
  }
  const added = emailAdded('e1');
  if (added.type !== 'EmailAdded') throw new Error('of the wrong type');
  const placements = ['inbox-id', 'label-id'].map((folderId) => ({ folderId, uid: 1 }));
  const placed = placements.map(({ folderId }) => ['EmailPlaced', { id: 'e1', folderId }]);
  t.deepEqual(sentOf(CHANGES, { ...added, payload: { ...added.payload, placements } }), placed);
  const silent = { ...added, payload: { ...added.payload, placements, isNew: false } };
  t.deepEqual([sentOf(CHANGES, silent), sentOf(0, silent)], [placed, []], 'the copy of sent mail, or suspect mail');
});

test('an email that is announced is a new email, placed already', (t) => {
  const [told] = clientEventsOf(emailAdded('e1'), 0);
  const announced = of('EmailAnnounced', {
    emailId: 'e1',
    fromAddress: 'ann@remote.test',
    fromDisplayName: 'Ann',
    subject: 'Subject of e1',
    receivedAt: Date.UTC(2026, 4, 1, 12),
    hasAttachments: false,
    isRead: false,
  });
  t.deepEqual(clientEventsOf(announced, ALL), [told]);
});

test('there are no events of topics that nobody asked for', (t) => {
  const emails = [{ emailId: 'e1', uid: 7 }];
  const deleted = of('FolderDeleted', { folderId: 'f1', role: 'folder', placed: { folderId: 'archive-id', emails } });
  const topicsOf = (event: MailboxEvent, topics: number) => clientEventsOf(event, topics).map(({ topic }) => topic);
  t.deepEqual(
    [topicsOf(deleted, 0), topicsOf(deleted, TIMELINE), topicsOf(deleted, ALL)],
    [[], [], [CHANGES, CHANGES]],
  );
  const added = emailAdded('e1');
  if (added.type !== 'EmailAdded') throw new Error('of the wrong type');
  const placed = { ...added, payload: { ...added.payload, placements: [{ folderId: 'f1', uid: 1 }] } };
  t.deepEqual([topicsOf(placed, TIMELINE), topicsOf(placed, CHANGES)], [[0], [0, CHANGES]]);
  t.deepEqual([topicsOf(attempted('o1'), CHANGES), topicsOf(attempted('o1'), TIMELINE)], [[], [TIMELINE]]);
});

test('folders of the user, and flags beyond the read one, for those who asked for changes', (t) => {
  const folder = {
    role: 'folder' as const,
    color: null,
    sortOrder: 0,
    uidValidity: 1,
    isSubscribed: true,
    createdAt: 0,
  };
  const shown = { id: 'f1', path: 'Work/2026', isSubscribed: true };
  const row = { ...folder, id: 'f1', name: 'Work/2026' };
  const flagged = { emailId: 'e1', flags: SEEN | FLAGGED };
  const flags = { id: 'e1', isRead: true, isFlagged: true, isAnswered: false, flags: ['\\Seen', '\\Flagged'] };
  const cases: [MailboxEvent, unknown[]][] = [
    [of('FolderCreated', { folder: row }), [['FolderCreated', shown]]],
    [of('FolderChanged', { folder: row }), [['FolderUpdated', shown]]],
    [of('FolderDeleted', { folderId: 'f1', role: 'folder', placed: null }), [['FolderDeleted', { id: 'f1' }]]],
    [of('FlagsChanged', { ...flagged, changed: FLAGGED }), [['EmailFlagsChanged', flags]]],
    [
      of('FolderDeleted', {
        folderId: 'f1',
        role: 'folder',
        placed: { folderId: 'archive-id', emails: [{ emailId: 'e1', uid: 7 }] },
      }),
      [
        ['FolderDeleted', { id: 'f1' }],
        ['EmailPlaced', { id: 'e1', folderId: 'archive-id' }],
      ],
    ],
    [of('FlagsChanged', { ...flagged, changed: SEEN }), []],
    [
      of('FlagsChanged', { ...flagged, changed: 0, keywords: ['Later'] }),
      [['EmailFlagsChanged', { ...flags, keywords: ['Later'] }]],
    ],
  ];
  for (const [event, expected] of cases) t.deepEqual(sentOf(CHANGES, event), expected);
  const both = of('FlagsChanged', { ...flagged, changed: SEEN | FLAGGED });
  t.deepEqual(sentOf(0, both), [['EmailUpdated', { id: 'e1', isRead: true }]]);
  t.deepEqual(sentOf(CHANGES, both), [['EmailFlagsChanged', flags]]);
});

test('a record of many emails is one event for each of them', (t) => {
  const first = { emailId: 'e1', folderId: 'f1', uid: 7 };
  const flags = { isRead: false, isFlagged: true, isAnswered: false, flags: ['\\Flagged'] };
  const ids = ['e1', 'e2', 'e3'];
  const cases: [MailboxEvent, number, unknown[]][] = [
    [
      of('FlagsChanged', { emailId: 'e1', flags: FLAGGED, changed: FLAGGED | SEEN, others: ['e2', 'e3'] }),
      CHANGES,
      ids.map((id) => ['EmailFlagsChanged', { id, ...flags }]),
    ],
    [
      of('FlagsChanged', { emailId: 'e1', flags: FLAGGED, changed: FLAGGED | SEEN, others: ['e2', 'e3'] }),
      0,
      ids.map((id) => ['EmailUpdated', { id, isRead: false }]),
    ],
    [
      of('EmailPlaced', { ...first, others: ['e2', 'e3'] }),
      CHANGES,
      ids.map((id) => ['EmailPlaced', { id, folderId: 'f1' }]),
    ],
    [
      of('EmailExpunged', {
        ...first,
        others: [
          { emailId: 'e2', uid: 9 },
          { emailId: 'e3', uid: 8 },
        ],
      }),
      CHANGES,
      ids.map((id) => ['EmailUnplaced', { id, folderId: 'f1' }]),
    ],
    [
      of('EmailRemoved', {
        emailId: 'e1',
        placements: [{ folderId: 'f1', uid: 7 }],
        others: [
          { emailId: 'e2', uids: [9] },
          { emailId: 'e3', uids: [8] },
        ],
      }),
      0,
      ids.map((id) => ['EmailDeleted', id]),
    ],
  ];
  for (const [event, topic, expected] of cases) t.deepEqual(sentOf(topic, event), expected);
});

test('preferences that were chosen, for those who asked for changes', (t) => {
  const event = of('PreferencesChanged', { chosen: { theme: 'dark', undoSendSeconds: 10 } });
  t.deepEqual(sentOf(0, event), []);
  t.deepEqual(sentOf(CHANGES, event), [['PreferencesChanged', { theme: 'dark', undoSendSeconds: 10 }]]);
});

test('vacation, filters, scripts and suppressions, for those who asked for changes', (t) => {
  const vacation = { ...NO_VACATION, isEnabled: true, startsAt: Date.UTC(2026, 11, 1), textBody: 'Away', period: 'p1' };
  const away = { isEnabled: true, startsAt: '2026-12-01T00:00:00.000Z', endsAt: null, intervalDays: 7 };
  const filter = { id: 'f1' } as FilterRow;
  const bounced = { address: 'bob@remote.test', reason: '550 5.1.1', since: 0, until: 1 };
  const cases: [MailboxEvent, string, unknown][] = [
    [of('PreferencesChanged', { chosen: { vacation } }), 'VacationChanged', away],
    [of('FilterChanged', { filter }), 'FiltersChanged', { id: 'f1' }],
    [of('FilterDeleted', { filterId: 'f1' }), 'FiltersChanged', { id: 'f1' }],
    [of('SieveScriptStored', { name: 'main', content: 'keep;' }), 'ScriptsChanged', { name: 'main' }],
    [of('SieveScriptDeleted', { name: 'main' }), 'ScriptsChanged', { name: 'main' }],
    [of('SieveScriptActivated', { name: null }), 'ScriptsChanged', { name: null }],
    [of('SuppressionAdded', bounced), 'SuppressionsChanged', { address: bounced.address, isSuppressed: true }],
    [of('SuppressionRemoved', bounced), 'SuppressionsChanged', { address: bounced.address, isSuppressed: false }],
  ];
  for (const [event, name, payload] of cases) {
    t.deepEqual(sentOf(CHANGES, event), [[name, payload]]);
    t.deepEqual(sentOf(0, event), [], name);
  }
  t.deepEqual(sentOf(CHANGES, of('FilterChanged', { filter, isApplied: true })), [], 'mail was filtered');
});

test('what a record of preferences has besides them comes after them, the newest kind last', (t) => {
  const chosen = {
    theme: 'dark',
    vacation: NO_VACATION,
    forwarding: { isEnabled: false, address: null, keepCopy: true },
    senders: { allowed: [], blocked: ['spam.test'] },
  };
  t.deepEqual(
    clientEventsOf(of('PreferencesChanged', { chosen }), CHANGES).map(({ type }) => type),
    ['PreferencesChanged', 'SendersChanged', 'ForwardingChanged', 'VacationChanged'],
  );
});

test('statuses that an email passed in one change are told in their order', (t) => {
  const event = statusChanged('o1', 'Sending');
  if (event.type !== 'OutboundChanged') throw new Error('of the wrong type');
  t.deepEqual(
    sentOf(0, { ...event, payload: { ...event.payload, passed: ['Queued', 'Sending'] } }),
    ['Queued', 'Sending'].map((status) => ['DeliveryStatusChanged', { id: 'o1', status }]),
  );
});

test('an event type of a later version is passed over', (t) => {
  t.deepEqual(
    clientEventsOf({ type: 'LabelPainted', seq: 1, n: 0, at: 0, payload: {} } as unknown as MailboxEvent, ALL),
    [],
  );
});

test('an email that is undone is a draft again: its status is told, and that there is a draft', (t) => {
  const { payload } = draftChanged('o1', false) as Extract<MailboxEvent, { type: 'OutboundChanged' }>;
  const undone = of('OutboundChanged', { ...payload, before: 'Queued', passed: ['Draft'] });
  t.deepEqual(told(undone), { type: 'DeliveryStatusChanged', payload: { id: 'o1', status: 'Draft' } });
  t.deepEqual(sentOf(CHANGES, undone), [['DraftCreated', { id: 'o1' }]]);
});

test('marking an email `\\Deleted` takes it away, unmarking gives it back; what is hidden is told to nobody', (t) => {
  const placed = { folderId: 'f1', emailId: 'e1', uid: 1, others: ['e2'] };
  const gone = of('DeletedChanged', { ...placed, isDeleted: true, isHidden: true, draftIds: ['d1'] });
  t.deepEqual(sentOf(CHANGES, gone), [
    ['EmailUnplaced', { id: 'e1', folderId: 'f1' }],
    ['EmailUnplaced', { id: 'e2', folderId: 'f1' }],
    ['DraftDeleted', { id: 'd1' }],
  ]);
  t.deepEqual(sentOf(0, gone), [
    ['EmailDeleted', 'e1'],
    ['EmailDeleted', 'e2'],
  ]);
  t.deepEqual(sentOf(0, of('DeletedChanged', { ...placed, isDeleted: true })), []);
  const back = of('DeletedChanged', { ...placed, isDeleted: false, draftIds: ['d1'] });
  t.deepEqual(sentOf(CHANGES, back), [
    ['EmailPlaced', { id: 'e1', folderId: 'f1' }],
    ['EmailPlaced', { id: 'e2', folderId: 'f1' }],
    ['DraftCreated', { id: 'd1' }],
  ]);
  t.deepEqual(sentOf(0, back), []);
  const hidden = { isHidden: true } as const;
  for (const event of [
    of('EmailExpunged', { folderId: 'f1', emailId: 'e1', uid: 1, ...hidden }),
    of('EmailRemoved', { emailId: 'e1', placements: [{ folderId: 'f1', uid: 1 }], ...hidden }),
    of('FlagsChanged', { emailId: 'e1', flags: SEEN, changed: SEEN, ...hidden }),
    of('OutboundRemoved', { outboundId: 'd1', ...hidden }),
  ])
    t.deepEqual(clientEventsOf(event, ALL), []);
});
