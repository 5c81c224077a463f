// Tests the content check of the block lists that put mail into Junk.
import { blockListCheck } from '../../../src/message-checks/clients/block-list-check.js';
import type { BlockList } from '../../../src/message-checks/clients/block-lists.js';
import test from '../../support/test.js';

const NO_SIGNAL = new AbortController().signal;

async function verdictOf(found: readonly BlockList[], recipients: readonly string[] = ['a@example.test']) {
  const check = blockListCheck({ listing: async () => found });
  const message = { authenticated: undefined, chunks: () => [] };
  const envelope = { id: 'T1', sender: 'b@peer.test', recipients };
  const peer = { remoteAddress: '192.0.2.9', helo: 'peer.test', accountId: undefined, user: undefined };
  return (await check.check(message, envelope, peer, NO_SIGNAL)).verdict;
}

test('mail of a client that a list for Junk has is junk, unless it is only for the postmaster', async (t) => {
  const junk: BlockList = { zone: 'junk.test', action: 'junk' };
  t.is(await verdictOf([]), 'accept');
  t.is(await verdictOf([{ zone: 'bl.test', action: 'refuse' }]), 'accept');
  t.is(await verdictOf([junk]), 'junk');
  t.is(await verdictOf([junk], ['Postmaster@example.test', 'postmaster']), 'accept');
  t.is(await verdictOf([junk], ['postmaster@example.test', 'a@example.test']), 'junk');
});
