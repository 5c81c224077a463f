// Tests that contacts follow Sent: what is sent, what leaves Sent, a new owner, and a store that fails in between.
import type { Contact } from '../../../../src/actors/mailbox/queries/contact-list.js';
import { Contacts } from '../../../../src/actors/mailbox/queries/contacts.js';
import { indexMessage } from '../../../../src/mail-format/mime-index/indexer.js';
import { summarize } from '../../../../src/mail-format/summary.js';
import { blobOf } from '../../../../src/store/blobs.js';
import test from '../../../support/test.js';
import { start } from '../command-world.js';

async function written(t: { teardown(end: () => Promise<void>): void }) {
  const { world, account, mailbox } = await start();
  t.teardown(() => world.end());
  await mailbox.ask('unreadCount', {});
  const folderId = (role: 'sent' | 'archive') => world.stateOf(account.id).folderOf(role).row.id;
  const uids: number[] = [];
  /** Places a message with these fields in Sent. */
  const send = async (fields: string, receivedAt = Date.now()) => {
    const octets = Buffer.from(`From: me@x.test\r\n${fields}\r\nSubject: s\r\n\r\nx`);
    const blob = blobOf(octets);
    await world.blobs.put(blob);
    const { references, ...summary } = summarize(indexMessage(octets));
    const message = { blob: blob.hash, summary: { ...summary, references: [...references] }, receivedAt, flags: [] };
    const { reply } = await mailbox.ask('append', { folderId: folderId('sent'), messages: [message] });
    uids.push(reply!.emails[0]!.uid);
  };
  const found = async (text = '', limit = 20): Promise<readonly Contact[]> =>
    (await mailbox.ask('contacts', { text, limit })).reply!.contacts;
  return { world, account, mailbox, folderId, send, found, uids };
}

const addresses = (contacts: readonly Contact[]) => contacts.map(({ address }) => address);

test('contacts are those of To, Cc and Bcc, also of what is sent later, by every owner', async (t) => {
  const { world, send, found } = await written(t);
  t.deepEqual(await found(), []);
  await send(
    'To: Ann <ann@x.test>, friends: bob@x.test;\r\nCc: =?utf-8?Q?Zo=C3=AB?= <zoe@x.test>\r\nBcc: hidden@x.test',
  );
  t.deepEqual(await found('zoe'), [{ address: 'zoe@x.test', displayName: 'Zoë' }]);
  t.deepEqual(addresses(await found()).sort(), ['ann@x.test', 'bob@x.test', 'hidden@x.test', 'zoe@x.test']);
  await send('To: bob@x.test');
  t.is((await found())[0]?.address, 'bob@x.test');
  t.is((await found('', 2)).length, 2);
  world.reload();
  t.is((await found())[0]?.address, 'bob@x.test');
  t.is((await found()).length, 4);
});

test('who is only in an email that has left Sent is no contact any more', async (t) => {
  const { mailbox, folderId, send, found, uids } = await written(t);
  await send('To: gone@x.test');
  await send('To: moved@x.test');
  await send('To: kept@x.test');
  t.is((await found()).length, 3);
  const [gone, moved] = uids;
  const sent = folderId('sent');
  await mailbox.ask('storeFlags', {
    selection: { folderId: sent, uids: [[gone!, gone!]] },
    mode: 'add',
    flags: ['\\Deleted'],
  });
  await mailbox.ask('expunge', { folderId: sent, uids: [[gone!, gone!]] });
  await send('To: later@x.test');
  t.deepEqual(addresses(await found()).sort(), ['kept@x.test', 'later@x.test', 'moved@x.test']);
  const selection = { folderId: sent, uids: [[moved!, moved!]] as [number, number][] };
  await mailbox.ask('move', { selection, toFolderId: folderId('archive') });
  t.deepEqual(addresses(await found()).sort(), ['kept@x.test', 'later@x.test']);
});

test('an email of the future counts as one of now', async (t) => {
  const { send, found } = await written(t);
  await send('To: future@x.test', Date.UTC(2199, 0));
  await send('To: now@x.test');
  await send('To: now@x.test');
  t.is((await found())[0]?.address, 'now@x.test');
});

test('questions at the same time read once, and a fault of the store is over with it', async (t) => {
  const { world, account, mailbox, send } = await written(t);
  await send('To: ann@x.test');
  let reads = 0;
  let fault: Error | undefined;
  const contacts = new Contacts({
    async recipientsOf(...of) {
      reads++;
      if (fault !== undefined) throw fault;
      return world.store.recipientsOf(...of);
    },
    blindRecipients: (...of) => world.store.blindRecipients(...of),
  });
  await mailbox.ask('unreadCount', {});
  const ask = async () => addresses(await contacts.find(world.stateOf(account.id), '', 20));
  fault = new Error('down');
  for (const outcome of await Promise.allSettled([ask(), ask()])) t.is(outcome.status, 'rejected');
  fault = undefined;
  reads = 0;
  t.deepEqual(await Promise.all([ask(), ask(), ask()]), [['ann@x.test'], ['ann@x.test'], ['ann@x.test']]);
  t.is(reads, 1);
  await send('To: bob@x.test');
  t.deepEqual((await ask()).sort(), ['ann@x.test', 'bob@x.test']);
  t.is(reads, 2);
});
