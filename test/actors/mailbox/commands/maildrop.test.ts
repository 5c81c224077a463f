// Tests locks on maildrops: who gets them, for how long, and with which owner.

import { MaildropLocks } from '../../../../src/actors/mailbox/commands/maildrop-locks.js';
import { ALICE, FakeBlobs } from '../../../gateways/http/fakes.js';
import { startMailboxes } from '../../../gateways/http/mailboxes.js';
import test from '../../../support/test.js';

test('one session of an epoch has the lock, which expires unless it is renewed', (t) => {
  let now = 0;
  const locks = new MaildropLocks(() => now);
  t.true(locks.take('a', 1, 'first'));
  t.true(locks.take('b', 1, 'of another account'));
  t.false(locks.take('a', 1, 'second'));
  now = 14_999;
  t.true(locks.take('a', 1, 'first'), 'it is renewed');
  now = 29_998;
  t.false(locks.take('a', 1, 'second'));
  now = 29_999;
  t.true(locks.take('a', 1, 'second'));
  t.false(locks.take('a', 1, 'first'));
});

test('a lock is free at once when its session frees it, and no other may', (t) => {
  const locks = new MaildropLocks(() => 0);
  locks.take('a', 1, 'first');
  locks.free('a', 'second');
  t.false(locks.take('a', 1, 'second'));
  locks.free('a', 'first');
  t.true(locks.take('a', 1, 'second'));
});

test('what an earlier owner has locked means nothing to a later one', (t) => {
  const locks = new MaildropLocks(() => 0);
  locks.take('a', 1, 'first');
  t.true(locks.take('a', 2, 'second'));
  t.false(locks.take('a', 2, 'first'));
});

test('a maildrop is listed page by page, and QUIT takes out what is still there', async (t) => {
  const mailboxes = await startMailboxes(new FakeBlobs());
  t.teardown(() => mailboxes.end());
  mailboxes.account(ALICE);
  const mailbox = mailboxes.refs.of(ALICE);
  const opened = (await mailbox.ask('openMaildrop', { sessionId: 's' })).reply!;
  t.like(opened, { kind: 'open', folderId: mailboxes.folderId(ALICE, 'inbox'), uidNext: 1 });
  t.is((await mailbox.ask('openMaildrop', { sessionId: 'other' })).reply!.kind, 'inUse');
  t.is((await mailbox.ask('keepMaildrop', { sessionId: 's' })).reply!.kind, 'open');
  t.is((await mailbox.ask('keepMaildrop', { sessionId: 'other' })).reply!.kind, 'inUse');
  t.deepEqual((await mailbox.ask('maildropPage', { fromUid: 1, belowUid: 1 })).reply, {
    uids: '',
    sizes: '',
    emailIds: '',
    nextUid: null,
  });
  const other = await mailbox.ask('quitMaildrop', { sessionId: 'other', uids: [[1, 9]], isLast: true });
  t.deepEqual(other.reply, { kind: 'inUse', isComplete: false });
  const part = await mailbox.ask('quitMaildrop', { sessionId: 's', uids: [[1, 4]], isLast: false });
  t.deepEqual(part.reply, { kind: 'open', isComplete: true });
  t.is((await mailbox.ask('openMaildrop', { sessionId: 'other' })).reply!.kind, 'inUse');
  const own = await mailbox.ask('quitMaildrop', { sessionId: 's', uids: [[5, 9]], isLast: true });
  t.deepEqual(own.reply, { kind: 'open', isComplete: true });
  t.is((await mailbox.ask('openMaildrop', { sessionId: 'other' })).reply!.kind, 'open');
});
