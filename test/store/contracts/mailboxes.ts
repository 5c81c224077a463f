// Defines the contract of the mailbox store: fences, rows and reads. Lists of outbound mail are in outbound.ts.

import { randomUUID } from 'node:crypto';
import { FLAGGED, SEEN } from '../../../src/mail-format/flags.js';
import { blobOf } from '../../../src/store/blobs.js';
import type { ChangeContent, NewEmail } from '../../../src/store/changes/changes.js';
import { newId } from '../../../src/store/ids/new-id.js';
import type { FilterRow } from '../../../src/store/mailbox-rows.js';
import type { ListCriteria } from '../../../src/store/mailboxes.js';
import { outboundRecords } from '../../support/mailbox-change.js';
import { emailsOf, expungedOf, keywordsOf, placementsOf } from './contents.js';
import { ALL_SHARDS, type Contract } from './stores.js';
import { emailAdded, flaggedTogether, newEmail, newFolder, openWriter, outboundEmail, T0 } from './writer.js';

const INBOX_LIST: ListCriteria = { order: 'date', isDescending: true, mask: 0, flags: 0, page: 1, pageSize: 10 };

const filterOf = (parts: Partial<FilterRow> = {}): FilterRow => ({
  id: newId(),
  name: 'filter',
  isEnabled: true,
  priority: 1,
  fromAddressContains: null,
  subjectContains: 'x',
  bodyContains: null,
  hasAttachments: null,
  markAsRead: true,
  assignLabelId: null,
  delete: null,
  createdAt: T0,
  updatedAt: T0,
  lastAppliedAt: null,
  timesApplied: 0,
  ...parts,
});

export const MAILBOXES: Contract = {
  async 'an account is claimed by an epoch that is not older than the one before'(t, stores) {
    const { mailboxes } = stores;
    const accountId = await stores.account();
    t.like(await mailboxes.claim(accountId, 3), { kind: 'claimed', modseq: 1, isUnclaimed: false });
    t.is((await mailboxes.claim(accountId, 3)).kind, 'claimed');
    t.is((await mailboxes.claim(accountId, 2)).kind, 'fenced');
    t.is((await mailboxes.claim(randomUUID(), 1)).kind, 'noSuchAccount');
    t.deepEqual(
      (await mailboxes.overview(accountId)).folders.map(({ role, name }) => [role, name]),
      [
        ['inbox', 'INBOX'],
        ['sent', 'Sent'],
        ['drafts', 'Drafts'],
        ['archive', 'Archive'],
        ['trash', 'Trash'],
        ['junk', 'Junk'],
      ],
    );
    t.deepEqual((await mailboxes.overview(randomUUID())).folders, []);
  },

  async 'a commit of another epoch or modseq writes nothing'(t, stores) {
    const writer = await openWriter(stores);
    const { accountId } = writer;
    await writer.add();
    const before = await emailsOf(stores, accountId);
    const content = [emailAdded(newEmail(), [])];
    t.is((await writer.commit(content, { epoch: 0 })).kind, 'fenced');
    t.is((await writer.commit(content, { epoch: 2 })).kind, 'fenced');
    t.is((await writer.commit(content, { modseqBefore: 1, modseqAfter: 2 })).kind, 'fenced');
    t.is((await writer.commit(content, { accountId: randomUUID() })).kind, 'fenced');
    await stores.mailboxes.claim(accountId, 2);
    t.is((await writer.commit(content)).kind, 'fenced');
    t.deepEqual(await emailsOf(stores, accountId), before);
    t.is((await stores.events.read(accountId, 0, 10)).length, 1);
    t.true(await stores.mailboxes.isNewest(accountId, 2, 2));
    t.false(await stores.mailboxes.isNewest(accountId, 1, 2));
    t.false(await stores.mailboxes.isNewest(accountId, 2, 1));
    t.is((await writer.commit(content, { epoch: 2 })).kind, 'committed');
  },

  async 'inbound rows are consumed with the commit, and once'(t, stores) {
    const writer = await openWriter(stores);
    const { accountId } = writer;
    const [first, second] = [randomUUID(), randomUUID()];
    const { references: _, ...rest } = newEmail();
    const envelope = { receivedAt: T0, summary: { ...rest, references: [] } };
    const deliveries = [first, second].map((id) => ({ accountId, id }));
    await stores.inbound.spool(blobOf(Buffer.from('Subject: a\r\n\r\nb')), envelope, deliveries);
    const waiting = async () => (await stores.inbound.overdue(ALL_SHARDS, -1000, 10, [])).map(({ id }) => id).sort();
    t.is((await writer.commit([emailAdded(newEmail(), [])], { epoch: 0, inbound: [first] })).kind, 'fenced');
    t.is((await waiting()).length, 2);
    t.is((await writer.commit([emailAdded(newEmail(), [])], { inbound: [first] })).kind, 'committed');
    t.deepEqual(await waiting(), [second]);
    t.deepEqual(await writer.commit([emailAdded(newEmail(), [])], { inbound: [second, first] }), {
      kind: 'repeated',
      inbound: [first],
      replies: [],
    });
    t.deepEqual(await waiting(), [second]);
    t.is((await emailsOf(stores, accountId)).length, 1);
    const other = await openWriter(stores);
    t.is((await other.commit([], { inbound: [second] })).kind, 'repeated', 'it is of another account');
  },

  async 'contents are stored with the commit, and not by one that writes nothing'(t, stores) {
    const [ann, bob] = [await openWriter(stores), await openWriter(stores)];
    const bytes = (subject: string) => Buffer.from(`Subject: ${subject}\r\n\r\n${'x'.repeat(20_000)}`);
    const [own, shared, stranger] = ['own', 'shared', 'stranger'].map((subject) => blobOf(bytes(subject)));
    const committing = [
      ann.commit([emailAdded(newEmail({ blob: own!.hash }), [])], { contents: [own!, shared!] }),
      bob.commit([emailAdded(newEmail({ blob: shared!.hash }), [])], { contents: [shared!] }),
    ];
    const results = await Promise.all(committing);
    t.deepEqual(
      results.map(({ kind }) => kind),
      ['committed', 'committed'],
    );
    const fenced = await ann.commit([], { epoch: 0, contents: [stranger!] });
    t.is(fenced.kind, 'fenced');
    const again = await bob.commit([emailAdded(newEmail({ blob: own!.hash }), [])], { contents: [own!] });
    t.is(again.kind, 'committed');
    for (const { hash, size, index } of [own!, shared!]) {
      const subject = hash === own!.hash ? 'own' : 'shared';
      t.deepEqual(Buffer.from(await stores.blobs.read(hash, 0, size)), bytes(subject));
      t.deepEqual(await stores.blobs.index(hash), index);
    }
    t.is(await stores.blobs.index(stranger!.hash), undefined);
  },

  async 'an email that is added and removed in one list leaves its log and nothing else'(t, stores) {
    const writer = await openWriter(stores);
    const email = newEmail();
    const placements = [{ folderId: writer.folder('inbox'), uid: 1 }];
    await writer.commit([
      emailAdded(email, placements),
      { type: 'EmailPlaced', payload: { emailId: email.id, folderId: writer.folder('sent'), uid: 1 } },
      { type: 'FlagsChanged', payload: { emailId: email.id, flags: SEEN, changed: SEEN } },
      {
        type: 'EmailRemoved',
        payload: { emailId: email.id, placements: [...placements, { folderId: writer.folder('sent'), uid: 1 }] },
      },
    ]);
    t.deepEqual(await emailsOf(stores, writer.accountId), []);
    t.deepEqual(await placementsOf(stores, writer.accountId), {});
    t.deepEqual((await expungedOf(stores, writer.accountId)).folders, {});
    t.deepEqual(
      (await stores.events.read(writer.accountId, 0, 10)).map(({ seq, n, type }) => [seq, n, type]),
      ['EmailAdded', 'EmailPlaced', 'FlagsChanged', 'EmailRemoved'].map((type, n) => [2, n, type]),
    );
  },

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

  async 'emails that refer to each other are one thread, in whatever order they come'(t, stores) {
    const { mailboxes } = stores;
    const emails = [
      { messageId: '<a@x>' },
      { messageId: '<b@x>', inReplyTo: '<a@x>' },
      { messageId: '<c@x>', references: ['<a@x>', '<b@x>'] },
      { messageId: '<d@x>', references: ['<c@x>'] },
    ];
    for (const order of [
      [0, 1, 2, 3],
      [3, 2, 1, 0],
      [0, 3, 1, 2],
      [1, 3, 0, 2],
      [3, 0, 2, 1],
    ]) {
      const writer = await openWriter(stores);
      const added: NewEmail[] = [];
      for (const i of order) added.push(await writer.add({ ...emails[i], receivedAt: T0 + i }));
      const stranger = await writer.add({ messageId: '<z@x>' });
      const oldest = added[0]!.id;
      const inOrder = order.map((_, i) => added[order.indexOf(i)]!.id);
      for (const { id } of added) {
        const { rows, total } = await mailboxes.thread(writer.accountId, id, { newest: 10 });
        const isThread = total > 0;
        if (!isThread) continue;
        t.deepEqual([rows.map((row) => row.id), total, rows[0]!.threadId], [inOrder, 4, oldest], `${order}`);
      }
      const page = (number: number) =>
        mailboxes
          .thread(writer.accountId, oldest, { page: number, pageSize: 3 })
          .then(({ rows, total }) => [rows.map(({ id }) => id), total]);
      t.deepEqual(await page(1), [inOrder.slice(0, 3), 4]);
      t.deepEqual(await page(2), [inOrder.slice(3), 4]);
      const newest = await mailboxes.thread(writer.accountId, oldest, { newest: 2 });
      t.deepEqual([newest.rows.map(({ id }) => id), newest.total], [inOrder.slice(2), 4]);
      t.is((await mailboxes.thread(writer.accountId, stranger.id, { newest: 10 })).total, 1);
    }
  },

  async 'threads that a new email joins are one, under the id of each'(t, stores) {
    const writer = await openWriter(stores);
    const other = await openWriter(stores);
    const first = await writer.add({ messageId: '<a@x>' });
    const late = await writer.add({ messageId: '<c@x>', inReplyTo: '<b@x>' });
    const total = async (threadId: string) =>
      (await stores.mailboxes.thread(writer.accountId, threadId, { newest: 10 })).total;
    t.deepEqual([await total(first.id), await total(late.id)], [1, 1]);
    await other.add({ messageId: '<b@x>', inReplyTo: '<a@x>' });
    t.deepEqual([await total(first.id), await total(late.id)], [1, 1], 'accounts have threads of their own');
    const joining = emailAdded(newEmail({ messageId: '<b@x>', inReplyTo: '<a@x>' }), []);
    t.like(await writer.commit([joining]), { kind: 'committed', threads: 'joined' });
    t.deepEqual([await total(first.id), await total(late.id)], [3, 3]);
    const reply = emailAdded(newEmail({ messageId: '<f@x>', inReplyTo: '<b@x>', references: ['<a@x>'] }), []);
    t.deepEqual(await writer.commit([reply]), { kind: 'committed', threads: 'grown' }, 'they were one before');
    t.deepEqual(await writer.commit([emailAdded(newEmail({}), [])]), { kind: 'committed' });
    const two = [newEmail({ messageId: '<d@x>', references: ['<e@x>'] }), newEmail({ messageId: '<e@x>' })];
    await writer.commit(two.map((email) => emailAdded(email, [])));
    t.deepEqual([await total(two[0]!.id), await total(two[1]!.id)], [2, 0], 'they came in one list');
    t.is(await total(randomUUID()), 0);
  },

  async 'lists are sorted and filtered'(t, stores) {
    const writer = await openWriter(stores);
    const add = async (parts: Parameters<typeof newEmail>[0]) => (await writer.add(parts)).id;
    const a = await add({ fromName: 'cora', subject: 'Re [2]: fwd: apple', size: 3, receivedAt: T0 + 1, flags: SEEN });
    const b = await add({ fromName: '', fromAddress: 'Bob@X.test', subject: 'RE[2]: Berry', size: 2, receivedAt: T0 });
    const c = await add({ fromName: 'ann', subject: 'apple', size: 2, receivedAt: T0 + 2, flags: FLAGGED });
    const inbox = writer.folder('inbox');
    const list = async (parts: Partial<ListCriteria>) => {
      const found = await stores.mailboxes.listed(writer.accountId, inbox, { ...INBOX_LIST, ...parts });
      return [found.ids, found.totalCount, found.unreadCount];
    };
    t.deepEqual(await list({}), [[c, a, b], 3, 2]);
    t.deepEqual(await list({ isDescending: false }), [[b, a, c], 3, 2]);
    t.deepEqual(await list({ order: 'from', isDescending: false }), [[c, b, a], 3, 2]);
    t.deepEqual(await list({ order: 'size', isDescending: false }), [[c, b, a], 3, 2], 'alike: newest first');
    t.deepEqual(await list({ order: 'size' }), [[a, c, b], 3, 2]);
    t.deepEqual(await list({ order: 'subject', isDescending: false }), [[c, a, b], 3, 2]);
    t.deepEqual(await list({ page: 2, pageSize: 2 }), [[b], 3, 2]);
    t.deepEqual(await list({ mask: SEEN, flags: 0 }), [[c, b], 2, 2]);
    t.deepEqual(await list({ mask: SEEN | FLAGGED, flags: SEEN }), [[a], 1, 0]);
    t.deepEqual(await list({ fromAddress: 'bOB@' }), [[b], 1, 1]);
    t.deepEqual(await list({ fromAddress: 'b_b' }), [[], 0, 0]);
    t.deepEqual(await stores.mailboxes.listed(writer.accountId, writer.folder('sent'), INBOX_LIST), {
      ids: [],
      totalCount: 0,
      unreadCount: 0,
    });
  },

  async 'whom an email is to is read from the index of its message, up to a number'(t, stores) {
    const { mailboxes } = stores;
    const writer = await openWriter(stores);
    const message = blobOf(Buffer.from('To: friends: Ann <ann@x.test>, bob@x.test;, c@x.test\r\n\r\nx'));
    await stores.blobs.put(message);
    const { id } = await writer.add({ blob: message.hash });
    const names = async (most: number, ...ids: string[]) =>
      [...(await mailboxes.recipientsOf(writer.accountId, ids, most))].map(([of, to]) => [of === id, to.length, to[0]]);
    const ann = { name: 'Ann', address: 'ann@x.test' };
    t.deepEqual(await names(20, id, randomUUID()), [[true, 3, ann]]);
    t.deepEqual(await names(2, id), [[true, 2, ann]]);
    t.deepEqual([...(await mailboxes.recipientsOf(await stores.account(), [id], 20))], []);
  },

  async 'rows, senders and copies are found by what identifies them'(t, stores) {
    const { mailboxes } = stores;
    const writer = await openWriter(stores);
    const { accountId } = writer;
    const email = await writer.add({ messageId: '<m@x>', references: ['<r@x>'], fromAddress: 'Zoe@X.test' });
    const nameless = await writer.add({
      fromAddress: '',
      fromIsEnvelopeSender: true,
      hasAuthenticationResults: true,
      messageId: null,
    });
    await writer.add({ messageId: '<m@x>', receivedAt: T0 + 5 });
    const { flags: _f, keywords: _k, ...shown } = email;
    t.deepEqual([...(await mailboxes.summaries(accountId, [email.id, email.id, randomUUID()]))], [shown]);
    t.like((await mailboxes.summaries(accountId, [nameless.id]))[0], {
      fromIsEnvelopeSender: true,
      hasAuthenticationResults: true,
      messageId: null,
    });
    t.deepEqual(
      [...(await mailboxes.exportRows(accountId, [email.id]))],
      [{ id: email.id, blob: email.blob, fromAddress: 'Zoe@X.test', receivedAt: T0, size: 100 }],
    );
    t.is((await mailboxes.summaries(await stores.account(), [email.id])).length, 0);
    t.deepEqual(await mailboxes.senders(accountId, writer.folder('inbox')), ['ann@remote.test', 'zoe@x.test']);
    t.deepEqual(await mailboxes.submittedCopies(accountId, ['<m@x>']), [], 'they came in another way');
    t.is((await mailboxes.appendedMessageIds(accountId, [email.id])).size, 0);
  },

  async 'copies of submitted messages and appended emails are told from others'(t, stores) {
    const { mailboxes } = stores;
    const writer = await openWriter(stores);
    const { accountId } = writer;
    const copy = await writer.add({ messageId: '<m@x>', references: ['<r@x>'], origin: 'submitted' });
    const newer = await writer.add({ messageId: '<m@x>', receivedAt: T0 + 5, origin: 'submitted' });
    const own = await writer.add({ messageId: '<m@x>', origin: 'appended' });
    const nameless = await writer.add({ messageId: null, origin: 'appended' });
    const reply = await writer.add({ messageId: '<n@x>', inReplyTo: '<m@x>', origin: 'submitted' });
    const sent = outboundEmail({ emailId: copy.id, status: 'Sent' });
    await writer.commit(outboundRecords(sent, null));
    t.deepEqual(await mailboxes.submittedCopies(accountId, ['<m@x>', '<r@x>', '<none@x>']), [
      { messageId: '<m@x>', emailId: newer.id, outboundId: null },
      { messageId: '<m@x>', emailId: copy.id, outboundId: sent.id },
    ]);
    const all = [copy.id, own.id, nameless.id, reply.id, randomUUID()];
    t.deepEqual([...(await mailboxes.appendedMessageIds(accountId, all))], [[own.id, '<m@x>']]);
    t.deepEqual(
      (await mailboxes.summaries(accountId, [own.id])).map(({ origin }) => origin),
      ['appended'],
    );
    t.is((await mailboxes.submittedCopies(await stores.account(), ['<m@x>'])).length, 0);
  },

  async 'placements that were made with their emails are told from later ones'(t, stores) {
    const { mailboxes } = stores;
    const writer = await openWriter(stores);
    const [inbox, sent] = [writer.folder('inbox'), writer.folder('sent')];
    const placed = [
      { folderId: inbox, uid: 3 },
      { folderId: sent, uid: 3 },
    ];
    const email = await writer.add({}, placed);
    const later = { folderId: writer.folder('archive'), uid: 3 };
    await writer.commit([{ type: 'EmailPlaced', payload: { emailId: email.id, ...later } }]);
    const asked = [...placed, ...placed, later, { folderId: inbox, uid: 9 }];
    const found = await mailboxes.placedWithEmail(writer.accountId, asked);
    t.deepEqual(
      found.toSorted((a, b) => (a.folderId === inbox ? -1 : 1) - (b.folderId === inbox ? -1 : 1)),
      placed,
    );
    t.is((await mailboxes.placedWithEmail(await stores.account(), asked)).length, 0);
    t.is((await mailboxes.placedWithEmail(writer.accountId, [])).length, 0);
  },

  async 'a command that is remembered is not carried out again, and its reply is found'(t, stores) {
    const writer = await openWriter(stores);
    const [done, later] = [1, 2].map((n) => ({ id: randomUUID(), reply: { n } }));
    t.is((await writer.commit([emailAdded(newEmail(), [])], { remembered: [done!] })).kind, 'committed');
    const again = { id: done!.id, reply: { n: 3 } };
    t.deepEqual(await writer.commit([emailAdded(newEmail(), [])], { remembered: [later!, again] }), {
      kind: 'repeated',
      inbound: [],
      replies: [done],
    });
    t.is((await emailsOf(stores, writer.accountId)).length, 1);
    const other = await openWriter(stores);
    t.is((await other.commit([], { remembered: [again] })).kind, 'committed', 'it was of another account');
    t.is((await writer.commit([emailAdded(newEmail(), [])], { remembered: [later!] })).kind, 'committed');
  },

  async 'a delivery that is remembered ends its inbound row and places nothing, however old it is'(t, stores) {
    const writer = await openWriter(stores);
    const { accountId } = writer;
    const [placed, waiting] = [randomUUID(), randomUUID()];
    const reply = (id: string) => ({ id, reply: { emailId: null } });
    await writer.commit([emailAdded(newEmail(), [])], { remembered: [reply(placed)] });
    const { references: _, ...rest } = newEmail();
    const envelope = { receivedAt: T0, summary: { ...rest, references: [] } };
    const deliveries = [placed, waiting].map((id) => ({ accountId, id, isTried: true }));
    await stores.inbound.spool(blobOf(Buffer.from('Subject: a\r\n\r\nb')), envelope, deliveries);
    const rows = () => stores.inbound.overdue(ALL_SHARDS, -1000, 10, []);
    t.true((await rows()).every(({ isTried }) => isTried === true));
    t.is(await stores.mailboxes.forget(-60_000), 0, 'its row is there');
    const both = { inbound: [placed, waiting], remembered: [reply(waiting), reply(placed)] };
    t.deepEqual(await writer.commit([emailAdded(newEmail(), [])], both), {
      kind: 'repeated',
      inbound: [placed],
      replies: [reply(placed)],
    });
    t.deepEqual(
      (await rows()).map(({ id }) => id),
      [waiting],
    );
    const alone = { inbound: [waiting], remembered: [reply(waiting)] };
    t.is((await writer.commit([emailAdded(newEmail(), [])], alone)).kind, 'committed');
    t.deepEqual(await rows(), []);
    t.is((await emailsOf(stores, accountId)).length, 2);
    t.is(await stores.mailboxes.forget(-60_000), 2);
  },

  async 'replies are remembered until they are old'(t, stores) {
    const writer = await openWriter(stores);
    const reply = (n: number) => ({ id: randomUUID(), reply: { n, list: [null, 'x'] } });
    const [first, second, lost] = [reply(1), reply(2), reply(3)];
    await writer.commit([], { remembered: [first] });
    await writer.commit([], { remembered: [second] });
    await writer.commit([], { remembered: [lost], epoch: 0 });
    const remembered = async () => (await stores.mailboxes.overview(writer.accountId)).remembered;
    t.deepEqual(await remembered(), [first, second]);
    t.is(await stores.mailboxes.forget(60_000), 0);
    t.is(await stores.mailboxes.forget(-60_000), 2);
    t.deepEqual(await remembered(), []);
  },

  async 'filters, and those that wait for a body'(t, stores) {
    const writer = await openWriter(stores);
    const [kept, dropped] = [filterOf(), filterOf()];
    const put = (filter: FilterRow): ChangeContent => ({ type: 'FilterChanged', payload: { filter } });
    await writer.commit([put(kept), put(dropped)]);
    const changed = filterOf({ id: kept.id, name: 'new', updatedAt: T0 + 1, lastAppliedAt: T0 + 2, timesApplied: 3 });
    await writer.commit([put(changed), { type: 'FilterDeleted', payload: { filterId: dropped.id } }]);
    const [a, b] = [newId(), newId()];
    const waits = (emailId: string): ChangeContent => ({
      type: 'FiltersAwaitBody',
      payload: { emailId, filterIds: [kept.id], placed: [{ folderId: a, uid: 7 }] },
    });
    await writer.commit([waits(a), waits(b)]);
    await writer.commit([{ type: 'BodyFiltersEnded', payload: { emailId: a } }]);
    const { filters, filtersAwaitingBody } = await stores.mailboxes.overview(writer.accountId);
    t.deepEqual(filters, [changed]);
    t.deepEqual(filtersAwaitingBody, [{ emailId: b, filterIds: [kept.id], placed: [{ folderId: a, uid: 7 }] }]);
  },
};
