// Defines the contract of what the mailbox store reads about emails: threads, lists, recipients, and rows by what identifies them.
import { randomUUID } from 'node:crypto';
import { FLAGGED, SEEN } from '../../../src/mail-format/flags.js';
import { uuidText } from '../../../src/mail-format/ids.js';
import { blobOf } from '../../../src/store/blobs.js';
import type { NewEmail } from '../../../src/store/changes/changes.js';
import type { ListCriteria, ThreadPage } from '../../../src/store/mailboxes.js';
import { outboundRecords } from '../../support/mailbox-change.js';
import { INBOX_LIST } from './contents.js';
import type { Contract } from './stores.js';
import { emailAdded, newEmail, openWriter, outboundEmail, T0 } from './writer.js';

export const EMAIL_LISTS: Contract = {
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

  async 'the threads of emails that do not begin them are read in pages, and those of some emails as a whole'(
    t,
    stores,
  ) {
    const { mailboxes } = stores;
    const writer = await openWriter(stores);
    const other = await openWriter(stores);
    await other.add({ messageId: '<a@x>' });
    const first = await writer.add({ messageId: '<a@x>' });
    const alone = await writer.add({ messageId: '<z@x>' });
    const reply = await writer.add({ messageId: '<b@x>', inReplyTo: '<a@x>' });
    const pairs = ({ emailIds, threadIds }: ThreadPage) =>
      Array.from({ length: emailIds.length / 16 }, (_, i) => [uuidText(emailIds, i * 16), uuidText(threadIds, i * 16)]);
    const all = [];
    for await (const page of mailboxes.threads(writer.accountId)) all.push(...pairs(page));
    const thread = [
      [first.id, first.id],
      [reply.id, first.id],
    ];
    t.deepEqual(all, thread.slice(1), 'an email that begins a thread is left out');
    t.deepEqual(pairs(await mailboxes.threadsOf(writer.accountId, [alone.id])), [[alone.id, alone.id]]);
    t.deepEqual(pairs(await mailboxes.threadsOf(writer.accountId, [reply.id])), thread);
    t.deepEqual(pairs(await mailboxes.threadsOf(writer.accountId, [randomUUID()])), []);
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
    const to = 'To: friends: Ann <ann@x.test>, bob@x.test;, c@x.test\r\nCc: d@x.test\r\nBcc: e@x.test';
    const message = blobOf(Buffer.from(`${to}\r\n\r\nx`));
    await stores.blobs.put(message);
    const { id } = await writer.add({ blob: message.hash });
    const names = async (most: number, ...ids: string[]) =>
      [...(await mailboxes.recipientsOf(writer.accountId, ids, most))].map(([of, to]) => [of === id, to.length, to[0]]);
    const ann = { name: 'Ann', address: 'ann@x.test' };
    t.deepEqual(await names(20, id, randomUUID()), [[true, 3, ann]]);
    t.deepEqual(await names(2, id), [[true, 2, ann]]);
    const all = await mailboxes.recipientsOf(writer.accountId, [id], 4, ['bcc', 'to', 'cc']);
    t.deepEqual(
      all.get(id)?.map(({ address }) => address),
      ['e@x.test', 'ann@x.test', 'bob@x.test', 'c@x.test'],
    );
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
};
