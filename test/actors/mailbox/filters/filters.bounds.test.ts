// Tests the bounds of labels and filters of an account.

import test from '../../../support/test.js';
import { mailboxWorld } from '../mailbox-world.js';

test('labels and filters are bounded in number', async (t) => {
  const world = await mailboxWorld();
  t.teardown(world.end);
  const account = await world.directory.createAccount('many@example.test', 'x');
  const mailbox = world.mailboxes.of(account.id);
  const labels = await Promise.all(
    Array.from({ length: 501 }, (_, i) =>
      mailbox.ask('createLabel', { name: `l${i}`, color: '#000000', sortOrder: 0 }),
    ),
  );
  t.deepEqual(
    labels.flatMap(({ refusal }) => refusal ?? []),
    ['tooMany'],
  );
  const rule = {
    name: 'f',
    isEnabled: true,
    priority: 0,
    fromAddressContains: 'x',
    subjectContains: null,
    bodyContains: null,
    hasAttachments: null,
    markAsRead: true,
    assignLabelId: null,
    delete: null,
  };
  const filters = await Promise.all(Array.from({ length: 201 }, () => mailbox.ask('createFilter', { rule })));
  t.deepEqual(
    filters.flatMap(({ refusal }) => refusal ?? []),
    ['tooMany'],
  );
});
