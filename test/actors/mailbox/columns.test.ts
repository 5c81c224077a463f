import test from 'ava';
import fc from 'fast-check';
import { EmailColumns } from '../../../src/actors/mailbox/email-columns.js';
import { FolderColumns } from '../../../src/actors/mailbox/folder-columns.js';
import { SparseColumn } from '../../../src/actors/mailbox/sparse-column.js';
import { uuidOctets, uuidText, uuidV7 } from '../../../src/mail/ids.js';
import type { FolderRow } from '../../../src/store/mailboxes.js';

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
  createdAt: 0,
};

test('a folder shows emails newest first whatever the order of arrival and removal', (t) => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant('add' as const), receivedAt: fc.integer({ min: 0, max: 50 }) }),
    fc.record({ kind: fc.constant('remove' as const), which: fc.array(fc.nat(40), { maxLength: 5 }) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), fc.integer({ min: 1, max: 7 }), (steps, pageSize) => {
      const emails = new EmailColumns();
      const folder = new FolderColumns(row, emails);
      let model: { slot: number; receivedAt: number }[] = [];
      let uid = 0;
      for (const next of steps) {
        if (next.kind === 'add') {
          const slot = emails.append(uuidV7(uid + 1, 0, new Uint8Array(8)), 0, next.receivedAt, 1, false);
          folder.place(slot, ++uid);
          model.push({ slot, receivedAt: next.receivedAt });
        } else {
          const gone = new Set(next.which.map((i) => model[i]?.slot).filter((slot) => slot !== undefined));
          folder.unplace(gone);
          model = model.filter(({ slot }) => !gone.has(slot));
        }
        const expected = [...model]
          .sort((a, b) => b.receivedAt - a.receivedAt || b.slot - a.slot)
          .map(({ slot }) => slot);
        const shown: number[] = [];
        for (let page = 1; shown.length < folder.count; page++) shown.push(...folder.page(page, pageSize));
        t.deepEqual(shown, expected);
        t.true(model.every(({ slot }) => folder.uidOf(slot) === slot + 1));
      }
      t.deepEqual(folder.page(1000, 10), []);
    }),
    { numRuns: 60 },
  );
});

test('emails are found by id, and not after they are gone', (t) => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.nat(100_000), { maxLength: 200 }), (times) => {
      const emails = new EmailColumns();
      const ids = times
        .sort((a, b) => a - b)
        .map((ms) => uuidV7(ms, ms % 4096, Buffer.from('0123456789abcdef', 'hex')));
      const slots = ids.map((id, i) => emails.append(id, i % 16, i, 1, i % 3 === 0));
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
      t.is(emails.find('ffffffff-ffff-7fff-bfff-ffffffffffff'), -1);
    }),
  );
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
        t.is(uuidText(uuidOctets(id)), id);
        t.true(uuidV7(ms + 1, 0, random) > id);
        if (sequence < 4095) t.true(uuidV7(ms, sequence + 1, random) > id);
      },
    ),
  );
});

test('a sparse column reads back what was written and takes memory only where it was', (t) => {
  const column = new SparseColumn();
  column.set(5_000_000, 0);
  t.is(column.octets, 0);
  column.set(5_000_000, 7);
  column.set(3, 9);
  t.deepEqual([column.get(5_000_000), column.get(3), column.get(4), column.get(9_999_999)], [7, 9, 0, 0]);
  t.is(column.octets, 2 * 4096);
});
