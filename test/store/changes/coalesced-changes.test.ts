// Tests coalesced changes: what a list adds and removes again is not in them, and of several changes of a row the last one
// counts.

import { uuidV7 } from '../../../src/mail-format/ids.js';
import type { ChangeContent, LoggedOutbound, NewEmail } from '../../../src/store/changes/changes.js';
import { logged } from '../../../src/store/changes/changes.js';
import { coalesce } from '../../../src/store/changes/coalesced-changes.js';
import type { FolderDefinition } from '../../../src/store/mailbox-rows.js';
import { records } from '../../support/mailbox-change.js';
import test from '../../support/test.js';

const EMAIL: NewEmail = {
  id: 'e1',
  blob: 'aa',
  threadId: 'e1',
  messageId: '<1@x>',
  inReplyTo: null,
  references: [],
  fromAddress: '',
  fromName: '',
  subject: '',
  preview: '',
  receivedAt: 0,
  size: 1,
  hasAttachments: false,
  attachmentCount: 0,
  flags: 0,
  keywords: [],
};

const FOLDER: FolderDefinition = {
  id: 'f9',
  role: 'folder',
  name: 'F',
  color: null,
  sortOrder: 0,
  uidValidity: 1,
  isSubscribed: true,
  createdAt: 0,
};

const OUTBOUND: LoggedOutbound = {
  id: 'o1',
  status: 'Draft',
  blob: 'b1',
  sender: '',
  subject: '',
  messageId: null,
  inReplyTo: null,
  references: [],
  size: 1,
  emailId: 'e1',
  createdAt: 0,
  updatedAt: 0,
  queuedAt: null,
  sentAt: null,
  retryCount: 0,
  nextRetryAt: null,
  heldUntil: null,
  awaitsRelease: false,
  lastError: null,
  attempt: null,
  dsnDue: null,
  dsnAt: null,
  dsn: null,
  delayReported: false,
};

const added = (id: string, uid: number, folderId = 'f1'): ChangeContent => ({
  type: 'EmailAdded',
  payload: { email: { ...EMAIL, id, blob: `blob-${id}` }, placements: [{ folderId, uid }], isNew: true },
});
const placed = (emailId: string, folderId: string, uid: number): ChangeContent => ({
  type: 'EmailPlaced',
  payload: { emailId, folderId, uid },
});
const expunged = (emailId: string, folderId: string, uid: number): ChangeContent => ({
  type: 'EmailExpunged',
  payload: { emailId, folderId, uid },
});

/** Returns the coalesced changes of commands of one record each, with the modseqs 1, 2, … */
const coalesced = (...contents: readonly ChangeContent[]) =>
  coalesce(contents.flatMap((content, i) => records([content], i + 1)));

const NO_PLACEMENTS = { placed: [], placedTogether: [], expunged: [], expungedTogether: [], marked: [] };

test('of an email that is added and removed the blob is released; one that is added and flagged is added so', (t) => {
  const removed: ChangeContent = {
    type: 'EmailRemoved',
    payload: { emailId: 'e1', placements: [{ folderId: 'f1', uid: 1 }] },
  };
  const { emailsAdded, emailsRemoved, blobsReleased, placements } = coalesced(added('e1', 1), removed);
  t.deepEqual([emailsAdded, emailsRemoved, blobsReleased], [[], [], ['blob-e1']]);
  t.deepEqual(placements.get('f1'), NO_PLACEMENTS);

  const flagged: ChangeContent = {
    type: 'FlagsChanged',
    payload: { emailId: 'e1', flags: 5, changed: 5, keywords: ['Later'] },
  };
  const more: ChangeContent = { type: 'FlagsChanged', payload: { emailId: 'e1', flags: 4, changed: 1 } };
  const { emailsAdded: both, emailsFlagged } = coalesced(added('e1', 1), flagged, more);
  t.deepEqual(
    both.map(({ id, flags, keywords, modseq }) => [id, flags, keywords, modseq]),
    [['e1', 4, ['Later'], 3]],
  );
  t.deepEqual(emailsFlagged, []);
  t.deepEqual(coalesced(flagged, more).emailsFlagged, [{ id: 'e1', flags: 4, keywords: ['Later'], modseq: 2 }]);
  t.deepEqual(coalesced(more, removed).emailsFlagged, []);
});

test('a placement that comes and goes is none; one that was there is expunged once, marked or not', (t) => {
  const deleted = (uid: number, isDeleted: boolean): ChangeContent => ({
    type: 'DeletedChanged',
    payload: { emailId: 'e1', folderId: 'f1', uid, isDeleted },
  });
  const of = (...contents: readonly ChangeContent[]) => coalesced(...contents).placements.get('f1');
  const none = NO_PLACEMENTS;
  t.deepEqual(of(placed('e1', 'f1', 7), deleted(7, true), expunged('e1', 'f1', 7)), none);
  const row = { uid: 7, emailId: 'e1', isDeleted: false, modseq: 2 };
  t.deepEqual(of(deleted(7, true), expunged('e1', 'f1', 7)), { ...none, expunged: [row] });
  t.deepEqual(of(expunged('e1', 'f1', 7), placed('e1', 'f1', 8)), {
    ...none,
    expunged: [{ ...row, modseq: 1 }],
    placed: [{ ...row, uid: 8, savedAt: 0 }],
  });
  t.deepEqual(of(deleted(7, true), deleted(7, false)), { ...none, marked: [row] });
  t.deepEqual(of(placed('e1', 'f1', 7), deleted(7, true)), {
    ...none,
    placed: [{ ...row, isDeleted: true, savedAt: 0 }],
  });
});

test('records of many emails and records of each of them have the same coalesced', (t) => {
  const one = coalesce(
    records([
      { type: 'EmailPlaced', payload: { emailId: 'e1', folderId: 'f1', uid: 7, others: ['e2', 'e3'] } },
      {
        type: 'EmailExpunged',
        payload: { emailId: 'e1', folderId: 'f2', uid: 4, others: [{ emailId: 'e2', uid: 2 }] },
      },
      {
        type: 'DeletedChanged',
        payload: { emailId: 'e3', folderId: 'f1', uid: 9, isDeleted: true, others: [{ emailId: 'e4', uid: 1 }] },
      },
      { type: 'FlagsChanged', payload: { emailId: 'e1', flags: 3, changed: 1, others: ['e2'], keywords: ['Later'] } },
      {
        type: 'EmailRemoved',
        payload: {
          emailId: 'e5',
          placements: [
            { folderId: 'f1', uid: 2 },
            { folderId: 'f2', uid: 3 },
          ],
          others: [{ emailId: 'e6', uids: [5, 6] }],
        },
      },
    ]),
  );
  const flagged = { flags: 3, changed: 1, keywords: ['Later'] };
  const each = coalesce(
    records([
      placed('e1', 'f1', 7),
      placed('e2', 'f1', 8),
      placed('e3', 'f1', 9),
      expunged('e1', 'f2', 4),
      expunged('e2', 'f2', 2),
      { type: 'DeletedChanged', payload: { emailId: 'e3', folderId: 'f1', uid: 9, isDeleted: true } },
      { type: 'DeletedChanged', payload: { emailId: 'e4', folderId: 'f1', uid: 1, isDeleted: true } },
      { type: 'FlagsChanged', payload: { emailId: 'e1', ...flagged } },
      { type: 'FlagsChanged', payload: { emailId: 'e2', ...flagged } },
      ...['e5', 'e6'].map(
        (emailId, i): ChangeContent => ({
          type: 'EmailRemoved',
          payload: {
            emailId,
            placements: [
              { folderId: 'f1', uid: 2 + i * 3 },
              { folderId: 'f2', uid: 3 + i * 3 },
            ],
          },
        }),
      ),
    ]),
  );
  t.deepEqual(one, each);
  t.deepEqual(one.emailsRemoved, ['e5', 'e6']);
});

test('a folder that is deleted has no placements, and none at all when the list made it', (t) => {
  const created: ChangeContent = { type: 'FolderCreated', payload: { folder: FOLDER } };
  const changed: ChangeContent = { type: 'FolderChanged', payload: { folder: { ...FOLDER, name: 'G' } } };
  const moved = { folderId: 'f1', emails: [{ emailId: 'e1', uid: 3 }] };
  const deleted: ChangeContent = { type: 'FolderDeleted', payload: { folderId: 'f9', role: 'folder', placed: moved } };
  t.deepEqual(coalesced(created, changed).foldersAdded, [{ ...FOLDER, name: 'G' }]);
  t.deepEqual(coalesced(changed).foldersChanged, [{ ...FOLDER, name: 'G' }]);
  const undone = coalesced(created, placed('e1', 'f9', 1), changed, deleted);
  t.deepEqual([undone.foldersAdded, undone.foldersChanged, undone.foldersRemoved], [[], [], []]);
  t.deepEqual([...undone.placements.keys()], ['f1']);
  const gone = coalesced(expunged('e2', 'f9', 4), changed, deleted);
  t.deepEqual([gone.foldersChanged, gone.foldersRemoved], [[], ['f9']]);
  t.deepEqual(gone.placements.get('f1')?.placed, [{ uid: 3, emailId: 'e1', isDeleted: false, modseq: 3, savedAt: 0 }]);
});

test('a placement has a time of its own when the email came into the folder later than into the account', (t) => {
  const id = uuidV7(1_000, 0, Buffer.alloc(8));
  const at = (time: number, content: ChangeContent) =>
    coalesce(records([content], 1, time)).placements.get('f1')?.placed[0]?.savedAt;
  t.is(at(1_000, placed(id, 'f1', 1)), undefined);
  t.is(at(1_001, placed(id, 'f1', 1)), 1_001);
  t.is(at(1_001, added(id, 1)), undefined, 'ids that were made within a millisecond may be ahead of the clock');
  const moved = { folderId: 'f1', emails: [{ emailId: id, uid: 3 }] };
  t.is(at(5, { type: 'FolderDeleted', payload: { folderId: 'f9', role: 'folder', placed: moved } }), 5);
});

test('blobs that an outbound email had on the way are released, and recipients of an earlier list are not written', (t) => {
  const recipient = (id: string): ChangeContent => ({
    type: 'RecipientChanged',
    payload: {
      outboundId: 'o1',
      position: 0,
      recipient: {
        id,
        address: 'a@b.test',
        displayName: null,
        type: 'To',
        status: 'Pending',
        domain: 'b.test',
        deliveredAt: null,
        lastError: null,
        statusCode: null,
      },
    },
  });
  const change = (blob: string, before: 'Draft' | null, id: string, released?: string): ChangeContent[] => [
    {
      type: 'OutboundChanged',
      payload: {
        outbound: { ...OUTBOUND, blob },
        before,
        passed: [],
        recipientIds: [id],
        ...(released === undefined ? {} : { released }),
      },
    },
    recipient(id),
  ];
  const made = change('b1', null, 'r1');
  const [written] = coalesced(...made, ...change('b2', 'Draft', 'r2', 'b1')).outbound;
  t.deepEqual([written?.before, written?.released, written?.outbound.blob], [null, ['b1'], 'b2']);
  t.deepEqual([written?.recipientIds, written?.recipients.map((one) => one.recipient.id)], [['r2'], ['r2']]);
  const removed: ChangeContent = { type: 'OutboundRemoved', payload: { outboundId: 'o1' } };
  const undone = coalesced(...made, ...change('b2', 'Draft', 'r2', 'b1'), removed);
  t.deepEqual([undone.outbound, undone.outboundRemoved, undone.blobsReleased], [[], [], ['b1', 'b2']]);
  t.deepEqual(coalesced(removed).outboundRemoved, ['o1']);
});

test('an email has the same message when every change of the list says so', (t) => {
  const step = (isSameMessage: boolean | undefined): ChangeContent => ({
    type: 'OutboundChanged',
    payload: { outbound: OUTBOUND, before: 'Queued', passed: [] },
    ...(isSameMessage === undefined
      ? {}
      : { storedOnly: { row: { ...OUTBOUND, machine: null, recipients: [] }, isSameMessage } }),
  });
  const isSame = (...steps: (boolean | undefined)[]) => coalesced(...steps.map(step)).outbound[0]?.isSameMessage;
  t.true(isSame(true, true));
  t.false(isSame(true, false));
  t.false(isSame(false, true));
  t.false(isSame(undefined), 'the log does not say');
});

test('what is stored only is not in the log, which counts the records of a change', (t) => {
  const row = { ...OUTBOUND, machine: { secret: true }, recipients: [] };
  const stored: ChangeContent = {
    type: 'OutboundChanged',
    payload: { outbound: OUTBOUND, before: null, passed: [] },
    storedOnly: { row, isSameMessage: false, content: { textBody: 'secret', htmlBody: null } },
  };
  const entries = logged([...records([stored, added('e1', 1)], 4), ...records([added('e2', 2)], 5)]);
  t.deepEqual(
    entries.map(({ seq, n, type }) => [seq, n, type]),
    [
      [4, 0, 'OutboundChanged'],
      [4, 1, 'EmailAdded'],
      [5, 0, 'EmailAdded'],
    ],
  );
  t.notRegex(JSON.stringify(entries), /secret/);
});
