// Tests the columns of a mailbox in memory where the random histories of the commands do not reach: large numbers, many emails, and the
// memory that they take.
import fc from 'fast-check';
import { EmailColumns } from '../../../../src/actors/mailbox/state/email-columns.js';
import { FolderColumns } from '../../../../src/actors/mailbox/state/folder-columns.js';
import { SparseColumn } from '../../../../src/actors/mailbox/state/sparse-column.js';
import { uuidV7 } from '../../../../src/mail-format/ids.js';
import type { FolderRow } from '../../../../src/store/mailboxes.js';
import test from '../../../support/test.js';

const row: FolderRow = {
  id: '00000000-0000-7000-8000-000000000001',
  role: 'inbox',
  name: 'INBOX',
  color: null,
  sortOrder: 0,
  uidValidity: 1,
  uidNext: 1,
  total: 0,
  unread: 0,
  highestModseq: 1,
  isSubscribed: true,
  createdAt: 0,
};

const RANDOM = Buffer.from('0123456789abcdef', 'hex');
const START = Date.UTC(2026, 0, 1);
const id = (i: number): string => uuidV7(START + i, 0, RANDOM);
const email = (i: number, changed = {}) => ({
  id: id(i),
  flags: 0,
  keywords: [] as readonly string[],
  receivedAt: START + i,
  size: 1_000,
  modseq: 1,
  hasAttachments: false,
  ...changed,
});

test('times, sizes and modseqs are exact beyond 2^32, whatever the time in the id is', (t) => {
  const numbers = [0, 1, 2 ** 31, 2 ** 32 - 1, 2 ** 32, 2 ** 40 + 1, 2 ** 47, 2 ** 47 + 1];
  const emails = new EmailColumns();
  const folder = new FolderColumns(row, emails);
  for (const idTime of [1, 2 ** 31, START, 2 ** 48 - 1]) {
    for (const n of numbers) {
      const slot = emails.append({
        ...email(0, { receivedAt: n, size: n, modseq: n }),
        id: uuidV7(idTime, emails.size, RANDOM),
      });
      folder.placeAll([{ slot, uid: slot + 1, modseq: n + 1 }]);
      folder.setDeleted(slot, true, n + 2);
    }
  }
  const all = Array.from({ length: emails.size }, (_, slot) => numbers[slot % numbers.length]!);
  const read = (of: (slot: number) => number) => all.map((_, slot) => of(slot));
  t.deepEqual(
    read((slot) => emails.receivedAt(slot)),
    all,
  );
  t.deepEqual(
    read((slot) => emails.sizeOf(slot)),
    all,
  );
  t.deepEqual(
    read((slot) => emails.modseq(slot)),
    all,
  );
  t.deepEqual(
    read((slot) => folder.modseqOf(slot)),
    all.map((n) => n + 2),
  );
  folder.unplaceAll([0, 6], 2 ** 47);
  t.deepEqual(folder.expungedSince(2 ** 47 - 1), { uids: Uint32Array.of(1, 7), isComplete: true });
  t.deepEqual(folder.expungedSince(2 ** 47), { uids: new Uint32Array(0), isComplete: true });
  emails.setFlags(1, 0x3fff, ['x'], 2 ** 47 + 5);
  t.deepEqual([emails.flags(1), emails.modseq(1), emails.isAlive(1)], [0x3fff, 2 ** 47 + 5, true]);
  t.false(emails.hasAttachments(1));
  const before1970 = emails.append({ ...email(0, { receivedAt: -1 }), id: uuidV7(2 ** 48 - 1, 4_000, RANDOM) });
  t.is(emails.receivedAt(before1970), -1);
  t.throws(() => emails.setFlags(0, 0, undefined, 2 ** 48), { instanceOf: RangeError });
});

test('100,000 emails in the inbox take at most 40 octets each, loaded or delivered', (t) => {
  const emails = new EmailColumns();
  const inbox = new FolderColumns(row, emails);
  for (let i = 0; i < 100_000; i++) {
    const slot = emails.append(email(i, { receivedAt: START + i - 700, modseq: i + 2 }));
    inbox.placeAll([{ slot, uid: i + 1, modseq: i + 2 }]);
  }
  const octets = () => (emails.octets + inbox.octets) / 100_000;
  t.true(octets() <= 40, `${octets()} octets when delivered one by one`);
  emails.trim();
  inbox.trim();
  t.true(octets() > 38, 'all of the columns count');
  t.true(octets() < 39, `${octets()} octets when loaded`);
});

test('10,000 emails of 100,000 are moved between folders that time orders otherwise, and back', (t) => {
  const emails = new EmailColumns();
  const [inbox, archive] = [new FolderColumns(row, emails), new FolderColumns(row, emails)];
  const placements = Array.from({ length: 100_000 }, (_, i) => ({
    slot: emails.append(email(i, { receivedAt: START - ((i * 7_919) % 100_000) })),
    uid: i + 1,
    modseq: 1,
  }));
  inbox.placeAll(placements);
  const byTime = [...inbox.slots()];
  const moved = placements.filter(({ uid }) => uid % 10 === 0).map(({ slot }) => slot);
  inbox.unplaceAll(moved, 2);
  archive.placeAll(moved.map((slot, i) => ({ slot, uid: i + 1, modseq: 2 })));
  const isMoved = (slot: number): boolean => slot % 10 === 9;
  t.deepEqual(
    [...inbox.slots()],
    byTime.filter((slot) => !isMoved(slot)),
  );
  t.deepEqual([...archive.slots()], byTime.filter(isMoved));
  t.is(inbox.uidAt(89_999), 99_999);
  t.is(inbox.indexOfUid(99_990), inbox.indexOfUid(99_991), 'a UID that is gone');
  t.is(inbox.expungedSince(1).uids.length, 10_000);
  archive.unplaceAll(moved, 3);
  inbox.placeAll(moved.map((slot, i) => ({ slot, uid: 100_001 + i, modseq: 3 })));
  t.deepEqual([...inbox.slots()], byTime);
  t.is(archive.count, 0);
});

test('a folder refuses a UID that was given before, and an email that is there', (t) => {
  const emails = new EmailColumns();
  const folder = new FolderColumns(row, emails);
  const [a, b] = [emails.append(email(0)), emails.append(email(1))];
  folder.placeAll([{ slot: a, uid: 5, modseq: 1 }]);
  t.throws(() => folder.placeAll([{ slot: b, uid: 5, modseq: 1 }]), { message: /UID 5 is not above UID 5/ });
  t.throws(() => folder.placeAll([{ slot: a, uid: 6, modseq: 1 }]), { message: /holds the email already, as UID 5/ });
});

test('the newest expunged UIDs are remembered, and it is known from when on', (t) => {
  const emails = new EmailColumns();
  const folder = new FolderColumns(row, emails);
  const slot = emails.append(email(0));
  for (let uid = 1; uid <= 50_000; uid++) {
    folder.placeAll([{ slot, uid, modseq: uid }]);
    folder.unplaceAll([slot], uid);
  }
  t.deepEqual(folder.expungedSince(49_990), {
    uids: Uint32Array.from({ length: 10 }, (_, i) => 49_991 + i),
    isComplete: true,
  });
  t.is(folder.expungedSince(30_000).uids.length, 20_000, 'at least 20,000');
  t.true(folder.expungedSince(30_000).isComplete);
  t.false(folder.expungedSince(1).isComplete);
  t.true(folder.octets < 1_000_000, `${folder.octets} octets`);
});

test('keywords keep their first spelling, compare without case and are forgotten with their last email', (t) => {
  const emails = new EmailColumns();
  const [a, b] = [
    emails.append(email(0, { keywords: ['Work', 'later'] })),
    emails.append(email(1, { keywords: ['WORK'] })),
  ];
  t.deepEqual([emails.keywords(a), emails.keywords(b)], [['later', 'Work'], ['Work']]);
  t.deepEqual(emails.keywordNames, ['later', 'Work']);
  t.deepEqual([emails.keywordSpelling('wORK'), emails.keywordSpelling('gone')], ['Work', undefined]);
  emails.setFlags(a, 0, [], 2);
  t.deepEqual(emails.keywordNames, ['Work']);
  emails.setFlags(b, 1, undefined, 3);
  t.true(emails.hasKeyword(b, 'work'), 'flags alone changed');
  emails.kill(b);
  t.deepEqual(emails.keywordNames, []);
  emails.setFlags(a, 0, ['WORK'], 4);
  t.deepEqual(emails.keywords(a), ['WORK']);
});

test('a sparse column is what a map is, as parts of it fill and empty', (t) => {
  const slot = fc.oneof(fc.nat(300), fc.nat(3_000), fc.constantFrom(1_023, 1_024, 50_000));
  const value = fc.oneof(fc.constant(0), fc.nat(9), fc.constantFrom(2 ** 32 - 1, 2 ** 32, 2 ** 40 + 3));
  fc.assert(
    fc.property(fc.array(fc.tuple(slot, fc.integer({ min: 1, max: 200 }), value), { maxLength: 12 }), (runs) => {
      const column = new SparseColumn();
      const model = new Map<number, number>();
      for (const [first, count, to] of runs) {
        for (let at = first; at < first + count; at++) {
          column.set(at, to);
          model.set(at, to);
        }
      }
      t.true([...model].every(([at, expected]) => column.get(at) === expected));
      t.deepEqual([column.get(60_000), column.get(3_500)], [0, model.get(3_500) ?? 0]);
    }),
  );
});
