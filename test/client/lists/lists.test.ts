// Tests what is stored of the lists: their first page, and nothing of an account that was signed in before. Tests the counts of a folder whose
// list was left.
import { mock } from 'node:test';
import { Overlays } from '../../../src/client/actions/overlays.js';
import type { Profile } from '../../../src/client/generated/rest.js';
import type { ListPage } from '../../../src/client/lists/list-window.js';
import { Lists } from '../../../src/client/lists/lists.js';
import { ListSubscriptions } from '../../../src/client/lists/subscriptions.js';
import { KeptAccount } from '../../../src/client/offline/kept-account.js';
import { NetworkFault } from '../../../src/client/refusal.js';
import test from '../../support/test.js';
import { MemoryStorage } from '../offline/memory-storage.js';
import { ListServer, settled } from './list-server.js';

const profileOf = (email: string) => ({ email }) as Profile;

test.serial('a list is stored soon, and not for another account', async (t) => {
  mock.timers.enable({ apis: ['setTimeout'] });
  t.teardown(() => mock.timers.reset());
  const server = new ListServer([{ id: 'of-ann', isRead: true }]);
  const storage = new MemoryStorage();
  const kept = new KeptAccount(storage);
  const rest = { send: () => Promise.reject(new NetworkFault('no REST')) };
  const subscriptions = new ListSubscriptions(server, rest as never);
  const lists = new Lists(subscriptions, new Overlays(() => undefined), kept, () => undefined);
  t.teardown(() => lists.close());
  const storedIds = async (email: string): Promise<readonly string[]> => {
    mock.timers.tick(1_000);
    await kept.value('lists', 'none');
    const values = storage.keys('lists').map(async (key) => [key, await storage.read('lists', key)] as const);
    return (await Promise.all(values)).flatMap(([key, page]) =>
      key.startsWith(email) ? (page as ListPage).items.map(({ id }) => id) : [],
    );
  };
  await kept.confirm(profileOf('ann@example.test'));
  server.connect();
  lists.view({ folder: 'inbox' }).subscribe();
  await settled();
  t.deepEqual(await storedIds('ann@'), ['of-ann']);

  server.change([{ id: 'new-of-ann', isRead: true }]);
  server.deliver([...server.pages.keys()][0]!);
  await kept.confirm(profileOf('bob@example.test'));
  t.deepEqual(await storedIds('bob@'), []);
  server.change([{ id: 'of-bob', isRead: true }]);
  server.deliver([...server.pages.keys()][0]!);
  t.deepEqual(await storedIds('bob@'), ['of-bob']);
  t.is(storage.keys('lists').length, 1);
});

test.serial('the counts of a list that was left stay right while it is followed, and end with it', async (t) => {
  mock.timers.enable({ apis: ['setTimeout'] });
  t.teardown(() => mock.timers.reset());
  const server = new ListServer([
    { id: 'one', isRead: false },
    { id: 'other', isRead: false },
  ]);
  const rest = { send: () => Promise.reject(new NetworkFault('no REST')) };
  const subscriptions = new ListSubscriptions(server, rest as never);
  let counted: unknown;
  const lists: Lists = new Lists(
    subscriptions,
    new Overlays(() => undefined),
    new KeptAccount(new MemoryStorage()),
    () => {
      counted = lists.countsOf('inbox');
    },
  );
  t.teardown(() => lists.close());
  server.connect();
  const viewer = lists.view({ folder: 'inbox' }).subscribe();
  await settled();
  t.deepEqual(counted, { total: 2, unread: 2 });

  viewer.unsubscribe();
  server.change([{ id: 'other', isRead: false }]);
  server.deliver([...server.pages.keys()][0]!);
  t.deepEqual(counted, { total: 1, unread: 1 });
  mock.timers.tick(10_000);
  t.is(counted, undefined);
  t.is(lists.countsOf('inbox'), undefined);
});
