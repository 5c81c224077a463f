// Tests how searches are understood.
import { parseSearch } from '../../../web/src/list/search-query.js';
import test from '../../support/test.js';

const FOLDERS = [
  { id: 'f1', name: 'Archive', role: 'archive' },
  { id: 'f2', name: 'Trash', role: 'trash' },
  { id: 'l1', name: 'Zoo society', role: 'label' },
  { id: 'f3', name: 'Travel', role: 'folder' },
];
const parsed = (text: string) => parseSearch(text, FOLDERS);

test('words and phrases stay as they are', (t) => {
  t.deepEqual(parsed('  invoice "second quarter" Zürich '), { q: 'invoice "second quarter" Zürich' });
  t.deepEqual(parsed('"unfinished phrase'), { q: '"unfinished phrase' });
  t.deepEqual(parsed(''), { q: '' });
});

test('operators say who, what, when, where and in which state', (t) => {
  t.deepEqual(parsed('from:ann@example.test contract to:"Zoë Ünal"'), {
    q: 'ann@example.test contract "Zoë Ünal"',
  });
  t.deepEqual(parsed('has:attachment is:unread'), { q: '', hasAttachments: true, isRead: false });
  t.deepEqual(parsed('HAS:attachments IS:starred'), { q: '', hasAttachments: true, isFlagged: true });
  t.deepEqual(parsed('after:2026-11-01 before:2026-12-01'), { q: '', fromDate: '2026-11-01', toDate: '2026-11-30' });
  t.deepEqual(parsed('before:2026/3/1'), { q: '', toDate: '2026-02-28' });
});

test('in: names a folder of the system by its role, and others by their name', (t) => {
  t.deepEqual(parsed('in:trash'), { q: '', folder: 'trash' });
  t.deepEqual(parsed('in:"zoo society" okapi'), { q: 'okapi', folder: 'l1' });
  t.deepEqual(parsed('in:Travel'), { q: '', folder: 'f3' });
});

test('what only looks like an operator is a word', (t) => {
  for (const text of [
    'before:tomorrow',
    'after:2026-02-30',
    'in:nowhere',
    'is:odd',
    'has:wings',
    'note:this',
    '10:30',
    'from:',
  ])
    t.deepEqual(parsed(text), { q: text });
});
