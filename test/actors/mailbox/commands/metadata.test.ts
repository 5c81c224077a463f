// Tests annotations of folders and of the account: they are set, read and removed with their folder, and limited.
import { randomUUID } from 'node:crypto';
import type { ExecutionContext } from 'ava';
import test from '../../../support/test.js';
import { mailboxWorld } from '../mailbox-world.js';

const text = (value: string) => Buffer.from(value).toString('base64');

async function start(t: ExecutionContext) {
  const world = await mailboxWorld();
  t.teardown(() => world.end());
  const account = await world.directory.createAccount(`${randomUUID()}@example.test`, 'x');
  const mailbox = world.mailboxes.of(account.id);
  const set = async (folderId: string | null, values: Record<string, string | null>) => {
    const entries = Object.entries(values).map(([name, value]) => ({ name, value }));
    return (await mailbox.ask('setMetadata', { folderId, entries })).refusal;
  };
  const get = async (folderId: string | null) => {
    const { reply, refusal } = await mailbox.ask('metadata', { folderId });
    return refusal ?? Object.fromEntries(reply!.entries.map(({ name, value }) => [name, value]));
  };
  return { world, accountId: account.id, mailbox, set, get };
}

test('entries of a folder and of the account are set, replaced and removed, whatever the case of their names', async (t) => {
  const { world, accountId, mailbox, set, get } = await start(t);
  t.is(await set('inbox', { '/private/Comment': text('Zoë 💌'), '/shared/a b': '' }), undefined);
  t.is(await set(null, { '/private/comment': text('all') }), undefined);
  t.is(await set('inbox', { '/PRIVATE/comment': text('x'.repeat(200)) }), undefined);
  t.is(await set('sent', { '/private/none': null }), undefined);
  t.is(world.commits.length, 3, 'the removal of what is not there changes nothing');
  for (const owner of ['the same', 'another']) {
    t.deepEqual(await get('inbox'), { '/private/comment': text('x'.repeat(200)), '/shared/a b': '' }, owner);
    t.deepEqual(await get(null), { '/private/comment': text('all') }, owner);
    t.deepEqual(await get('sent'), {}, owner);
    world.reload();
  }
  t.is(await set('inbox', { '/private/comment': null, '/shared/c': 'AP8' }), undefined);
  t.deepEqual(await get('inbox'), { '/shared/a b': '', '/shared/c': 'AP8=' }, 'base64 without its end');
  const twice = [
    { name: '/private/d', value: text('first') },
    { name: '/PRIVATE/D', value: null },
  ];
  await mailbox.ask('setMetadata', { folderId: 'inbox', entries: twice });
  t.deepEqual(await get('inbox'), { '/shared/a b': '', '/shared/c': 'AP8=' }, 'the last value of a name counts');
  t.is(await set(randomUUID(), { '/private/comment': '' }), 'noSuchFolder');
  t.is(await get(randomUUID()), 'noSuchFolder');
  const records = await world.events.read(accountId, 0, 100);
  t.deepEqual(
    records.map(({ type }) => type),
    Array.from({ length: 4 }, () => 'AnnotationsChanged'),
  );
});

test('annotations go with their folder, in the same commit too, and those of a folder that is gone are not read', async (t) => {
  const { world, accountId, mailbox, set, get } = await start(t);
  const { reply } = await mailbox.ask('createFolder', { name: 'Work', role: 'label' });
  const { id } = reply!;
  await set('inbox', { '/private/a': text('kept') });
  await set(id, { '/private/a': text('gone'), '/private/b': text('gone') });
  const [, after] = await Promise.all([
    mailbox.ask('deleteFolder', { folderId: id, withInferiors: false }),
    set(id, { '/private/c': '' }),
  ]);
  t.is(after, 'noSuchFolder');
  t.is(await get(id), 'noSuchFolder');
  const rows = await world.sql`select name, value from annotations where account_id = ${accountId}`;
  t.deepEqual(
    rows.map(({ name, value }) => [name, Buffer.from(value).toString()]),
    [['/private/a', 'kept']],
  );
});

test('a folder has 100 entries, a value 64 kB, an account 1 MB; what is refused changes nothing', async (t) => {
  const { world, mailbox, set, get } = await start(t);
  const entries = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`/private/${i}`, text(`${i}`)]));
  t.is(await set('inbox', entries(101)), 'tooMany');
  t.is(await set('inbox', entries(100)), undefined);
  t.is(await set('inbox', { '/private/more': '' }), 'tooMany');
  t.is(await set('inbox', { '/private/more': '', '/private/0': null }), undefined, 'one for another');
  t.is(await set('sent', { '/private/large': Buffer.alloc(64 * 1024 + 1).toString('base64') }), 'tooLarge');
  t.is(await set('sent', { [`/private/${'n'.repeat(1_000)}`]: '' }), 'tooLarge');
  t.deepEqual(await get('sent'), {});
  const large = Buffer.alloc(64 * 1024).toString('base64');
  const refusals: (string | undefined)[] = [];
  for (let i = 0; i < 16; i++) refusals.push(await set(null, { [`/private/${i}`]: large }));
  t.deepEqual(refusals, [...Array.from({ length: 15 }, () => undefined), 'tooLarge']);
  world.reload();
  t.is(await set('sent', { '/private/large': large }), 'tooLarge', 'also for another owner');
  t.is(await set(null, { '/private/0': null }), undefined);
  t.is(await set('sent', { '/private/large': large }), undefined);
  const commits = world.commits.length;
  await Promise.all(
    Array.from({ length: 15 }, (_, i) =>
      mailbox.ask('setMetadata', { folderId: null, entries: [{ name: `/private/${i + 1}`, value: large }] }),
    ),
  );
  t.true(world.commits.length > commits, 'a packet carries the records of a commit');
  const largest = Math.max(...world.commits.slice(commits).map(({ changes }) => JSON.stringify(changes).length));
  t.true(largest < 4_000_000, `${largest} octets`);
});
