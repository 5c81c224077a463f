// Tests preferences on a real store: defaults until something is chosen, choices that are merged in the mailbox's commits, and
// their events for clients.
import { randomUUID } from 'node:crypto';
import { createPreferences } from '../../../src/actors/account/preferences.js';
import { ActorFault } from '../../../src/actors/runtime/errors.js';
import { allClientEventsOf } from '../../../src/gateways/events/client-events.js';
import { postgresPreferences } from '../../../src/store/postgres/accounts/preferences.js';
import test from '../../support/test.js';
import { mailboxWorld } from '../mailbox/mailbox-world.js';

test('preferences are defaults until chosen, and choices are merged and in the log', async (t) => {
  const world = await mailboxWorld();
  t.teardown(() => world.end());
  const { id: ann } = await world.directory.createAccount('ann@example.test', 'Ann');
  const { id: bob } = await world.directory.createAccount('bob@example.test', 'Bob');
  const preferences = createPreferences(postgresPreferences(world.sql), world.mailboxes);
  const before = (await preferences.read(ann))!;
  t.like(before, { theme: 'system', emailsPerPage: 20, showPreview: true, digestTime: '09:00', undoSendSeconds: 0 });
  await preferences.choose(ann, {});
  t.deepEqual(await preferences.read(ann), before);
  const choices = [{ theme: 'dark' }, { emailsPerPage: 50 }, { showPreview: false, undoSendSeconds: 10 }] as const;
  await Promise.all(choices.map((chosen) => preferences.choose(ann, chosen)));
  world.reload();
  await preferences.choose(ann, { theme: 'light' });
  const after = (await preferences.read(ann))!;
  t.like(after, { theme: 'light', emailsPerPage: 50, showPreview: false, groupByDate: false, undoSendSeconds: 10 });
  t.true(after.updatedAt >= before.updatedAt);
  const records = await world.events.read(ann, 0, 100);
  t.is(after.updatedAt.getTime(), records.at(-1)!.at);
  t.deepEqual(
    records.flatMap((record) => allClientEventsOf(record as never)).map(({ type, payload }) => [type, payload]),
    [...choices, { theme: 'light' }].map((chosen) => ['PreferencesChanged', chosen]),
  );
  t.like(await preferences.read(bob), { theme: 'system' });
  t.is(await preferences.read(randomUUID()), undefined);
  await t.throwsAsync(preferences.choose(randomUUID(), { theme: 'dark' }), {
    instanceOf: ActorFault,
    code: 'no-such-account',
  });
});
