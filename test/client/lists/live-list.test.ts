// Tests a list against a model: whatever happens on the server, and in whatever order the changes of pages come, a view is always a piece of
// one state of the list; at rest it is the newest state, all of the range, and only the pages around it are subscribed to.
import fc from 'fast-check';
import type { ListRange, ListView } from '../../../src/client/client-types.js';
import { MOST_PAGES } from '../../../src/client/lists/list-window.js';
import { LiveList } from '../../../src/client/lists/live-list.js';
import { ListSubscriptions } from '../../../src/client/lists/subscriptions.js';
import { NetworkFault } from '../../../src/client/refusal.js';
import { runs } from '../../support/amounts.js';
import test from '../../support/test.js';
import { type ListedEmail, ListServer, settled } from './list-server.js';

const rest = { send: () => Promise.reject(new NetworkFault('no REST')) };
const emails = (count: number): ListedEmail[] =>
  Array.from({ length: count }, (_, i) => ({ id: `e${i}`, isRead: i % 3 === 0 }));

type Act =
  | { readonly kind: 'insert' | 'delete' | 'mark'; readonly at: number }
  | { readonly kind: 'deliver' | 'look'; readonly at: number }
  | { readonly kind: 'settle' | 'break' | 'connect' };

const act: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constantFrom('insert' as const, 'delete' as const, 'mark' as const),
      at: fc.double({ min: 0, max: 0.999, noNaN: true }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('insert' as const), at: fc.constant(0) }) },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('deliver' as const), at: fc.nat(30) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('look' as const), at: fc.nat(420) }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constantFrom('settle' as const, 'break' as const, 'connect' as const) }),
  },
);

interface World {
  readonly server: ListServer;
  readonly list: LiveList;
  readonly views: ListView[];
  look(range: ListRange): void;
}

function world(count: number): World {
  const server = new ListServer(emails(count));
  const list = new LiveList({ folder: 'inbox' }, new ListSubscriptions(server, rest as never), () => {});
  const views: ListView[] = [];
  const viewer = { range: { start: 0, end: 30 }, show: (view: ListView) => void views.push(view) };
  list.add(viewer);
  return {
    server,
    list,
    views,
    look(range) {
      viewer.range = range;
      list.look();
    },
  };
}

const textOf = (shown: readonly ListedEmail[]) => shown.map(({ id, isRead }) => `${id}${isRead ? '' : '*'}`).join(' ');

/** True when the view is a piece of one state that the list has had. */
function isOfOneState(
  { total, unread, start, items }: ListView,
  history: readonly (readonly ListedEmail[])[],
): boolean {
  const text = textOf(items);
  return history.some(
    (state) =>
      state.length === total &&
      state.filter(({ isRead }) => !isRead).length === unread &&
      textOf(state.slice(start, start + items.length)) === text,
  );
}

let serial = 0;

function carryOut({ server, look }: World, one: Act): void {
  const now = server.emails;
  const at = 'at' in one ? Math.floor(one.at * now.length) : 0;
  switch (one.kind) {
    case 'insert':
      server.change([...now.slice(0, at), { id: `n${serial++}`, isRead: false }, ...now.slice(at)]);
      return;
    case 'delete':
      server.change(now.filter((_, i) => i !== at));
      return;
    case 'mark':
      server.change(now.map((email, i) => (i === at ? { ...email, isRead: !email.isRead } : email)));
      return;
    case 'deliver':
      server.deliver([...server.pages.keys()][one.at % Math.max(1, server.pages.size)] ?? '');
      return;
    case 'look':
      look({ start: one.at, end: one.at + 30 });
      return;
    case 'break':
      server.disconnect();
      return;
    case 'connect':
      if (!server.isLive) server.connect();
      return;
    case 'settle':
  }
}

test('a view is always a piece of one state of the list, and at rest the newest one', async (t) => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(0, 3, 49, 50, 51, 120, 400),
      fc.array(act, { maxLength: 40 }),
      async (count, acts) => {
        const tried = world(count);
        const { server, list, views, look } = tried;
        server.connect();
        await settled();
        for (const one of acts) {
          carryOut(tried, one);
          if (one.kind === 'settle' || one.kind === 'look') await settled();
        }
        if (!server.isLive) server.connect();
        await settled();
        const range = { start: Math.max(0, Math.min(60, server.emails.length - 40)), end: 100 };
        look(range);
        await settled();
        for (const id of server.pages.keys()) server.deliver(id);
        await settled();
        for (const id of server.pages.keys()) server.deliver(id);
        const wrong = views.find((view) => !isOfOneState(view, server.history));
        const last = views.at(-1)!;
        const shown = server.emails.slice(last.start, last.start + last.items.length);
        const end = Math.min(range.end, server.emails.length);
        list.close();
        return (
          wrong === undefined &&
          textOf(last.items) === textOf(shown) &&
          last.start <= range.start &&
          last.start + last.items.length >= end &&
          !last.isLoading &&
          server.most <= MOST_PAGES + 1
        );
      },
    ),
    { numRuns: runs(1_000) },
  );
  t.pass();
});

test('a list of 100,000 emails is followed around the range alone', async (t) => {
  const { server, list, views, look } = world(100_000);
  server.connect();
  await settled();
  t.is(server.pages.size, 1);
  t.like(views.at(-1), { total: 100_000, start: 0, isLoading: false });
  look({ start: 70_000, end: 70_040 });
  t.true(views.at(-1)!.isLoading);
  await settled();
  t.true(server.pages.size <= 3);
  t.is(views.at(-1)!.items.find(({ id }) => id === 'e70000')?.id, 'e70000');
  // A new email above moves all rows by one.
  server.change([{ id: 'new', isRead: false }, ...server.emails]);
  for (const id of server.pages.keys()) server.deliver(id);
  const { start, items, total } = views.at(-1)!;
  t.is(total, 100_001);
  t.is(items[70_001 - start]?.id, 'e70000');
  look({ start: 99_990, end: 100_060 });
  await settled();
  t.is(views.at(-1)!.items.at(-1)?.id, 'e99999');
  t.false(views.at(-1)!.isLoading);
  list.close();
  t.is(server.pages.size, 0);
});
