// Tests what a command that places messages tells the mirror of the selected mailbox: the client hears of its messages before the
// command completes, and the owner is not asked when they are in another mailbox.

import { reportPlaced } from '../../../../src/gateways/imap/notifications/own-changes.js';
import type { Session } from '../../../../src/gateways/imap/session.js';
import test from '../../../support/test.js';

function sessionWith(folderId: string) {
  const told: number[] = [];
  const mirror = { changedAt: (modseq: number) => void told.push(modseq) };
  return { session: { selected: { folderId, view: { mirror } } } as unknown as Session, told };
}

const UIDS: [number, number][] = [[4, 5]];

test('messages in the selected mailbox', (t) => {
  const { session, told } = sessionWith('inbox');
  reportPlaced(session, { folderId: 'inbox', before: 7, after: 9 }, UIDS);
  t.deepEqual(told, [9]);
});

test('messages in another mailbox', (t) => {
  const { session, told } = sessionWith('inbox');
  reportPlaced(session, { folderId: 'archive', before: 7, after: 9 }, UIDS);
  t.deepEqual(told, []);
});
