// Defines the contract of the mailbox store for folders, and for the flags and UIDs of what is in them.
import { FLAGGED, SEEN } from '../../../src/mail-format/flags.js';
import type { ChangeContent, NewEmail } from '../../../src/store/changes/changes.js';
import { emailsOf, expungedOf, INBOX_LIST, keywordsOf, placementsOf } from './contents.js';
import type { Contract } from './stores.js';
import { emailAdded, flaggedTogether, newEmail, newFolder, openWriter } from './writer.js';

export const FOLDERS: Contract = {
  async 'folders are made, changed, and deleted with all that is in them'(t, stores) {
    const writer = await openWriter(stores);
    const folder = newFolder({ name: 'Work', sortOrder: 9, role: 'label', color: '#aabbcc' });
    const counters = { id: folder.id, uidNext: 1, total: 0, unread: 0, highestModseq: 2 };
    await writer.commit([{ type: 'FolderCreated', payload: { folder } }], { counters: [counters] });
    const last = async () => (await stores.mailboxes.overview(writer.accountId)).folders.at(-1);
    t.deepEqual(await last(), { ...folder, ...counters });
    const [alone, both] = [newEmail(), newEmail()];
    const [inbox, archive] = [writer.folder('inbox'), writer.folder('archive')];
    const after = { ...counters, uidNext: 3, total: 2, unread: 2, highestModseq: 3 };
    const renamed = { ...folder, name: 'Work/2026', isSubscribed: false, color: '#000000', sortOrder: 8 };
    await writer.commit(
      [
        emailAdded(alone, [{ folderId: folder.id, uid: 1 }]),
        emailAdded(both, [
          { folderId: folder.id, uid: 2 },
          { folderId: inbox, uid: 1 },
        ]),
        { type: 'FolderChanged', payload: { folder: renamed } },
      ],
      { counters: [after] },
    );
    t.deepEqual(await last(), { ...renamed, ...after });
    const placed = { folderId: archive, emails: [{ emailId: alone.id, uid: 5 }] };
    await writer.commit([{ type: 'FolderDeleted', payload: { folderId: folder.id, role: 'label', placed } }]);
    t.is((await stores.mailboxes.overview(writer.accountId)).folders.length, 6);
    t.deepEqual(await placementsOf(stores, writer.accountId), {
      [inbox]: [[1, both.id, 3, false]],
      [archive]: [[5, alone.id, 4, false]],
    });
    t.deepEqual((await expungedOf(stores, writer.accountId)).folders, {});
  },

  async 'flags and keywords are those of the last change'(t, stores) {
    const writer = await openWriter(stores);
    const { accountId } = writer;
    const plain = await writer.add();
    const tagged = await writer.add({ keywords: ['Work', '$Later'], flags: FLAGGED, size: 2 ** 33 });
    const flagged = (emailId: string, flags: number, keywords?: readonly string[]): ChangeContent => ({
      type: 'FlagsChanged',
      payload: { emailId, flags, changed: flags, ...(keywords && { keywords }) },
    });
    await writer.commit([flagged(tagged.id, SEEN), flagged(plain.id, 0x1000, ['Work', '$Later'])]);
    t.deepEqual(
      (await emailsOf(stores, accountId)).map(({ id, flags, modseq, size }) => [id, flags, modseq, size]),
      [
        [plain.id, 0x1000, 4, 100],
        [tagged.id, SEEN, 4, 2 ** 33],
      ],
    );
    t.deepEqual(await keywordsOf(stores, accountId), [{ names: ['Work', '$Later'], ids: [plain.id, tagged.id] }]);
    await writer.commit([flagged(plain.id, 1, ['Other']), flagged(plain.id, 2), flagged(tagged.id, 0, [])]);
    t.deepEqual(await keywordsOf(stores, accountId), [{ names: ['Other'], ids: [plain.id] }]);
    t.deepEqual(
      (await emailsOf(stores, accountId)).map(({ flags }) => flags),
      [2, 0],
    );
  },

  async 'flags of many emails at once are in lists, pages and the log'(t, stores) {
    const writer = await openWriter(stores);
    const { accountId } = writer;
    const emails: NewEmail[] = [];
    for (let i = 0; i < 5; i++) emails.push(await writer.add({ keywords: i === 0 ? ['Work'] : [] }));
    const ids = emails.map(({ id }) => id);
    await writer.commit([flaggedTogether(ids.slice(0, 4), FLAGGED)]);
    await writer.commit([
      flaggedTogether(ids.slice(0, 2), SEEN),
      { type: 'FlagsChanged', payload: { emailId: ids[1]!, flags: 0x1000, changed: 1, keywords: ['Later'] } },
      flaggedTogether(ids.slice(2, 3), 0),
      { type: 'EmailRemoved', payload: { emailId: ids[2]!, placements: [] } },
    ]);
    t.deepEqual(
      (await emailsOf(stores, accountId)).map(({ id, flags, modseq }) => [id, flags, modseq]),
      [
        [ids[0], SEEN, 8],
        [ids[1], 0x1000, 8],
        [ids[3], FLAGGED, 7],
        [ids[4], 0, 6],
      ],
    );
    t.deepEqual(await keywordsOf(stores, accountId), [
      { names: ['Work'], ids: [ids[0]] },
      { names: ['Later'], ids: [ids[1]] },
    ]);
    const flagged = { ...INBOX_LIST, mask: FLAGGED, flags: FLAGGED };
    t.deepEqual((await stores.mailboxes.listed(accountId, writer.folder('inbox'), flagged)).ids, [ids[3]]);
    const { unreadCount } = await stores.mailboxes.listed(accountId, writer.folder('inbox'), INBOX_LIST);
    t.is(unreadCount, 3);
    const [event] = await stores.events.read(accountId, 6, 1);
    t.deepEqual(event!.payload, { emailId: ids[0], flags: FLAGGED, changed: FLAGGED, others: ids.slice(1, 4) });
  },

  async '`\\Deleted` is of one placement'(t, stores) {
    const writer = await openWriter(stores);
    const [inbox, sent] = [writer.folder('inbox'), writer.folder('sent')];
    const email = await writer.add({}, [
      { folderId: inbox, uid: 1 },
      { folderId: sent, uid: 2 ** 31 },
    ]);
    const marked = (isDeleted: boolean): ChangeContent => ({
      type: 'DeletedChanged',
      payload: { emailId: email.id, folderId: sent, uid: 2 ** 31, isDeleted },
    });
    const listed = async (folder: string) =>
      (await stores.mailboxes.listed(writer.accountId, folder, INBOX_LIST)).totalCount;
    const senders = async () => (await stores.mailboxes.senders(writer.accountId, sent)).length;
    t.deepEqual([await listed(inbox), await listed(sent), await senders()], [1, 1, 1]);
    await writer.commit([marked(true)]);
    t.deepEqual([await listed(inbox), await listed(sent), await senders()], [1, 0, 0]);
    t.deepEqual(await placementsOf(stores, writer.accountId), {
      [inbox]: [[1, email.id, 2, false]],
      [sent]: [[2 ** 31, email.id, 3, true]],
    });
    await writer.commit([marked(false), marked(true), marked(false)]);
    t.deepEqual((await placementsOf(stores, writer.accountId))[sent], [[2 ** 31, email.id, 4, false]]);
  },

  async 'expunged UIDs are known for as long as the log reaches back'(t, stores) {
    const writer = await openWriter(stores);
    const { accountId } = writer;
    t.deepEqual(await expungedOf(stores, accountId), { floor: 1, folders: {} });
    const inbox = writer.folder('inbox');
    const emails: NewEmail[] = [];
    for (let uid = 1; uid <= 3; uid++) emails.push(await writer.add({}, [{ folderId: inbox, uid }]));
    const sent = { folderId: writer.folder('sent'), uid: 9 };
    await writer.commit([
      { type: 'EmailPlaced', payload: { emailId: emails[0]!.id, ...sent } },
      { type: 'EmailExpunged', payload: { emailId: emails[0]!.id, folderId: inbox, uid: 1 } },
    ]);
    const removed = (i: number, uid: number): ChangeContent => ({
      type: 'EmailRemoved',
      payload: { emailId: emails[i]!.id, placements: [{ folderId: inbox, uid }] },
    });
    await writer.commit([removed(2, 3)]);
    await writer.commit([removed(1, 2)]);
    t.deepEqual(await expungedOf(stores, accountId), {
      floor: 1,
      folders: {
        [inbox]: [
          [1, 5],
          [3, 6],
          [2, 7],
        ],
      },
    });
    t.deepEqual(
      (await emailsOf(stores, accountId)).map(({ id }) => id),
      [emails[0]!.id],
    );
    await stores.events.prune(1e12 * 5, 2);
    t.deepEqual(await expungedOf(stores, accountId), {
      floor: 5,
      folders: {
        [inbox]: [
          [3, 6],
          [2, 7],
        ],
      },
    });
    await stores.events.prune(1e12 * 5, 0);
    t.deepEqual(await expungedOf(stores, accountId), { floor: 7, folders: {} });
  },
};
