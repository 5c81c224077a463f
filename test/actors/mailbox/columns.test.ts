// Tests the columns of a mailbox in memory: against a naive model, for their exactness, and for the memory that they take.
import type { ExecutionContext } from 'ava';
import fc from 'fast-check';
import { EmailColumns } from '../../../src/actors/mailbox/email-columns.js';
import { FolderColumns } from '../../../src/actors/mailbox/folder-columns.js';
import { DELETED_BIT } from '../../../src/actors/mailbox/packed-columns.js';
import { SparseBits, SparseColumn } from '../../../src/actors/mailbox/sparse-column.js';
import { newId } from '../../../src/ids/new-id.js';
import { SEEN } from '../../../src/mail/flags.js';
import { uuidOctets, uuidText, uuidV7, uuidWords } from '../../../src/mail/ids.js';
import type { FolderRow } from '../../../src/store/mailboxes.js';
import { runs } from '../../support/amounts.js';
import test from '../../support/test.js';

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

interface ModelEmail {
  readonly slot: number;
  readonly receivedAt: number;
  readonly size: number;
  readonly hasAttachments: boolean;
  flags: number;
  keywords: string[];
  modseq: number;
}

interface ModelPlacement {
  readonly email: ModelEmail;
  readonly uid: number;
  modseq: number;
  isDeleted: boolean;
}

/** Holds the expected content of the columns in plain objects. */
class Model {
  modseq = 1;
  emails: ModelEmail[] = [];
  folders = [0, 1].map(() => ({
    uidNext: 1,
    placements: [] as ModelPlacement[],
    expunged: [] as { uid: number; modseq: number }[],
    floor: 0,
  }));
}

const NAMES = ['Work', 'todo', '$Label1', 'urgent'];
const which = fc.array(fc.nat(30), { maxLength: 6 });
const folderNumber = fc.nat(1);
const keywords = fc.subarray(NAMES);
const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('add' as const),
      ages: fc.array(fc.nat(50), { maxLength: 5 }),
      keywords,
      folder: folderNumber,
    }),
  },
  fc.record({ kind: fc.constant('place' as const), which, folder: folderNumber }),
  fc.record({ kind: fc.constant('unplace' as const), which, folder: folderNumber }),
  fc.record({
    kind: fc.constant('flags' as const),
    which,
    flags: fc.nat(0x3fff),
    keywords: fc.option(keywords, { nil: undefined }),
  }),
  fc.record({ kind: fc.constant('deleted' as const), which, folder: folderNumber, isDeleted: fc.boolean() }),
  fc.record({ kind: fc.constant('remove' as const), which }),
  fc.record({ kind: fc.constant('prune' as const), back: fc.nat(5), folder: folderNumber }),
  fc.record({ kind: fc.constant('trim' as const) }),
);
const ask = fc.record({
  kind: fc.constant('ask' as const),
  folder: folderNumber,
  back: fc.nat(20),
  fromUid: fc.nat(20),
  limit: fc.integer({ min: 1, max: 100 }),
});
type Drawn<A> = A extends fc.Arbitrary<infer S> ? S : never;
type Step = Drawn<typeof step> | Drawn<typeof ask>;

function play(
  t: ExecutionContext,
  model: Model,
  emails: EmailColumns,
  folders: readonly FolderColumns[],
  next: Step,
): void {
  const modseq = ++model.modseq;
  switch (next.kind) {
    case 'add': {
      const added = next.ages.map((age, i): ModelEmail => {
        const fields = {
          flags: age,
          keywords: next.keywords,
          receivedAt: START + modseq * 10 - age,
          size: age * 1_000,
        };
        const slot = emails.append({ id: id(modseq * 10 + i), ...fields, modseq, hasAttachments: age % 2 === 0 });
        return { slot, ...fields, keywords: [...next.keywords], modseq, hasAttachments: age % 2 === 0 };
      });
      model.emails.push(...added);
      place(model, folders, next.folder, added, modseq);
      return;
    }
    case 'place': {
      const { placements } = model.folders[next.folder]!;
      const chosen = pick(model.emails, next.which).filter((each) => !placements.some((p) => p.email === each));
      place(model, folders, next.folder, chosen, modseq);
      return;
    }
    case 'unplace':
      unplace(model, folders, next.folder, new Set(pick(model.folders[next.folder]!.placements, next.which)), modseq);
      return;
    case 'flags':
      for (const chosen of pick(model.emails, next.which)) {
        for (const folder of folders) folder.reflag([chosen.slot], next.flags);
        emails.setFlags(chosen.slot, next.flags, next.keywords, modseq);
        Object.assign(chosen, { flags: next.flags, modseq, keywords: next.keywords ?? chosen.keywords });
      }
      return;
    case 'deleted':
      for (const chosen of pick(model.folders[next.folder]!.placements, next.which)) {
        folders[next.folder]!.setDeleted(chosen.email.slot, next.isDeleted, modseq);
        Object.assign(chosen, { isDeleted: next.isDeleted, modseq });
      }
      return;
    case 'remove': {
      const gone = new Set(pick(model.emails, next.which));
      model.folders.forEach(({ placements }, f) => {
        unplace(model, folders, f, new Set(placements.filter((p) => gone.has(p.email))), modseq);
      });
      for (const { slot } of gone) emails.kill(slot);
      model.emails = model.emails.filter((each) => !gone.has(each));
      return;
    }
    case 'prune': {
      const folder = model.folders[next.folder]!;
      folder.floor = Math.max(folder.floor, modseq - next.back);
      folders[next.folder]!.pruneExpunged(modseq - next.back);
      folder.expunged = folder.expunged.filter((each) => each.modseq > folder.floor);
      return;
    }
    case 'trim':
      emails.trim();
      for (const folder of folders) folder.trim();
      return;
    case 'ask': {
      const { back, fromUid, limit } = next;
      checkChanges(t, model.folders[next.folder]!.placements, folders[next.folder]!, [modseq - back, fromUid, limit]);
    }
  }
}

const pick = <T>(all: readonly T[], which: readonly number[]): T[] => [...new Set(which.flatMap((i) => all[i] ?? []))];

function place(model: Model, folders: readonly FolderColumns[], f: number, chosen: ModelEmail[], modseq: number): void {
  const folder = model.folders[f]!;
  const placed = chosen.map((each) => ({ email: each, uid: folder.uidNext++, modseq, isDeleted: false }));
  folder.placements.push(...placed);
  folders[f]!.placeAll(placed.map(({ email: { slot }, uid }) => ({ slot, uid, modseq })).reverse());
}

function unplace(
  model: Model,
  folders: readonly FolderColumns[],
  f: number,
  gone: ReadonlySet<ModelPlacement>,
  modseq: number,
): void {
  const folder = model.folders[f]!;
  folder.placements = folder.placements.filter((each) => !gone.has(each));
  for (const { uid } of gone) folder.expunged.push({ uid, modseq });
  folders[f]!.unplaceAll(
    [...gone].map(({ email: { slot } }) => slot),
    modseq,
  );
}

function check(t: ExecutionContext, model: Model, emails: EmailColumns, folders: readonly FolderColumns[]): void {
  t.deepEqual(
    model.emails.map(({ slot }) => ({
      slot: emails.isAlive(slot) ? slot : -1,
      receivedAt: emails.receivedAt(slot),
      size: emails.sizeOf(slot),
      hasAttachments: emails.hasAttachments(slot),
      flags: emails.flags(slot),
      keywords: emails.keywords(slot),
      modseq: emails.modseq(slot),
    })),
    model.emails.map((each) => ({ ...each, keywords: sorted(each.keywords) })),
  );
  const names = sorted([...new Set(model.emails.flatMap((each) => each.keywords))]);
  t.deepEqual(emails.keywordNames, names);
  t.true(
    model.emails.every((each) =>
      NAMES.every((n) => emails.hasKeyword(each.slot, n.toUpperCase()) === each.keywords.includes(n)),
    ),
  );
  for (const [f, expected] of model.folders.entries()) checkFolder(t, expected, folders[f]!, emails, model.modseq);
}

function checkFolder(
  t: ExecutionContext,
  { placements, expunged, floor, uidNext }: Model['folders'][number],
  folder: FolderColumns,
  emails: EmailColumns,
  modseq: number,
): void {
  t.is(folder.count, placements.length);
  t.deepEqual(
    placements.map(({ email: { slot } }, i) => ({
      slot: folder.slotAt(i),
      uid: folder.uidAt(i),
      uidOf: folder.uidOf(slot),
      found: folder.slotOfUid(placements[i]!.uid),
      isDeleted: folder.isDeleted(slot),
      modseq: folder.modseqOf(slot),
    })),
    placements.map(({ email: { slot, modseq: changed }, uid, modseq: placed, isDeleted }) => ({
      slot,
      uid,
      uidOf: uid,
      found: slot,
      isDeleted,
      modseq: Math.max(changed, placed),
    })),
  );
  t.is(folder.deletedCount, placements.filter(({ isDeleted }) => isDeleted).length);
  for (let uid = 1; uid <= uidNext; uid++) {
    t.is(folder.indexOfUid(uid), placements.filter((each) => each.uid < uid).length);
    if (!placements.some((each) => each.uid === uid)) t.is(folder.slotOfUid(uid), -1);
  }
  const byTime = placements
    .map(({ email: { slot, receivedAt } }) => ({ slot, receivedAt }))
    .sort((a, b) => a.receivedAt - b.receivedAt || a.slot - b.slot);
  const slots = byTime.map(({ slot }) => slot);
  t.deepEqual([...folder.slots()], slots);
  const shown: number[] = [];
  const marked = new Set(placements.flatMap(({ email, isDeleted }) => (isDeleted ? [email.slot] : [])));
  const unmarked = slots.filter((slot) => !marked.has(slot));
  for (let at = 0; at < slots.length; at += 3) shown.push(...folder.shown(at, 3, true));
  t.deepEqual(shown, unmarked.toReversed());
  t.deepEqual(folder.shown(1, 2, false), unmarked.slice(1, 3));
  const unread = [...marked].filter((slot) => (emails.flags(slot) & SEEN) === 0);
  t.is(folder.deletedUnreadCount, unread.length);
  t.deepEqual(folder.shown(3_000, 3, true), []);
  const middle = byTime[byTime.length >> 1]?.receivedAt ?? START;
  t.deepEqual(
    folder.before(middle, 4),
    byTime
      .filter(({ receivedAt }) => receivedAt < middle)
      .map(({ slot }) => slot)
      .slice(0, 4),
  );
  const placed = new Set(slots);
  for (let slot = 0; slot < emails.size; slot++) if (!placed.has(slot)) t.is(folder.uidOf(slot), 0);
  for (let since = 0; since <= modseq; since++) {
    const uids = expunged.filter((each) => each.modseq > since).map(({ uid }) => uid);
    t.deepEqual(folder.expungedSince(since), { uids: Uint32Array.from(uids).sort(), isComplete: since >= floor });
  }
}

function checkChanges(
  t: ExecutionContext,
  placements: readonly ModelPlacement[],
  folder: FolderColumns,
  [since, fromUid, limit]: readonly [since: number, fromUid: number, limit: number],
): void {
  const changed = placements
    .map(({ email, uid, isDeleted, modseq }) => {
      const flags = email.flags | (isDeleted ? DELETED_BIT : 0);
      return { slot: email.slot, uid, flags, modseq: Math.max(modseq, email.modseq) };
    })
    .filter(({ uid, modseq }) => uid >= fromUid && modseq > since);
  const { slots, uids, flags, modseqs, nextUid } = folder.changedAfter(since, fromUid, limit);
  t.deepEqual(
    [...slots].map((slot, i) => ({ slot, uid: uids[i], flags: flags[i], modseq: modseqs[i] })),
    changed.slice(0, limit),
  );
  t.is(nextUid, changed[limit]?.uid ?? Number.POSITIVE_INFINITY);
}

const sorted = (names: readonly string[]): string[] =>
  [...names].sort((a, b) => (a.toLowerCase() < b.toLowerCase() ? -1 : 1));

test('random histories leave the columns as a naive model says', (t) => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const model = new Model();
      const emails = new EmailColumns();
      const folders = model.folders.map(() => new FolderColumns(row, emails));
      for (const next of steps) play(t, model, emails, folders, next);
      check(t, model, emails, folders);
    }),
    { numRuns: runs(150) },
  );
});

test('what changed after a modseq is what a naive model says, asked again and again in random histories', (t) => {
  const steps = fc.array(fc.oneof({ weight: 2, arbitrary: step }, { weight: 1, arbitrary: ask }), {
    maxLength: 60,
    size: 'max',
  });
  fc.assert(
    fc.property(steps, (drawn) => {
      const model = new Model();
      const emails = new EmailColumns();
      const folders = model.folders.map(() => new FolderColumns(row, emails));
      for (const next of drawn) play(t, model, emails, folders, next);
    }),
    { numRuns: runs(150) },
  );
});

test('changes of placements before a folder was asked for the first time are found', (t) => {
  const emails = new EmailColumns();
  const folder = new FolderColumns(row, emails);
  const email = { flags: 0, keywords: [], receivedAt: 0, size: 1, hasAttachments: false };
  const slot = emails.append({ ...email, id: newId(), modseq: 5 });
  folder.placeAll([{ slot, uid: 1, modseq: 5 }]);
  folder.setDeleted(slot, true, 6);
  t.deepEqual([...folder.changedAfter(5, 1, 10).uids], [1]);
  t.deepEqual([...folder.changedAfter(6, 1, 10).uids], []);
});

test('emails are found by id, and not after they are gone', (t) => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.nat(100_000), { maxLength: 200 }), (times) => {
      const emails = new EmailColumns();
      const ids = times.sort((a, b) => a - b).map((ms) => uuidV7(ms, ms % 4096, RANDOM));
      const slots = ids.map((id) => emails.append(email(0, { id })));
      t.deepEqual(
        ids.map((id) => emails.find(id)),
        slots,
      );
      t.deepEqual(
        slots.map((slot) => emails.id(slot)),
        ids,
      );
      for (const slot of slots.filter((slot) => slot % 3 === 0)) emails.kill(slot);
      t.deepEqual(
        ids.map((id) => emails.find(id)),
        slots.map((slot) => (slot % 3 === 0 ? -1 : slot)),
      );
      t.is(emails.dead, Math.ceil(slots.length / 3));
      t.is(emails.find('ffffffff-ffff-7fff-bfff-ffffffffffff'), -1);
    }),
  );
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

test('200 keywords on every one of 10,000 emails take a bit each', (t) => {
  const emails = new EmailColumns();
  for (let i = 0; i < 10_000; i++) emails.append(email(i));
  emails.trim();
  const before = emails.octets;
  const names = Array.from({ length: 200 }, (_, i) => `keyword-${i}`);
  for (let slot = 0; slot < 10_000; slot++) emails.setFlags(slot, 0, names, 2);
  t.is(emails.keywordNames.length, 200);
  t.true(emails.octets - before < 200 * 4_000, `${emails.octets - before} octets`);
});

test('ids: octets and text are the same id, later ids sort later', (t) => {
  fc.assert(
    fc.property(
      fc.nat(2 ** 31),
      fc.nat(4095),
      fc.uint8Array({ minLength: 8, maxLength: 8 }),
      (ms, sequence, random) => {
        const id = uuidV7(ms, sequence, random);
        t.regex(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
        const octets = uuidOctets(id);
        t.is(uuidText(octets), id);
        t.is(uuidText(Buffer.concat([random, octets]), 8), id);
        const words = [0, 4, 8, 12].map((at) => octets.readUInt32BE(at));
        t.deepEqual([uuidWords(id), uuidWords(id.toUpperCase())], [words, words]);
        t.true(uuidV7(ms + 1, 0, random) > id);
        if (sequence < 4095) t.true(uuidV7(ms, sequence + 1, random) > id);
      },
    ),
  );
});

test('sparse columns read back what was written and take memory only where something is set', (t) => {
  const column = new SparseColumn();
  const bits = new SparseBits();
  const none = [column.octets, bits.octets];
  column.set(5_000_000, 0);
  bits.set(5_000_000, false);
  t.deepEqual([column.octets, bits.octets], none);
  column.set(5_000_000, 7);
  column.set(3, 2 ** 47 + 9);
  bits.set(5_000_000, true);
  bits.set(5_000_000, true);
  t.deepEqual([column.get(5_000_000), column.get(3), column.get(4), column.get(9_999_999)], [7, 2 ** 47 + 9, 0, 0]);
  t.deepEqual([bits.has(5_000_000), bits.has(5_000_008), bits.has(9_999_999), bits.count], [true, false, false, 1]);
  for (let slot = 2_048; slot < 3_072; slot++) column.set(slot, slot);
  t.deepEqual([column.get(2_047), column.get(2_048), column.get(3_071), column.get(3_072)], [0, 2_048, 3_071, 0]);
  const [taken, bitsTaken] = [column.octets, bits.octets];
  column.set(3, 0);
  column.set(5_000_000, 0);
  for (let slot = 2_048; slot < 3_072; slot++) column.set(slot, 0);
  bits.set(5_000_000, false);
  t.true(taken - column.octets >= 4_096, 'the page was dropped');
  t.true(bitsTaken - bits.octets >= 1_024);
  t.deepEqual([column.get(3), bits.count], [0, 0]);
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

test('emails of many labels, spread over a large mailbox, take memory for themselves', (t) => {
  const emails = new EmailColumns();
  for (let i = 0; i < 100_000; i++) emails.append(email(i));
  const labels = Array.from({ length: 50 }, () => new FolderColumns(row, emails));
  labels.forEach((label, l) => {
    const slots = Array.from({ length: 100 }, (_, i) => i * 1_000 + l);
    label.placeAll(slots.map((slot, i) => ({ slot, uid: i + 1, modseq: 5 })));
  });
  const octets = labels.reduce((sum, label) => sum + label.octets, 0) / 5_000;
  t.true(octets < 200, `${octets} octets a placement`);
});
