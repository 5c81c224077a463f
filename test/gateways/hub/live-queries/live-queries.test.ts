// Tests live queries in single situations: what is shared, limited and refused, and what a client gets after a fault.

import { Observable, Subject } from 'rxjs';
import type { Mailboxes } from '../../../../src/actors/mailbox/protocol.js';
import type { FollowedList } from '../../../support/clients/followed-list.js';
import test from '../../../support/test.js';
import { until } from '../../../support/until.js';
import { listsWorld, PAUSE_OCTETS } from './lists-world.js';

const idsOf = (list: FollowedList) => list.items.map(({ id }) => id);
const lists = (world: Awaited<ReturnType<typeof listsWorld>>) =>
  world.mailboxes.asked.filter(({ name }) => name === 'lists').map(({ payload }) => payload as Asked);

interface Asked {
  readonly lists: readonly unknown[];
  readonly emailIds: readonly string[];
}

test('the answer is the page that REST gives, and a new email is inserted at its place', async (t) => {
  const world = await listsWorld();
  t.teardown(() => world.end());
  const [a, b] = [await world.append(), await world.append({ flags: ['\\Seen'] })];
  const list = await world.connect().subscribe({ folder: 'INBOX', pageSize: '2' });
  t.deepEqual(
    { items: list.items, total: list.total, unread: list.unread } as unknown,
    await world.rest({ pageSize: 2 }),
  );
  t.deepEqual(idsOf(list), [b, a]);
  const c = await world.append();
  await until(() => list.total === 3);
  t.deepEqual(idsOf(list), [c, b]);
  t.deepEqual(list.changes, ['removed', 'inserted', 'counted']);
  await world.mailbox.ask('storeFlags', { selection: { emailIds: [b!] }, mode: 'add', flags: ['\\Flagged'] });
  await until(() => list.changes.length > 3);
  t.deepEqual(list.changes.slice(3), ['changed']);
  t.true(list.items[1]?.['isFlagged']);
});

test('connections with the same query share the list: one question, the same octets', async (t) => {
  const world = await listsWorld();
  t.teardown(() => world.end());
  await world.append();
  const clients = [world.connect(), world.connect()];
  const [first, second] = await Promise.all(clients.map((client) => client.subscribe({ page: 1 })));
  t.is(first!.id, second!.id);
  t.is(world.queries.lists, 1);
  await world.append();
  await until(() => first!.total === 2 && second!.total === 2);
  t.is(clients[0]!.frames.at(-1), clients[1]!.frames.at(-1));
  t.true(lists(world).every(({ lists: asked }) => asked.length <= 1));
  clients[0]!.close();
  await world.append();
  await until(() => second!.total === 3);
  clients[1]!.close();
  t.is(world.queries.lists, 0);
});

test('a connection may follow a list twice, and end one of the two', async (t) => {
  const world = await listsWorld();
  t.teardown(() => world.end());
  const client = world.connect();
  const [one, other] = [await client.subscribe({}), await client.subscribe({})];
  t.not(one.id, other.id);
  await client.unsubscribe(one);
  await world.append();
  await until(() => other.total === 1);
  t.is(one.total, 0);
  await t.throwsAsync(client.call('Unsubscribe', one.id), { message: /id of a subscription of this connection/ });
});

test('a client that is behind gets one difference when it has caught up', async (t) => {
  const world = await listsWorld();
  t.teardown(() => world.end());
  const [slow, quick] = [world.connect(), world.connect()];
  const [list, other] = [await slow.subscribe({ pageSize: 3 }), await quick.subscribe({ pageSize: 3 })];
  slow.buffered = PAUSE_OCTETS + 1;
  for (let i = 1; i <= 10; i++) {
    await world.append();
    await until(() => other.total === i);
  }
  t.is(slow.frames.length, 0);
  slow.drain();
  await until(() => list.total === 10);
  t.is(slow.frames.length, 1);
  t.deepEqual(list.items, other.items);
});

test('emails of other folders that a new email joins into one thread are shown in this thread', async (t) => {
  const world = await listsWorld();
  t.teardown(() => world.end());
  await world.append({ messageId: '<a@remote.test>' });
  await world.append({ messageId: '<b@remote.test>' });
  const list = await world.connect().subscribe({});
  const threads = () => new Set(list.items.map(({ threadId }) => threadId)).size;
  t.is(threads(), 2);
  await world.append({ folder: 'archive', references: ['<a@remote.test>', '<b@remote.test>'] });
  await until(() => threads() === 1);
  t.is(list.total, 2);
});

test('a list of a folder that is deleted ends, and cannot be asked for again', async (t) => {
  const world = await listsWorld();
  t.teardown(() => world.end());
  const { reply: label } = await world.mailbox.ask('createLabel', { name: 'Work', color: '#aabbcc', sortOrder: 1 });
  await world.append({ folder: label!.id });
  const client = world.connect();
  const list = await client.subscribe({ folder: label!.id });
  t.is(list.total, 1);
  await world.mailbox.ask('deleteLabel', { labelId: label!.id });
  await until(() => list.ended !== undefined);
  t.is(list.ended, 'folder names no folder of this account');
  t.deepEqual(list.changes, ['removed', 'counted', 'ended']);
  t.is(world.queries.lists, 0);
  await t.throwsAsync(client.subscribe({ folder: label!.id }), { message: 'folder names no folder of this account' });
});

test('wrong queries are refused in the words of REST', async (t) => {
  const world = await listsWorld();
  t.teardown(() => world.end());
  const client = world.connect();
  for (const [query, message] of [
    [undefined, 'The query must be an object.'],
    [[], 'The query must be an object.'],
    [{ page: 0 }, 'page must be an integer of at least 1'],
    [
      { page: 1.5, pageSize: 'x' },
      /^page must be an integer of at least 1; pageSize must be an integer of at least 1$/,
    ],
    [{ sort: 'colour' }, /^sort must be one of date, -date/],
    [{ isRead: 'yes' }, 'isRead must be true or false'],
    [{ q: { $ne: 1 } }, 'q must be a string'],
    [{ q: 'x'.repeat(1_001) }, 'q must have at most 1000 characters'],
    [{ fromDate: 'soon' }, 'fromDate must be an ISO 8601 date or date-time'],
    [{ folder: 'nowhere' }, 'folder names no folder of this account'],
    [{ q: 'a', folder: 'nowhere' }, 'folder names no folder of this account'],
    [{ threadId: 'x' }, 'threadId must be a UUID'],
    [{ threadId: '018f0000-0000-7000-8000-0000000000ff' }, 'threadId names no thread of this account'],
    [{ threadId: '018f0000-0000-7000-8000-0000000000ff', q: 'a' }, 'q cannot be used with threadId'],
    [{ q: 'a', sort: 'size' }, 'sort cannot be used with a search'],
    [{ toString: 1 }, 'toString is no parameter of lists'],
    [JSON.parse('{"__proto__": 1}'), '__proto__ is no parameter of lists'],
  ] as const) {
    await t.throwsAsync(client.subscribe(query), { message }, JSON.stringify(query));
  }
  await t.throwsAsync(client.call('Subscribe'), { message: "'Subscribe' takes one argument: a query." });
  await t.throwsAsync(client.call('Unsubscribe', 1), { message: /takes one argument/ });
  t.is(world.queries.lists, 0);
  const clamped = await client.subscribe({ pageSize: 5_000, page: null });
  t.is(clamped.total, 0);
});

test('subscriptions are bounded a connection, an account and a node', async (t) => {
  const world = await listsWorld({
    maxSubscriptions: 3,
    maxAccountLists: 5,
    maxAccountStoreLists: 1,
    maxListedEmails: 60,
  });
  t.teardown(() => world.end());
  const [first, second, third] = [world.connect(), world.connect(), world.connect()];
  for (let page = 1; page <= 3; page++) await first!.subscribe({ page, pageSize: 10 });
  await t.throwsAsync(first!.subscribe({}), { message: 'A connection has at most 3 subscriptions.' });
  await second!.subscribe({ page: 1, pageSize: 10 });
  await second!.subscribe({ sort: 'subject', pageSize: 10 });
  await t.throwsAsync(second!.subscribe({ sort: 'size', pageSize: 10 }), {
    message: /^An account has at most 1 different/,
  });
  await t.throwsAsync(second!.subscribe({ pageSize: 21 }), { message: /^The node has as many lists as it takes/ });
  await second!.subscribe({ pageSize: 1 });
  await t.throwsAsync(third!.subscribe({ pageSize: 2 }), {
    message: 'An account has at most 5 different lists on a node.',
  });
  first!.close();
  t.is((await third!.subscribe({ pageSize: 20 })).total, 0);
});

test('a client without an account has no lists', async (t) => {
  const world = await listsWorld();
  t.teardown(() => world.end());
  const client = Object.assign(world.connect(), { accountId: '' });
  await t.throwsAsync(client.subscribe({}), { message: 'A client without an account has no lists.' });
});

test('a mailbox that cannot be reached refuses the call, and lists that are followed come back', async (t) => {
  const world = await listsWorld();
  t.teardown(() => world.end());
  const client = world.connect();
  const list = await client.subscribe({});
  world.mailboxes.fault = 'unreachable';
  await t.throwsAsync(client.subscribe({ page: 2 }), { message: /cannot be read at present/ });
  await until(() => world.refreshes.includes('failed'));
  t.is(world.refreshes[0], 'done');
  world.mailboxes.fault = undefined;
  await world.append();
  await until(() => list.total === 1);
});

test('after events were interrupted all lists are read again, and no client notices a gap', async (t) => {
  const breaks = new Subject<void>();
  let isDeaf = false;
  const world = await listsWorld({}, (mailboxes: Mailboxes) => ({
    of: (accountId) => {
      const ref = mailboxes.of(accountId);
      return {
        ...ref,
        events$: () =>
          new Observable((subscriber) => {
            const events = ref.events$().subscribe((batch) => {
              if (!isDeaf) subscriber.next(batch);
            });
            events.add(breaks.subscribe(() => subscriber.error(new Error('the bus broke'))));
            return events;
          }),
      };
    },
  }));
  t.teardown(() => world.end());
  const client = world.connect();
  const list = await client.subscribe({});
  isDeaf = true;
  await world.append();
  isDeaf = false;
  breaks.next();
  await until(() => list.total === 1);
  t.deepEqual(list.changes, ['inserted', 'counted']);
});

test('an email that changes while its list is read is shown as it is in the end', async (t) => {
  const world = await listsWorld();
  t.teardown(() => world.end());
  const client = world.connect();
  const list = await client.subscribe({});
  const flag = (mode: 'add' | 'remove') =>
    world.mailbox.ask('storeFlags', { selection: { emailIds: [world.ids[0]!] }, mode, flags: ['\\Flagged'] });
  let count = 0;
  world.mailboxes.hook('lists', async (payload: Asked, proceed) => {
    const isForItems = payload.emailIds.length > 0;
    if (isForItems) count++;
    // The email is flagged only while its item is read.
    if (isForItems && count === 1) await flag('add');
    const reply = await proceed();
    if (isForItems && count === 1) await flag('remove');
    return reply;
  });
  await world.append();
  await until(() => list.total === 1 && list.items[0]?.['isFlagged'] === false && count > 1);
  t.deepEqual(list.changes, ['inserted', 'counted', 'changed']);
});

test('an email that is deleted while its list is read is not shown', async (t) => {
  const world = await listsWorld();
  t.teardown(() => world.end());
  const client = world.connect();
  const list = await client.subscribe({});
  let isFirst = true;
  world.mailboxes.hook('lists', async (payload: Asked, proceed) => {
    if (payload.emailIds.length > 0 && isFirst) {
      isFirst = false;
      await world.mailbox.ask('remove', { emailIds: [world.ids[0]!] });
    }
    return proceed();
  });
  await world.append();
  const kept = await world.append();
  await until(() => idsOf(list).join() === kept);
  t.is(list.total, 1);
});

test('changes go to nobody after the connection has closed, also while the list is read', async (t) => {
  const world = await listsWorld();
  t.teardown(() => world.end());
  const client = world.connect();
  await client.subscribe({});
  let reached = () => {};
  const isAsked = new Promise<void>((resolve) => (reached = resolve));
  let go = () => {};
  const mayAnswer = new Promise<void>((resolve) => (go = resolve));
  world.mailboxes.hook('lists', async (_, proceed) => {
    reached();
    await mayAnswer;
    return proceed();
  });
  await world.append();
  await isAsked;
  client.close();
  t.is(world.queries.lists, 0);
  go();
  const next = world.connect();
  t.is((await next.subscribe({})).total, 1);
  t.is(client.frames.length, 0);
});
