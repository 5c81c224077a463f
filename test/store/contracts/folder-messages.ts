// Defines the contract of the messages of a folder: which rows UIDs name, and what a row contains of its blob.
import { uuidTime } from '../../../src/mail-format/ids.js';
import type { MessageIndex } from '../../../src/mail-format/message-index.js';
import { summarize } from '../../../src/mail-format/summary.js';
import { blobOf } from '../../../src/store/blobs.js';
import { type FolderMessageNeeds, MOST_HEADER_OCTETS } from '../../../src/store/folder-messages.js';
import type { Contract, Stores } from './stores.js';
import { openWriter, T0, type Writer } from './writer.js';

const FACTS: FolderMessageNeeds = { header: false, index: false };
const BOTH: FolderMessageNeeds = { header: true, index: true };

/** Adds an email with this message to the inbox. */
async function added(stores: Stores, writer: Writer, raw: string | Buffer) {
  const content = blobOf(Buffer.from(raw));
  await stores.blobs.put(content);
  const email = await writer.add({ blob: content.hash, receivedAt: T0 + 1234, ...summarize(content.index) });
  return { email, uid: writer.modseq, index: content.index };
}

export const FOLDER_MESSAGES: Contract = {
  async 'blobs are those of the UIDs of a range that are there'(t, stores) {
    const writer = await openWriter(stores);
    const other = await openWriter(stores);
    const { accountId } = writer;
    const inbox = writer.folder('inbox');
    const mails = [];
    for (const n of [1, 2, 3, 4]) mails.push(await added(stores, writer, `Subject: ${n}\r\n\r\nbody ${n}\r\n`));
    await added(stores, other, 'Subject: of another\r\n\r\n');
    const [first, second, third] = mails as [(typeof mails)[0], (typeof mails)[0], (typeof mails)[0]];
    const expunged = { folderId: inbox, uid: second.uid };
    await writer.commit([{ type: 'EmailRemoved', payload: { emailId: second.email.id, placements: [expunged] } }]);
    const hashes = async (from: number, to: number, folder = inbox) =>
      [...(await stores.folderMessages.blobs(accountId, folder, from, to))].sort(([a], [b]) => a - b);
    t.deepEqual(await hashes(first.uid, third.uid), [
      [first.uid, first.email.blob],
      [third.uid, third.email.blob],
    ]);
    t.is((await hashes(1, 2 ** 32 - 1)).length, 3);
    t.deepEqual(await hashes(second.uid, second.uid), []);
    t.deepEqual(await hashes(first.uid, third.uid, writer.folder('archive')), []);
    t.deepEqual(await hashes(first.uid, third.uid, other.folder('inbox')), [], 'the folder of another account');
  },

  async 'rows come by ascending UID, each once, without those that are not there'(t, stores) {
    const writer = await openWriter(stores);
    const other = await openWriter(stores);
    const { accountId } = writer;
    const inbox = writer.folder('inbox');
    const mails = [];
    for (const n of [1, 2, 3]) mails.push(await added(stores, writer, `Subject: ${n}\r\n\r\nbody ${n}\r\n`));
    await added(stores, other, 'Subject: of another\r\n\r\n');
    const [first, second, third] = mails as [(typeof mails)[0], (typeof mails)[0], (typeof mails)[0]];
    const uids = async (asked: number[], folder = inbox, needs = FACTS) =>
      (await stores.folderMessages.rows(accountId, folder, asked, needs)).map(({ uid }) => uid);
    t.deepEqual(await uids([third.uid, 4_000_000_000, first.uid, first.uid]), [first.uid, third.uid]);
    t.deepEqual(await uids([]), []);
    t.deepEqual(await uids([first.uid], writer.folder('archive')), []);
    t.deepEqual(await uids([first.uid], other.folder('inbox')), [], 'the folder of another account');

    const expunged = { folderId: inbox, uid: second.uid };
    await writer.commit([{ type: 'EmailRemoved', payload: { emailId: second.email.id, placements: [expunged] } }]);
    const all = mails.map(({ uid }) => uid);
    for (const needs of [FACTS, BOTH]) t.deepEqual(await uids(all, inbox, needs), [first.uid, third.uid]);
    t.deepEqual(await stores.folderMessages.rows(accountId, inbox, [first.uid], FACTS), [
      {
        uid: first.uid,
        emailId: first.email.id,
        threadId: first.email.threadId,
        blob: first.email.blob,
        size: first.index.size,
        receivedAt: T0 + 1234,
        savedAt: uuidTime(first.email.id),
        preview: 'body 1',
      },
    ]);

    const copied = { folderId: writer.folder('archive'), emailId: first.email.id, uid: 1 };
    await writer.commit([{ type: 'EmailPlaced', payload: copied }]);
    const [copy] = await stores.folderMessages.rows(accountId, copied.folderId, [1], FACTS);
    t.is(copy!.savedAt, T0, 'the time of the copy');
  },

  async 'header and index come when they are asked for, exact however long the header is'(t, stores) {
    const writer = await openWriter(stores);
    const { accountId } = writer;
    const field = (octets: number) => `X-Long: ${'long '.repeat(octets / 5)}\r\n`;
    const most = field(MOST_HEADER_OCTETS).slice(-MOST_HEADER_OCTETS + 2);
    const raws = [
      Buffer.from('Subject: small\r\n\r\nbody'),
      Buffer.from([...Buffer.from('Subject: '), 0, 0xff, 0xe9, ...Buffer.from('\r\n\r\nbody')]),
      Buffer.from(''),
      Buffer.from('\r\nno header'),
      ...[7_900, 8_000, 24_000].map((octets) => Buffer.from(`${field(octets)}\r\nbody ${'x'.repeat(20_000)}`)),
      Buffer.from(`${most}\r\nbody`),
      Buffer.from(`${field(MOST_HEADER_OCTETS)}\r\nbody`),
    ];
    for (const raw of raws) {
      const { uid, index } = await added(stores, writer, raw);
      const read = async (header: boolean, withIndex: boolean) => {
        const needs = { header, index: withIndex };
        const [row] = await stores.folderMessages.rows(accountId, writer.folder('inbox'), [uid], needs);
        return {
          header: row?.header === undefined ? undefined : Buffer.from(row.header),
          index: row?.indexJson === undefined ? undefined : (JSON.parse(row.indexJson) as MessageIndex),
        };
      };
      const header = raw.subarray(0, Math.min(index.root.bodyStart, MOST_HEADER_OCTETS));
      const stored = JSON.parse(JSON.stringify(index));
      t.deepEqual(await read(false, false), { header: undefined, index: undefined });
      t.deepEqual(await read(true, false), { header, index: undefined });
      t.deepEqual(await read(false, true), { header: undefined, index: stored });
      t.deepEqual(await read(true, true), { header, index: stored });
    }
  },
};
