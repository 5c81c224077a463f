// Defines the contract of messages for several accounts that commits of mailboxes place: the first one stores it for all.
import { randomUUID } from 'node:crypto';
import type { ExecutionContext } from 'ava';
import { blobOf } from '../../../src/store/blobs.js';
import { SharedMessage } from '../../../src/store/inline/shared-message.js';
import type { MailboxChange } from '../../../src/store/mailboxes.js';
import { emailsOf } from './contents.js';
import { ALL_SHARDS, type Contract, type Stores } from './stores.js';
import { emailAdded, newEmail, openWriter, T0, type Writer } from './writer.js';

/** Returns a message for these accounts that is not stored yet. */
export function messageFor(accountIds: readonly string[]): SharedMessage {
  const content = blobOf(Buffer.from(`Subject: ${randomUUID()}\r\n\r\nZoë 💌`));
  const { id: _id, blob: _blob, threadId: _thread, receivedAt: _at, flags: _f, keywords: _k, ...summary } = newEmail();
  const deliveries = accountIds.map((accountId) => ({ accountId, id: randomUUID() }));
  return new SharedMessage(content, { receivedAt: T0, summary, isJunk: true, trace: 'trace' }, deliveries);
}

/** The writer commits an email of the message. */
export function place(writer: Writer, message: SharedMessage, parts: Partial<MailboxChange> = {}) {
  const { id } = message.deliveries.find(({ accountId }) => accountId === writer.accountId)!;
  const uid = writer.modseq + 1;
  const added = emailAdded(newEmail({ blob: message.content.hash }), [{ folderId: writer.folder('inbox'), uid }]);
  return writer.commit([added], { shared: [{ message, id }], ...parts });
}

/** Returns the ids of the inbound rows. */
export async function waiting({ inbound }: Pick<Stores, 'inbound'>): Promise<readonly string[]> {
  return (await inbound.overdue(ALL_SHARDS, -1000, 100, [])).map(({ id }) => id).sort();
}

async function isStored(t: ExecutionContext, { blobs }: Stores, { content }: SharedMessage): Promise<void> {
  t.deepEqual(await blobs.index(content.hash), content.index);
  t.is(
    Buffer.from(await blobs.read(content.hash, 0, content.size)).toString(),
    [...(content.chunks() as Iterable<Uint8Array>)].join(''),
  );
}

async function blobsIn(stores: Stores, { accountId }: Writer): Promise<readonly string[]> {
  const ids = (await emailsOf(stores, accountId)).map(({ id }) => id);
  return (await stores.mailboxes.exportRows(accountId, ids)).map(({ blob }) => blob);
}

export const SHARED_MESSAGES: Contract = {
  async 'the first commit stores the message, and rows for the others, which theirs end'(t, stores) {
    const [first, second] = [await openWriter(stores), await openWriter(stores)];
    const third = await stores.account();
    const message = messageFor([first.accountId, second.accountId, third]);
    const [, ofSecond, ofThird] = message.deliveries.map(({ id }) => id);
    t.like(await place(first, message), { kind: 'committed' });
    t.true(await message.ended);
    await isStored(t, stores, message);
    const rows = await stores.inbound.overdue(ALL_SHARDS, -1000, 100, []);
    const { envelope, content } = message;
    t.deepEqual(
      rows.toSorted((a, b) => (a.id === ofSecond ? -1 : b.id === ofSecond ? 1 : 0)),
      [
        { accountId: second.accountId, id: ofSecond!, blob: content.hash, envelope },
        { accountId: third, id: ofThird!, blob: content.hash, envelope },
      ],
    );
    t.like(await place(second, message), { kind: 'committed' });
    t.deepEqual(await waiting(stores), [ofThird]);
    for (const writer of [first, second]) t.deepEqual(await blobsIn(stores, writer), [content.hash]);
    // Another writer has placed it from its row meanwhile: nothing is placed twice.
    t.deepEqual(await place(second, message), { kind: 'repeated', inbound: [ofSecond!], replies: [] });
    t.is((await blobsIn(stores, second)).length, 1);
  },

  async 'rows of tried deliveries are tried, and may be there already'(t, stores) {
    const writer = await openWriter(stores);
    const [second, third] = [await stores.account(), await stores.account()];
    const { content, envelope, deliveries } = messageFor([writer.accountId, second, third]);
    const tried = deliveries.map((delivery) => ({ ...delivery, isTried: true }));
    await stores.inbound.spool(content, envelope, tried.slice(1, 2));
    const message = new SharedMessage(content, envelope, tried);
    t.like(await place(writer, message), { kind: 'committed' });
    const rows = async () => {
      const all = await stores.inbound.overdue(ALL_SHARDS, -1000, 100, []);
      return all.map(({ id, isTried }) => [id, isTried]).sort();
    };
    const expected = tried.slice(1).map(({ id }) => [id, true]);
    t.deepEqual(await rows(), expected.sort());
    await stores.inbound.spool(content, envelope, tried.slice(1));
    t.deepEqual(await rows(), expected);
  },

  async 'an account whose commit is fenced gets a row, for its later owner'(t, stores) {
    const [first, second] = [await openWriter(stores), await openWriter(stores)];
    const message = messageFor([first.accountId, second.accountId]);
    await stores.mailboxes.claim(first.accountId, 2);
    const results = await Promise.all([place(first, message), place(second, message)]);
    t.deepEqual(
      results.map(({ kind }) => kind),
      ['fenced', 'committed'],
    );
    t.true(await message.ended);
    t.deepEqual(await waiting(stores), [message.deliveries[0]!.id]);
    t.deepEqual(await blobsIn(stores, first), []);
    t.deepEqual(await blobsIn(stores, second), [message.content.hash]);
    first.epoch = 2;
    t.like(await place(first, message), { kind: 'committed' });
    t.deepEqual(await waiting(stores), []);

    const refused = messageFor([first.accountId, second.accountId]);
    await stores.mailboxes.claim(first.accountId, 3);
    t.is((await place(first, refused)).kind, 'fenced');
    t.true(await refused.ended);
    await isStored(t, stores, refused);
    t.deepEqual(await waiting(stores), refused.deliveries.map(({ id }) => id).sort());
  },

  async 'nobody gets a message of which an account is gone'(t, stores) {
    const [writer, other] = [await openWriter(stores), await openWriter(stores)];
    const message = messageFor([writer.accountId, randomUUID(), other.accountId]);
    const unshared = other.commit([]);
    t.deepEqual(await place(writer, message), { kind: 'withheld' });
    t.is((await unshared).kind, 'committed');
    t.false(await message.ended);
    t.deepEqual(await place(other, message), { kind: 'withheld' });
    t.deepEqual([await waiting(stores), await blobsIn(stores, writer)], [[], []]);
    t.is(await stores.blobs.index(message.content.hash), undefined);
  },

  async 'a message that is withheld withholds no other one of its accounts'(t, stores) {
    const [first, second] = [await openWriter(stores), await openWriter(stores)];
    const message = messageFor([first.accountId, second.accountId]);
    const refused = messageFor([first.accountId, randomUUID()]);
    const shared = [message, refused].map((each) => ({ message: each, id: each.deliveries[0]!.id }));
    const results = await Promise.all([place(first, message, { shared }), place(second, message)]);
    t.deepEqual(
      results.map(({ kind }) => kind),
      ['withheld', 'committed'],
    );
    t.deepEqual([await message.ended, await refused.ended], [true, false]);
    t.deepEqual(await waiting(stores), [message.deliveries[0]!.id]);
    t.deepEqual([await blobsIn(stores, first), await blobsIn(stores, second)], [[], [message.content.hash]]);
    t.is(await stores.blobs.index(refused.content.hash), undefined);
    t.like(await place(first, message), { kind: 'committed' });
    t.deepEqual([await waiting(stores), await blobsIn(stores, first)], [[], [message.content.hash]]);
  },

  async 'a message that is closed is stored by no commit, and what was to place it writes nothing'(t, stores) {
    const writer = await openWriter(stores);
    const [message, other] = [messageFor([writer.accountId]), messageFor([writer.accountId])];
    message.close();
    t.false(await message.ended);
    const shared = [message, other].map((each) => ({ message: each, id: each.deliveries[0]!.id }));
    t.deepEqual(await place(writer, message, { shared }), { kind: 'withheld' });
    t.true(other.isOpen);
    t.deepEqual([await waiting(stores), await blobsIn(stores, writer)], [[], []]);
    t.is(await stores.blobs.index(message.content.hash), undefined);
    t.like(await place(writer, other), { kind: 'committed' });
  },
};
