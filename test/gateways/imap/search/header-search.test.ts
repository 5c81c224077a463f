// Tests searches of header fields whose texts are joined and cached per folder.

import type { SearchKey } from '../../../../src/gateways/imap/grammar/search.js';
import { FolderResults } from '../../../../src/gateways/imap/search/folder-results.js';
import test from '../../../support/test.js';
import { type MadeMessage, searchedMailbox } from './searched-messages.js';

const made = (uid: number, raw: string): MadeMessage => ({
  uid,
  flags: 0,
  isDeleted: false,
  keywords: [],
  modseq: 1,
  receivedAt: 0,
  savedAt: 0,
  isExpunged: false,
  raw,
  body: '',
});

test('a field of a large folder is searched alike the first time, later, beside other keys, and after mail has come', async (t) => {
  const subjects = Array.from({ length: 700 }, (_, i) => (i % 3 === 0 ? undefined : `tale of the ${i % 7}`));
  const messages = subjects.map((subject, i) =>
    made(i + 1, `${subject === undefined ? '' : `Subject: ${subject}\r\n`}X: y\r\n\r\n`),
  );
  const results = new FolderResults(1e6);
  const subject = (text: string): SearchKey => ({ type: 'header', name: 'subject', text });
  const withText = (count: number, text: string) =>
    subjects.flatMap((found, i) => (i < count && found?.includes(text) ? [i + 1] : []));
  for (const count of [400, 500, 700]) {
    const { find } = searchedMailbox(messages.slice(0, count), { results });
    for (let time = 0; time < 2; time++) {
      t.deepEqual(await find(subject('The 4')), withText(count, 'the 4'));
      t.deepEqual(await find(subject('')), withText(count, ''));
      t.deepEqual(await find({ type: 'not', key: subject('tale') }), await find({ type: 'not', key: subject('') }));
    }
    const set: SearchKey = { type: 'set', isByUid: false, set: [[300, 302]] };
    t.deepEqual(
      await find({ type: 'and', keys: [subject('tale'), set] }),
      withText(count, 'tale').filter((uid) => uid >= 300 && uid <= 302),
    );
  }
});
