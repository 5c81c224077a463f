// Tests what the column keeps for lists by thread, and that it is read whole until the store has joined what commits could not join.
import { EmailColumns } from '../../../../src/actors/mailbox/state/email-columns.js';
import { ThreadColumn } from '../../../../src/actors/mailbox/state/thread-column.js';
import { newId } from '../../../../src/store/ids/new-id.js';
import test from '../../../support/test.js';

const NOTHING = new Uint8Array(0);
const NO_PAGE = { emailIds: NOTHING, threadIds: NOTHING };

function column() {
  const emails = new EmailColumns();
  const threads = new ThreadColumn(emails);
  let made = 0;
  return {
    threads,
    add() {
      const id = newId();
      emails.append({ id, flags: 0, keywords: [], receivedAt: 1, size: 1, modseq: 1, hasAttachments: false });
      threads.evolve([{ id, threadId: id }]);
    },
    /** The number of groupings that were made, with one for this folder. */
    group(folderId: string) {
      threads.grouping(folderId, () => ({ folderId, octets: 1_000, number: made++ }));
      return made;
    },
  };
}

test('lists of a folder share a grouping until emails or threads change', (t) => {
  const { threads, add, group } = column();
  add();
  const { octets } = threads;
  t.deepEqual([group('inbox'), group('inbox'), group('inbox')], [1, 1, 1]);
  t.is(threads.octets, octets + 1_000);
  t.deepEqual([group('archive'), group('archive'), group('inbox')], [2, 2, 3]);
  const changes = [
    () => threads.evolve([]),
    () => threads.changed('grown'),
    () => threads.load(NO_PAGE),
    () => threads.replace(NO_PAGE),
  ];
  for (const [i, change] of changes.entries()) {
    change();
    t.deepEqual([group('inbox'), group('inbox')], [4 + i, 4 + i]);
  }
});

test('after an unsettled commit the column is missing until the store has joined the threads of that commit', (t) => {
  const { threads } = column();
  threads.loaded(0);
  t.false(threads.isMissing);
  threads.changed('unsettled');
  t.true(threads.isMissing);
  const { unsettled } = threads;
  threads.loaded(0);
  t.true(threads.isMissing);
  threads.changed('unsettled');
  threads.loaded(unsettled);
  t.true(threads.isMissing);
  threads.loaded(threads.unsettled);
  t.false(threads.isMissing);
});
