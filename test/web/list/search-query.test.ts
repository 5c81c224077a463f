// Tests how searches are understood.
import { parseSearch } from '../../../web/src/list/search-query.js';
import test from '../../support/test.js';

const FOLDERS = [
  { id: 'f1', name: 'Archive', role: 'archive' },
  { id: 'f2', name: 'Trash', role: 'trash' },
  { id: 'l1', name: 'Zoo society', role: 'label' },
  { id: 'l2', name: 'Work', role: 'label' },
  { id: 'f3', name: 'Travel', role: 'folder' },
];
const parsed = (text: string) => parseSearch(text, FOLDERS).query;
const unknown = (text: string) => parseSearch(text, FOLDERS).unknown;
const start = (year: number, month: number, day: number) => new Date(year, month - 1, day).toISOString();
const before = (year: number, month: number, day: number) =>
  new Date(+new Date(year, month - 1, day) - 1).toISOString();

test('words and phrases stay as they are', (t) => {
  t.deepEqual(parsed('  invoice "second quarter" Zürich '), { q: 'invoice "second quarter" Zürich' });
  t.deepEqual(parsed('"unfinished phrase'), { q: '"unfinished phrase' });
  t.deepEqual(parsed(''), { q: '' });
});

test('operators say who, what, when, where, how large and in which state', (t) => {
  t.deepEqual(parsed('from:ann@example.test contract to:"Zoë Ünal" CC:bob'), {
    q: 'contract',
    from: 'ann@example.test',
    to: '"Zoë Ünal"',
    cc: 'bob',
  });
  t.deepEqual(parsed('from:ann from:example subject:"second quarter"'), {
    q: '',
    from: 'ann example',
    subject: '"second quarter"',
  });
  t.deepEqual(parsed('has:attachment is:unread'), { q: '', hasAttachments: true, isRead: false });
  t.deepEqual(parsed('HAS:attachments IS:starred'), { q: '', hasAttachments: true, isFlagged: true });
  t.deepEqual(
    ['larger:5M', 'larger:1.5mb', 'larger:200k', 'larger:70'].map((text) => parsed(text).minSizeBytes),
    [5_000_000, 1_500_000, 200_000, 70],
  );
});

test('days, months and years begin at midnight where the reader is', (t) => {
  t.deepEqual(parsed('after:2026-11-01 before:2026-12-01'), {
    q: '',
    fromDate: start(2026, 11, 1),
    toDate: before(2026, 12, 1),
  });
  t.deepEqual(parsed('before:2026/3/1'), { q: '', toDate: before(2026, 3, 1) });
  t.deepEqual(parsed('after:2026-11 before:2027'), {
    q: '',
    fromDate: start(2026, 11, 1),
    toDate: before(2027, 1, 1),
  });
});

test('in: names a folder of the system by its role, others and labels by their name', (t) => {
  t.deepEqual(parsed('in:trash'), { q: '', folder: 'trash' });
  t.deepEqual(parsed('in:Travel'), { q: '', folder: 'f3' });
  t.deepEqual(parsed('in:"zoo society" okapi'), { q: 'okapi', label: 'l1' });
  t.deepEqual(parsed('label:"Zoo society" label:work in:archive'), { q: '', label: 'l1,l2', folder: 'archive' });
  t.deepEqual(parsed('in:anywhere okapi'), { q: 'okapi', anywhere: true });
  t.deepEqual(parsed('in:anywhere in:trash'), { q: '', folder: 'trash' });
});

test('what only looks like an operator is searched as words, and is named', (t) => {
  for (const text of [
    'before:tomorrow',
    'after:2026-02-30',
    'in:nowhere',
    'label:archive',
    'larger:much',
    'is:odd',
    'has:wings',
    'note:this',
    'from:',
    'to:" "',
  ]) {
    t.deepEqual(parsed(text), { q: text });
    t.deepEqual(unknown(`okapi from:ann ${text}`), [text]);
  }
  t.deepEqual(parsed('in:archive in:trash'), { q: 'in:trash', folder: 'archive' }, 'an email in both');
  t.deepEqual(unknown('in:archive in:trash in:archive'), ['in:trash']);
  t.deepEqual(unknown('10:30 https://example.test/a "is:odd"'), []);
});
