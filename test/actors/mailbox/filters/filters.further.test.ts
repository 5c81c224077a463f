// Tests the conditions on headers, sizes and expressions, and the actions that move, flag and stop, through deliveries: of stored messages,
// of inline ones, and of messages that could not be read in time.
import { SEEN } from '../../../../src/mail-format/flags.js';
import { summarize } from '../../../../src/mail-format/summary.js';
import { blobOf } from '../../../../src/store/blobs.js';
import { newId } from '../../../../src/store/ids/new-id.js';
import { NO_RULE } from '../../../support/filter-row.js';
import test from '../../../support/test.js';
import { until } from '../../../support/until.js';
import { checkRows, mailboxWorld } from '../mailbox-world.js';

type Rule = typeof NO_RULE extends infer R ? { [N in keyof R]: R[N] extends null ? unknown : R[N] } : never;

async function setUp() {
  const world = await mailboxWorld();
  const { id: accountId } = await world.directory.createAccount('further@example.test', 'x');
  const mailbox = world.mailboxes.of(accountId);
  const put = async (rule: Partial<Rule>, filterId?: string) => {
    const payload = { ...(filterId !== undefined && { filterId }), rule: { ...NO_RULE, ...rule } as never };
    return mailbox.ask('putFilter', payload);
  };
  const folder = async (name: string) => (await mailbox.ask('createFolder', { name, role: 'folder' })).reply!.id;
  const deliver = async (mail: { fields?: readonly string[]; body?: string; subject?: string } = {}) => {
    const [spooled] = await world.spool([accountId], 1, mail);
    return (await spooled!.deliver()).reply!.emailId!;
  };
  /** Asks the mailbox to store the message with its email, as the MX does. */
  const deliverInline = async (fields: readonly string[], body = 'hello') => {
    const content = blobOf(Buffer.from(`${fields.join('\r\n')}\r\nMessage-ID: <${newId()}@b>\r\n\r\n${body}`));
    const message = { content, summary: summarize(content.index) };
    const inboundId = newId();
    const outcome = await world.inlineMessages.commitInline(
      accountId,
      [message],
      ([handle]) => mailbox.ask('deliver', { ...handle!, inboundId, receivedAt: 1 } as never),
      inboundId,
    );
    return outcome.answer?.reply?.emailId;
  };
  const places = async (emailId: string) => {
    const rows = await world.sql<{ name: string }[]>`
      select f.name from placements p join folders f on f.account_id = p.account_id and f.id = p.folder_id
      where p.email_id = ${emailId} order by f.name`;
    return rows.map(({ name }) => name);
  };
  const flagsOf = async (emailId: string) => {
    const [row] = await world.sql`select flags, keywords from emails where id = ${emailId}`;
    return [row?.['flags'], row?.['keywords']];
  };
  const filters = async () => (await mailbox.ask('filters', {})).reply!.filters;
  return { world, accountId, mailbox, put, folder, deliver, deliverInline, places, flagsOf, filters };
}

test('each condition decides about stored and inline messages; headers of inline ones are not read from the store', async (t) => {
  const { world, put, folder, deliver, deliverInline, places } = await setUp();
  t.teardown(world.end);
  const fields = [
    'To: =?utf-8?q?J=C3=BCrgen?= <team@example.test>',
    'Cc: Boss <boss@example.test>',
    'List-Id: Devs <devs.lists.test>',
    'X-Tag: one',
    'X-Tag: =?utf-8?q?zw=C3=B6lf?=',
  ];
  const moveToFolderId = await folder('Matched');
  const { reply: filter } = await put({ toContains: 'nobody', moveToFolderId });
  const cases: readonly (readonly [Partial<Rule>, boolean])[] = [
    [{ toContains: 'JÜRGEN' }, true],
    [{ toContains: 'boss' }, false],
    [{ ccContains: 'boss@EXAMPLE' }, true],
    [{ ccContains: 'team' }, false],
    [{ listId: 'devs.lists' }, true],
    [{ listId: 'users.lists' }, false],
    [{ headerName: 'x-tag' }, true],
    [{ headerName: 'x-tag', headerContains: 'ZWÖLF' }, true],
    [{ headerName: 'x-tag', headerContains: 'three' }, false],
    [{ headerName: 'x-none' }, false],
    [{ minSizeBytes: 100 }, true],
    [{ minSizeBytes: 100_000 }, false],
    [{ maxSizeBytes: 100 }, false],
    [{ maxSizeBytes: 100_000, toContains: 'team' }, true],
    [{ toContains: 'team', ccContains: 'team' }, false],
  ];
  for (const [conditions, isMatch] of cases) {
    await put({ ...conditions, moveToFolderId }, filter!.id);
    const expected = [isMatch ? 'Matched' : 'INBOX'];
    t.deepEqual(await places(await deliver({ fields })), expected, `stored: ${JSON.stringify(conditions)}`);
    world.texts.fault = new Error('the store is not asked');
    const inline = await deliverInline(fields);
    t.deepEqual(await places(inline ?? ''), expected, `inline: ${JSON.stringify(conditions)}`);
    world.texts.fault = undefined;
  }
});

test('an expression looks at subject and body; messages that it looks at are stored first', async (t) => {
  const { world, put, deliver, deliverInline, flagsOf } = await setUp();
  t.teardown(world.end);
  await put({ matches: 'order \\d{4}$', flag: '\\Flagged' });
  t.deepEqual(await flagsOf(await deliver({ subject: 'hello', body: 'your ORDER 4711' })), [4, []]);
  t.deepEqual(await flagsOf(await deliver({ subject: 'order 12', body: 'x' })), [0, []]);
  t.is(await deliverInline(['Subject: order'], 'order 4711'), undefined);
});

test('a filter moves, flags and stops; filters that move apart leave one email in both folders', async (t) => {
  const { world, accountId, mailbox, put, folder, deliver, places, flagsOf, filters } = await setUp();
  t.teardown(world.end);
  const [a, b] = [await folder('A'), await folder('B')];
  await put({ priority: 1, subjectContains: 'a', moveToFolderId: a, flag: 'Work', markAsRead: true });
  await put({ priority: 2, subjectContains: 'b', moveToFolderId: b, flag: '\\Flagged', stop: true });
  await put({ priority: 3, subjectContains: 'c', moveToFolderId: 'trash' });
  const [one, both, stopped, trashed] = [
    await deliver({ subject: 'a' }),
    await deliver({ subject: 'ab' }),
    await deliver({ subject: 'bc' }),
    await deliver({ subject: 'c' }),
  ];
  t.deepEqual(await places(one), ['A']);
  t.deepEqual(await flagsOf(one), [SEEN, ['Work']]);
  t.deepEqual(await places(both), ['A', 'B']);
  t.deepEqual(await flagsOf(both), [SEEN | 4, ['Work']]);
  t.deepEqual(await places(stopped), ['B']);
  t.deepEqual(await places(trashed), ['Trash']);
  t.deepEqual(
    (await filters()).map(({ timesApplied }) => timesApplied),
    [2, 2, 1],
  );
  const added = (await world.events.read(accountId, 0, 1000)).filter(({ type }) => type === 'EmailAdded');
  t.deepEqual(
    added.map(({ payload }) => (payload as { isNew: boolean }).isNew),
    [true, true, true, false],
    'mail in Trash is not announced',
  );
  t.is((await mailbox.ask('unreadCount', {})).reply?.unread, 0);
  await checkRows(world, t, accountId);
});

test('a header and a body that cannot be read in time decide later, in the order of the filters', async (t) => {
  const { world, mailbox, put, folder, deliver, places, flagsOf, filters } = await setUp();
  t.teardown(world.end);
  const [a, b] = [await folder('A'), await folder('B')];
  await put({ priority: 1, toContains: 'team', moveToFolderId: a, flag: 'Work', stop: true });
  await put({ priority: 2, matches: 'hel+o', moveToFolderId: b });
  await put({ priority: 3, subjectContains: 'mail', markAsRead: true });
  const waiting = async () => (await mailbox.ask('filtersAwaitingBody', {})).reply!.emails.length;
  const settled = () => until(async () => (await waiting()) === 0);
  world.texts.fault = new Error('nothing can be read');
  const mine = await deliver({ fields: ['To: team@b.test'], subject: 'mail' });
  const other = await deliver({ fields: ['To: x@b.test'], subject: 'mail' });
  t.deepEqual([await places(mine), await flagsOf(mine)], [['INBOX'], [0, []]]);
  world.texts.fault = undefined;
  await settled();
  t.deepEqual([await places(mine), await flagsOf(mine)], [['A'], [0, ['Work']]]);
  t.deepEqual([await places(other), await flagsOf(other)], [['B'], [SEEN, []]]);
  t.deepEqual(
    (await filters()).map(({ timesApplied }) => timesApplied),
    [1, 1, 1],
  );

  world.texts.fault = new Error('nothing can be read');
  const moved = await deliver({ fields: ['To: team@b.test'] });
  await mailbox.ask('move', { selection: { emailIds: [moved] }, toFolderId: 'archive' });
  world.texts.fault = undefined;
  await settled();
  t.deepEqual([await places(moved), await flagsOf(moved)], [['Archive'], [0, ['Work']]], 'the user has moved it');
});

test('a filter whose folder is deleted is disabled until the user enables it; mail stays in the inbox', async (t) => {
  const { world, mailbox, put, folder, deliver, places, filters } = await setUp();
  t.teardown(world.end);
  const lists = await folder('Lists');
  const { reply: filter } = await put({ subjectContains: 'mail', moveToFolderId: lists });
  await mailbox.ask('deleteFolder', { folderId: lists, withInferiors: false });
  const disabled = { isEnabled: false, moveToFolderId: null, disabledReason: 'folderDeleted' as const };
  t.like((await filters())[0], disabled);
  t.deepEqual(await places(await deliver()), ['INBOX']);
  const again = await folder('Lists');
  world.reload();
  t.like((await filters())[0], disabled, 'a folder with its name does not enable it');
  await put({ subjectContains: 'mail', moveToFolderId: again }, filter!.id);
  t.like((await filters())[0], { isEnabled: true, moveToFolderId: again, disabledReason: null });
  t.deepEqual(await places(await deliver()), ['Lists']);
});

test('what a rule names must exist, and expressions are bounded', async (t) => {
  const { world, put, filters } = await setUp();
  t.teardown(world.end);
  t.is((await put({ subjectContains: 'x', moveToFolderId: newId() })).refusal, 'noSuchFolder');
  t.is((await put({ subjectContains: 'x', moveToFolderId: 'drafts' })).refusal, 'noSuchFolder');
  t.is((await put({ subjectContains: 'x', assignLabelId: newId() })).refusal, 'noSuchLabel');
  t.is((await put({ subjectContains: 'x' }, newId())).refusal, 'noSuchFilter');
  const made = await Promise.all(Array.from({ length: 21 }, () => put({ matches: 'x' })));
  t.deepEqual(
    made.flatMap(({ refusal }) => refusal ?? []),
    ['tooManyExpressions'],
  );
  const [first] = await filters();
  t.is((await put({ matches: 'y' }, first!.id)).refusal, undefined, 'one of them may change its expression');
});

test('a node of 0.2.0 sees a filter as disabled that has what it does not know', async (t) => {
  const { world, put, filters } = await setUp();
  t.teardown(world.end);
  await put({ priority: 1, subjectContains: 'x', markAsRead: true });
  await put({ priority: 2, subjectContains: 'x', toContains: 'y', delete: true });
  const rows = await world.sql`select is_enabled from filters order by priority`;
  t.deepEqual(
    rows.map((row) => row['is_enabled']),
    [true, false],
  );
  world.reload();
  t.deepEqual(
    (await filters()).map(({ isEnabled }) => isEnabled),
    [true, true],
  );
});
