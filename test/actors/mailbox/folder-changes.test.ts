// Tests the folders of a transaction: which emails are in only one folder, and how many emails are read to find them.

import { FolderChanges } from '../../../src/actors/mailbox/folder-changes.js';
import { FolderColumns } from '../../../src/actors/mailbox/folder-columns.js';
import { MailboxState } from '../../../src/actors/mailbox/state.js';
import { uuidV7 } from '../../../src/mail/ids.js';
import type { FolderRow } from '../../../src/store/mailboxes.js';
import test from '../../support/test.js';

const RANDOM = Buffer.from('0123456789abcdef', 'hex');
const MANY = 400;

/** Counts how often all emails of a folder were listed. */
let listings = 0;

class CountingColumns extends FolderColumns {
  override slots(): Uint32Array {
    listings++;
    return super.slots();
  }
}

const row = (id: string): FolderRow => ({
  id,
  role: 'folder',
  name: id,
  color: null,
  sortOrder: 0,
  uidValidity: 1,
  uidNext: 1,
  total: 0,
  unread: 0,
  highestModseq: 1,
  isSubscribed: true,
  createdAt: 0,
});

/** Makes emails and puts them into these folders; each folder names the slots of its emails. */
function changesOf(folders: Readonly<Record<string, readonly number[]>>): FolderChanges {
  const state = new MailboxState('a', 1, { kind: 'claimed', modseq: 1, email: 'a@b.test', held: false });
  for (let i = 0; i < MANY; i++) {
    const email = { flags: 0, keywords: [], receivedAt: i, size: 1, modseq: 1, hasAttachments: false };
    state.emails.append({ ...email, id: uuidV7(i, 0, RANDOM) });
  }
  for (const [id, slots] of Object.entries(folders)) {
    const columns = new CountingColumns(row(id), state.emails);
    columns.placeAll(slots.map((slot, i) => ({ slot, uid: i + 1, modseq: 1 })));
    columns.row = { ...columns.row, total: slots.length, uidNext: slots.length + 1 };
    state.folders.set(id, columns);
  }
  return new FolderChanges(state);
}

const all = Array.from({ length: MANY }, (_, slot) => slot);

test('what is in one folder alone is the same by either way to find it, with what the batch has changed', (t) => {
  const changes = changesOf({ all: all.slice(3), few: [1, 2, 3, 7], other: [2], none: [] });
  t.deepEqual(changes.keptOnlyIn('few', MANY), [1]);
  t.deepEqual(
    changes.keptOnlyIn('all', MANY),
    all.slice(4).filter((slot) => slot !== 7),
  );
  changes.unplace('all', 3, true, 2);
  changes.unplace('few', 7, true, 2);
  changes.unplace('other', 2, true, 2);
  changes.create(row('new'), 2);
  changes.place('new', 1, 1, true, 2);
  changes.place('none', 9, 1, true, 2);
  t.deepEqual(changes.keptOnlyIn('few', MANY), [2, 3]);
  t.deepEqual(
    changes.keptOnlyIn('all', MANY),
    all.slice(4).filter((slot) => slot !== 9),
  );
  t.deepEqual(changes.keptOnlyIn('new', MANY), []);
  changes.delete('new');
  t.deepEqual(changes.keptOnlyIn('few', MANY), [1, 2, 3]);
  changes.setDeleted('all', 7, true, true, 2);
  changes.place('few', 7, 9, true, 2);
  t.deepEqual(changes.keptOnlyIn('few', MANY), [1, 2, 3, 7], 'where the others have it marked');
  changes.setDeleted('few', 8, true, true, 2);
  changes.setDeleted('few', 3, true, true, 2);
  t.true(changes.keptOnlyIn('all', MANY).includes(8));
  t.deepEqual([changes.holding(1), changes.holding(9), changes.holding(0)], [['few'], ['all', 'none'], []]);
});

test('deleting small folders one after the other does not go through the large ones each time', (t) => {
  const small = Object.fromEntries(all.slice(0, 50).map((slot) => [`small ${slot}`, [slot]]));
  const changes = changesOf({ large: all, ...small, empty: [] });
  listings = 0;
  for (const id of [...Object.keys(small), 'empty']) {
    t.deepEqual(changes.keptOnlyIn(id, MANY), []);
    changes.delete(id);
  }
  t.is(listings, 51, 'each folder is listed, and the large one never');
});

test('emails that the batch has placed are selected by ranges of UIDs, in their order', (t) => {
  const changes = changesOf({ from: [5, 6, 7, 8, 9] });
  changes.unplace('from', 6, true, 2);
  changes.place('from', 6, 6, true, 2);
  changes.place('from', 1, 7, true, 2);
  changes.place('from', 2, 8, true, 2);
  changes.unplace('from', 1, true, 2);
  t.deepEqual(changes.slotsOfUids('from', [[1, 2 ** 32 - 1]]), [5, 7, 8, 9, 6, 2]);
  t.deepEqual(
    changes.slotsOfUids('from', [
      [8, 9],
      [2, 3],
      [5, 5],
    ]),
    [7, 9, 2],
  );
  t.deepEqual(
    changes.slotsOfUids('from', [
      [6, 6],
      [7, 7],
      [8, 8],
    ]),
    [6, 2],
  );
});
