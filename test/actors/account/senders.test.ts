// Tests the lists of senders on a real store: what becomes of mail, that a new owner of the mailbox knows them, and their event.
import { randomUUID } from 'node:crypto';
import { createPreferences } from '../../../src/actors/account/preferences.js';
import { createSenders } from '../../../src/actors/account/senders.js';
import { allClientEventsOf } from '../../../src/gateways/events/client-events.js';
import { postgresPreferences } from '../../../src/store/postgres/accounts/preferences.js';
import test from '../../support/test.js';
import { mailboxWorld } from '../mailbox/mailbox-world.js';

const BLOCKED = { allowed: ['ann@spam.test'], blocked: ['spam.test'] };

test('mail of blocked senders goes to Junk, that of allowed ones only when the author is in doubt', async (t) => {
  const world = await mailboxWorld();
  t.teardown(() => world.end());
  const { id } = await world.directory.createAccount('zoe@example.test', 'Zoe');
  const senders = createSenders(postgresPreferences(world.sql), world.mailboxes);
  t.deepEqual(await senders.read(id), { allowed: [], blocked: [] });
  t.is(await senders.read(randomUUID()), undefined);
  const folderOf = async (from: string, suspicion: { isJunk?: boolean; isContentJunk?: boolean } = {}) => {
    const [mail] = await world.spool([id], Date.now(), { from });
    const { emailId } = (await mail!.deliver(suspicion)).reply!;
    const { reply } = await world.mailboxes.of(id).ask('list', { folder: 'junk', page: 1, pageSize: 100 });
    return reply!.items.some((item) => item.id === emailId) ? 'junk' : 'inbox';
  };
  t.is(await folderOf('bob@spam.test'), 'inbox');
  await senders.replace(id, BLOCKED);
  for (const isReloaded of [false, true]) {
    if (isReloaded) world.reload();
    t.is(await folderOf('Bob@Spam.TEST'), 'junk');
    t.is(await folderOf('ann@spam.test'), 'inbox');
    t.is(await folderOf('ann@spam.test', { isJunk: true, isContentJunk: true }), 'inbox');
    t.is(await folderOf('ann@spam.test', { isJunk: true }), 'junk');
    t.is(await folderOf('eve@example.test', { isJunk: true, isContentJunk: true }), 'junk');
  }
  t.deepEqual(await senders.read(id), BLOCKED);
  await senders.replace(id, { allowed: [], blocked: [] });
  t.is(await folderOf('bob@spam.test'), 'inbox');
});

test('the lists are an event of their own, and no preference', async (t) => {
  const world = await mailboxWorld();
  t.teardown(() => world.end());
  const { id } = await world.directory.createAccount('zoe@example.test', 'Zoe');
  const store = postgresPreferences(world.sql);
  await createSenders(store, world.mailboxes).replace(id, BLOCKED);
  const preferences = createPreferences(store, world.mailboxes);
  await preferences.choose(id, { theme: 'dark' });
  const chosen = (await preferences.read(id))!;
  t.is(chosen.theme, 'dark');
  t.false('senders' in chosen);
  const records = await world.events.read(id, 0, 100);
  t.deepEqual(
    records.flatMap((record) => allClientEventsOf(record as never)).map(({ type, payload }) => [type, payload]),
    [
      ['SendersChanged', BLOCKED],
      ['PreferencesChanged', { theme: 'dark' }],
    ],
  );
});
