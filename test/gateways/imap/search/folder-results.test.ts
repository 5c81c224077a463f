// Tests results that are kept by folder and name: a new result replaces the old one, and all of them stay within the limit.

import { FolderResults, type ResultKind } from '../../../../src/gateways/imap/search/folder-results.js';
import test from '../../../support/test.js';

const kind = (name: string): ResultKind<string> => ({ name, octetsOf: ({ length }) => length });
const UIDS = Uint32Array.of(1, 2);
const turn = () => new Promise(setImmediate);

test('a result is of one account, folder and name, and the last one counts', (t) => {
  const results = new FolderResults(1e6);
  const folder = { accountId: 'a', folderId: 'f' };
  results.keep(folder, kind('x'), UIDS, 'first');
  results.keep(folder, kind('x'), UIDS, 'second');
  t.is(results.get(folder, kind('x'))?.value, 'second');
  for (const [accountId, folderId, name] of [
    ['b', 'f', 'x'],
    ['a', 'g', 'x'],
    ['a', 'f', 'y'],
  ] as const)
    t.is(results.get({ accountId, folderId }, kind(name)), undefined);
});

test('what is too large is not kept, and an account that keeps much gives way to another', async (t) => {
  const results = new FolderResults(20_000);
  const folder = (accountId: string, folderId: string) => ({ accountId, folderId });
  results.keep(folder('a', 'large'), kind('x'), UIDS, 'x'.repeat(5_000));
  t.is(results.get(folder('a', 'large'), kind('x')), undefined);
  results.keep(folder('b', 'f'), kind('x'), UIDS, 'x'.repeat(4_000));
  for (let i = 0; i < 10; i++) results.keep(folder('a', `${i}`), kind('x'), UIDS, 'x'.repeat(4_000));
  await turn();
  t.truthy(results.get(folder('b', 'f'), kind('x')));
  t.is(results.get(folder('a', '0'), kind('x')), undefined);
  t.truthy(results.get(folder('a', '9'), kind('x')));
});
