// Tests deletions for good out of some folders: what is in another place too, or is leaving one of these folders, stays.
import { recordedShapes, shapesOf } from '../../../../dev/released/operation-shapes.js';
import { mailboxActorProtocol } from '../../../../src/actors/mailbox/actor-protocol.js';
import test from '../../../support/test.js';
import { start } from '../command-world.js';
import { checkRows } from '../mailbox-world.js';

const FOLDERS = ['trash', 'junk'];

/** Returns a mailbox with functions that append an email to Trash, and read the roles of the folders that show it. */
async function withTrash() {
  const { world, account, mailbox, append } = await start();
  const inTrash = async (subject: string) => (await append('trash', subject)).reply!.emails[0]!;
  const roles = async (emailId: string) => {
    const { reply } = await mailbox.ask('detail', { emailId });
    const { folders } = (await mailbox.ask('folders', {})).reply!;
    return reply?.folderIds.map((id) => folders.find((folder) => folder.id === id)!.role).toSorted();
  };
  const mark = (folderId: string, uid: number) =>
    mailbox.ask('storeFlags', { selection: { folderId, uids: [[uid, uid]] }, mode: 'add', flags: ['\\Deleted'] });
  return { world, account, mailbox, append, inTrash, roles, mark };
}

test('an email that a client has copied out of Trash and marked as deleted there stays', async (t) => {
  const { world, account, mailbox, inTrash, roles, mark } = await withTrash();
  t.teardown(world.end);
  const { emailId, uid } = await inTrash('a');
  await mailbox.ask('copy', { selection: { folderId: 'trash', uids: [[uid, uid]] }, toFolderId: 'inbox' });
  await mark('trash', uid);
  const removal = { emailIds: [emailId], inFolders: FOLDERS };
  t.deepEqual((await mailbox.ask('removeFrom', removal)).reply, { removed: 0, missing: [] });
  await mailbox.ask('expunge', { folderId: 'trash' });
  t.deepEqual(await roles(emailId), ['inbox']);
  await checkRows(world, t, account.id);
});

test('an email that another folder shows leaves the named folders; any other is deleted for good', async (t) => {
  const { world, account, mailbox, append, inTrash, roles, mark } = await withTrash();
  t.teardown(world.end);
  const [copied, alone, leaving] = [await inTrash('copied'), await inTrash('alone'), await inTrash('leaving')];
  const elsewhere = (await append('archive', 'elsewhere')).reply!.emails[0]!;
  await mailbox.ask('copy', { selection: { emailIds: [copied.emailId] }, toFolderId: 'inbox' });
  await mailbox.ask('copy', { selection: { emailIds: [copied.emailId] }, toFolderId: 'junk' });
  const { reply } = await mailbox.ask('copy', {
    selection: { folderId: 'trash', uids: [[leaving.uid, leaving.uid]] },
    toFolderId: 'inbox',
  });
  await mark('inbox', reply!.to[0]![0]);
  const ids = [copied, alone, leaving, elsewhere].map(({ emailId }) => emailId);
  const removal = { emailIds: ids, inFolders: [...FOLDERS, 'trash', 'no-folder'] };
  t.deepEqual((await mailbox.ask('removeFrom', removal)).reply, { removed: 3, missing: [] });
  t.deepEqual(await roles(copied.emailId), ['inbox']);
  t.deepEqual(await roles(elsewhere.emailId), ['archive']);
  for (const { emailId } of [alone, leaving]) t.is(await roles(emailId), undefined);
  await checkRows(world, t, account.id);
  world.reload();
  t.deepEqual(await roles(copied.emailId), ['inbox']);
  t.deepEqual((await mailbox.ask('removeFrom', removal)).reply?.removed, 0);
});

test('owners of 0.2.0 know every member of `remove`, and refuse `removeFrom` as unknown', (t) => {
  const then = recordedShapes().get('0.2.0')!;
  const named = (shapes: typeof then, name: string) =>
    shapes.find((each) => 'operation' in each && each.operation === name);
  t.deepEqual(named(shapesOf(mailboxActorProtocol), 'remove')?.payload, named(then, 'remove')?.payload);
  t.is(named(then, 'removeFrom'), undefined);
});
