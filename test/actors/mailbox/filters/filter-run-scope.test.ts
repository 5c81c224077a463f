// Tests the count of emails over which a filter runs, in turns of the event loop.
import { countAtOnce, countInTurns } from '../../../../src/actors/mailbox/filters/filter-run-scope.js';
import { FolderColumns } from '../../../../src/actors/mailbox/state/folder-columns.js';
import { MailboxState } from '../../../../src/actors/mailbox/state/state.js';
import { uuidV7 } from '../../../../src/mail-format/ids.js';
import { postgresDirectory } from '../../../../src/store/postgres/accounts/directory.js';
import { postgresMailboxes } from '../../../../src/store/postgres/mailbox/mailboxes.js';
import { migratedSql } from '../../../support/database/embedded-database.js';
import test from '../../../support/test.js';

const RANDOM = Buffer.from('0123456789abcdef', 'hex');
const EMAILS = 100_000;

test('many emails are counted in several turns, each email once, without Trash and drafts', async (t) => {
  const sql = await migratedSql(t, { max: 1 });
  const { id: accountId } = await postgresDirectory(sql, 1).createAccount('a@b.test', 'A');
  const state = new MailboxState(accountId, 1, { kind: 'claimed', modseq: 10, email: 'a@b.test', isUnclaimed: false });
  for (const row of (await postgresMailboxes(sql, sql).overview(accountId)).folders)
    state.folders.set(row.id, new FolderColumns(row, state.emails));
  const slots = Array.from({ length: EMAILS }, (_, i) =>
    state.emails.append({
      ...{ id: uuidV7(1_767_225_600_000 + i, 0, RANDOM), flags: 0, keywords: [], receivedAt: i, size: i, modseq: 2 },
      hasAttachments: false,
    }),
  );
  const put = (role: Parameters<typeof state.folderOf>[0], some: readonly number[]) =>
    state.folderOf(role).placeAll(some.map((slot, i) => ({ slot, uid: i + 1, modseq: 2 })));
  put('inbox', slots.slice(0, 80_000));
  put('archive', slots.slice(70_000, 90_000));
  put('drafts', slots.slice(0, 10));
  put('trash', slots.slice(90_000));

  let turns = 0;
  let isOver = false;
  const count = () => {
    turns++;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  t.is(await countInTurns(state, null), 89_990);
  isOver = true;
  t.true(turns >= 9, `${turns} turns`);
  t.is(countAtOnce(state, null), 89_990);
  const archive = state.folderOf('archive').row.id;
  t.is(await countInTurns(state, archive), 20_000);
  t.is(await countInTurns(state, state.folderOf('trash').row.id), 10_000);
});
