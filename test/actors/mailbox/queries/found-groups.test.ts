// Tests that the emails of a long list come in parts, each of which goes on behind the one before, whatever arrives or goes between them.
import { MOST_FOUND } from '../../../../src/actors/mailbox/queries/found-groups.js';
import { uuidText } from '../../../../src/mail-format/ids.js';
import { indexMessage } from '../../../../src/mail-format/mime-index/indexer.js';
import { summarize } from '../../../../src/mail-format/summary.js';
import { ALICE, FakeBlobs } from '../../../gateways/http/fakes.js';
import { startMailboxes } from '../../../gateways/http/mailboxes.js';
import test from '../../../support/test.js';

const AT_ONCE = 1_000;
/** A thread of this many emails. */
const OF_THREAD = 7;
const TIME = Date.UTC(2026, 0, 1);

test('a search and a list by thread of more than 20,000 emails come in parts', async (t) => {
  const blobs = new FakeBlobs();
  const mailboxes = await startMailboxes(blobs);
  t.teardown(() => mailboxes.end());
  mailboxes.account(ALICE);
  const mailbox = mailboxes.refs.of(ALICE);
  let number = 0;
  const append = async (count: number) => {
    const messages = Array.from({ length: count }, () => {
      const root = Math.floor(number++ / OF_THREAD);
      const raw = Buffer.from(
        `From: a@a.test\r\nMessage-ID: <${number}@a.test>\r\nReferences: <root-${root}@a.test>\r\n\r\n`,
      );
      const index = indexMessage(raw);
      // Emails of one time are in the order in which they came.
      return {
        blob: blobs.add(raw, index),
        summary: summarize(index),
        receivedAt: TIME + Math.floor(number / 50),
        flags: [],
      };
    });
    const { reply } = await mailbox.ask('append', { folderId: 'inbox', messages });
    return reply!.emails.map(({ emailId }) => emailId);
  };
  const ids: string[] = [];
  while (ids.length < MOST_FOUND + AT_ONCE) ids.push(...(await append(AT_ONCE)));

  for (const asked of [{}, { folder: 'inbox', groupByThread: true }]) {
    const first = (await mailbox.ask('foundEmails', { terms: [], ...asked })).reply!;
    const newest = idsOf(first.groups);
    t.true(newest.length > MOST_FOUND - 100 && newest.length <= MOST_FOUND);
    t.is(first.totalCount, ids.length);
    // The email that the next part goes on behind is gone, and another one has come.
    await mailbox.ask('remove', { emailIds: [first.next!.id] });
    const [later] = await append(1);
    const second = (await mailbox.ask('foundEmails', { terms: [], ...asked, before: first.next! })).reply!;
    const rest = idsOf(second.groups);
    t.is(second.next, undefined);
    t.is(second.totalCount, rest.length);
    // What is left of the row comes again.
    t.deepEqual([...new Set([...newest, ...rest])].toSorted(), ids);
    ids.splice(ids.indexOf(first.next!.id), 1);
    ids.push(later!);
    ids.sort();
  }
});

function idsOf(groups: readonly { readonly ids: string }[]): string[] {
  return groups.flatMap(({ ids }) => {
    const octets = Buffer.from(ids, 'base64');
    return Array.from({ length: octets.length / 16 }, (_, i) => uuidText(octets, i * 16));
  });
}
