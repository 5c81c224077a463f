// Tests the event stream over real sockets: its events, their order and ids; a client that is cut off anywhere and connects to
// another node gets the rest once.
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { EventSource } from 'eventsource';
import fc from 'fast-check';
import type { MailboxEvent } from '../../../../src/actors/mailbox/protocol.js';
import { EVENT_LOG_AGE_MS } from '../../../../src/store/events.js';
import { runs } from '../../../support/amounts.js';
import { openEventStream } from '../../../support/clients/event-stream-client.js';
import { EventBus } from '../../../support/event-bus.js';
import { attempted, emailAdded, emailRemoved, readChanged, unreadCount } from '../../../support/hub-fakes.js';
import { patiently } from '../../../support/patience.js';
import { startBalancer } from '../../../support/peers/balancer.js';
import test from '../../../support/test.js';
import { testWith } from '../../../support/test-with.js';
import { dataOf, isEnded, MINE, OTHER, portOf, startNode, typesOf } from './event-node.js';

/** Returns one change with several records, one of which is several events. */
function manyInOne(name: string): readonly MailboxEvent[] {
  const removed = emailRemoved(`${name}-1`) as Extract<MailboxEvent, { type: 'EmailRemoved' }>;
  const others = [2, 3, 4].map((i) => ({ emailId: `${name}-${i}`, uids: [] }));
  return [
    emailAdded(`${name}-0`),
    { ...removed, payload: { ...removed.payload, others } },
    readChanged(`${name}-5`, true),
    unreadCount(1),
  ];
}

test('quota and suspension are told without an id, which a client would lose its place by', async (t) => {
  const { bus, directory, streams, open } = await startNode(t);
  const client = await open();
  const chosen = await open('?types=SendingChanged');
  const other = await open('', { key: 'other' });
  for (const one of [client, chosen, other]) await one.until(() => one.events.length === 1);
  const before = client.lastId();
  for (const about of ['sessions', 'quotas', 'sending'] as const)
    directory.accountNotices$.next({ accountId: MINE, about });
  bus.commit(OTHER, [emailRemoved('e')]);
  await client.until(() => client.events.length === 3);
  t.deepEqual(typesOf(client).slice(1), ['QuotaChanged', 'SendingChanged']);
  t.is(client.lastId(), before);
  await chosen.until(() => chosen.events.length === 2);
  t.deepEqual(typesOf(chosen).slice(1), ['SendingChanged']);
  await other.until(() => other.events.length === 2);
  t.deepEqual(typesOf(other).slice(1), ['EmailDeleted']);
  directory.missedChanges$.next();
  await other.until(() => other.events.length === 4);
  t.deepEqual(typesOf(other).slice(2), ['QuotaChanged', 'SendingChanged']);
  streams.drain();
  t.false(directory.accountNotices$.observed);
});

test('a stream begins now with its position; then every event comes with its id', async (t) => {
  const { bus, open, sent } = await startNode(t);
  bus.commit(MINE, [emailRemoved('before')]);
  const client = await open();
  t.is(client.status, 200);
  t.is(client.headers['content-type'], 'text/event-stream');
  t.is(client.headers['cache-control'], 'no-store');
  await client.until(() => client.events.length === 1);
  t.like(client.events[0], { type: 'Position', data: {} });
  t.deepEqual(client.others, ['retry: 2000']);
  bus.commit(MINE, manyInOne('e'));
  bus.commit(OTHER, [emailRemoved('foreign')]);
  bus.commit(MINE, [attempted('o')]);
  await client.until(() => typesOf(client).includes('DeliveryAttempted'));
  t.deepEqual(typesOf(client).slice(1), [
    'NewEmail',
    ...new Array(4).fill('EmailDeleted'),
    'EmailUpdated',
    'UnreadCountChanged',
    'DeliveryAttempted',
  ]);
  t.deepEqual(dataOf(client).slice(2, 8), ['e-1', 'e-2', 'e-3', 'e-4', { id: 'e-5', isRead: true }, 1]);
  t.is(new Set(client.events.map(({ id }) => id)).size, client.events.length, 'each id names one place');
  t.is(
    sent.reduce((sum, count) => sum + count, 0),
    8,
  );
});

test('a client that is cut off after any event gets the rest once from any node', async (t) => {
  const bus = new EventBus();
  const nodes = [await startNode(t, { bus }), await startNode(t, { bus })];
  const first = await nodes[0]!.open();
  await first.until(() => first.events.length === 1);
  for (const name of ['a', 'b', 'c']) bus.commit(MINE, manyInOne(name));
  await first.until(() => first.events.length === 22);
  const all = first.events.slice(1);
  for (const [i, { id }] of first.events.entries()) {
    const client = await nodes[(i + 1) % 2]!.open('', { lastEventId: id });
    await client.until(() => client.events.length === all.length - i + 1);
    const [position, ...rest] = client.events;
    t.deepEqual(position, { type: 'Position', id, data: {} });
    t.deepEqual(rest, all.slice(i));
    client.close();
  }
});

test('through cuts, other nodes and other filters, every event that is asked for comes once and in order', async (t) => {
  const bus = new EventBus();
  const nodes = [await startNode(t, { bus }), await startNode(t, { bus, limits: { pauseLength: 200 } })];
  let round = 0;
  const step = fc.record({ commits: fc.nat({ max: 4 }), take: fc.nat({ max: 12 }), node: fc.nat({ max: 1 }) });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 5 }), fc.boolean(), async (steps, isFiltered) => {
      const query = isFiltered ? '?types=EmailDeleted,UnreadCountChanged' : '';
      const probe = await nodes[0]!.open();
      await probe.until(() => probe.events.length === 1);
      let id = probe.lastId()!;
      const expected: unknown[] = [];
      const got: unknown[] = [];
      const receive = async (node: number, count: number) => {
        const client = await nodes[node]!.open(query, { lastEventId: id });
        const isReal = ({ type }: { readonly type: string }) => type !== 'Position';
        await client.until(() => client.events.filter(isReal).length >= count);
        client.close();
        // The client has seen `count` events when it is cut off.
        const seen = client.events.filter(isReal).slice(0, count);
        got.push(...seen.map(({ data }) => data));
        id = seen.at(-1)?.id ?? id;
      };
      for (const { commits, take, node } of steps) {
        for (let i = 0; i < commits; i++) bus.commit(MINE, manyInOne(`r${++round}`));
        for (let i = round - commits + 1; i <= round; i++) {
          const removed = [1, 2, 3, 4].map((part) => `r${i}-${part}`);
          if (isFiltered) expected.push(...removed, 1);
          else expected.push(undefined, ...removed, { id: `r${i}-5`, isRead: true }, 1);
        }
        await receive(node, Math.min(take, expected.length - got.length));
      }
      await receive(0, expected.length - got.length);
      probe.close();
      t.deepEqual(
        got.map((data) => ((data as { from?: string }).from === undefined ? data : undefined)),
        expected,
      );
    }),
    { numRuns: runs(15) },
  );
});

test('a stream continues after a number of the log; Last-Event-ID goes before the query', async (t) => {
  const { bus, open } = await startNode(t);
  for (const id of ['e1', 'e2', 'e3']) bus.commit(MINE, [emailRemoved(id)]);
  const fromQuery = await open('?after=1');
  await fromQuery.until(() => fromQuery.events.length === 3);
  t.deepEqual(dataOf(fromQuery), [{}, 'e2', 'e3']);
  const fromField = await open('?after=1', { lastEventId: '2' });
  await fromField.until(() => fromField.events.length === 2);
  t.deepEqual(dataOf(fromField), [{}, 'e3']);
  const fromId = await open(`?after=${fromQuery.events[1]!.id}`, { lastEventId: '' });
  await fromId.until(() => fromId.events.length === 2);
  t.deepEqual(dataOf(fromId), [{}, 'e3']);
});

test('Resync comes when the log does not reach back, and for a cursor of another account; the stream begins now then', async (t) => {
  const { bus, open } = await startNode(t);
  for (const id of ['e1', 'e2', 'e3', 'e4']) bus.commit(MINE, [emailRemoved(id)]);
  const foreign = await open('', { key: 'other' });
  await foreign.until(() => foreign.events.length === 1);
  const within = '1.0.0-1-xxxxxxxx';
  bus.rows(MINE).splice(0, 2);
  for (const cursor of ['1', '5', foreign.lastId()!, within, 'of.a-later.version']) {
    const client = await open('', { lastEventId: cursor });
    await client.until(() => client.events.length === 1);
    t.like(client.events[0], { type: 'Resync', data: {} }, cursor);
    const again = await open('', { lastEventId: client.lastId()! });
    await again.until(() => again.events.length === 1);
    t.like(again.events[0], { type: 'Position', id: client.lastId()! }, cursor);
    client.close();
    again.close();
  }
  const kept = await open('?after=2');
  await kept.until(() => kept.events.length === 3);
  t.deepEqual(dataOf(kept), [{}, 'e3', 'e4']);
});

test('a number of the log whose next change is about to be pruned is answered with Resync', async (t) => {
  const { bus, open } = await startNode(t);
  for (const id of ['e1', 'e2', 'e3']) bus.commit(MINE, [emailRemoved(id)]);
  const rows = bus.rows(MINE);
  rows[1] = { ...rows[1]!, at: Date.now() - EVENT_LOG_AGE_MS };
  const old = await open('?after=1');
  await old.until(() => old.events.length === 1);
  t.is(old.events[0]!.type, 'Resync');
  const young = await open('?after=2');
  await young.until(() => young.events.length === 2);
  t.deepEqual(dataOf(young), [{}, 'e3']);
});

test('a client gets the types that it names, and in silence its position or a comment', async (t) => {
  const { bus, open } = await startNode(t, { limits: { heartbeatMs: 20 } });
  const client = await open('?types=EmailUpdated&types=UnreadCountChanged,EmailUpdated');
  await client.until(() => client.others.includes(':'));
  t.deepEqual(typesOf(client), ['Position']);
  const start = client.lastId();
  bus.commit(MINE, manyInOne('a'));
  await client.until(() => client.events.length === 3);
  t.deepEqual(typesOf(client), ['Position', 'EmailUpdated', 'UnreadCountChanged']);
  const seen = client.lastId();
  t.not(seen, start);
  bus.commit(MINE, [emailRemoved('e1')]);
  await client.until(() => client.events.length === 4);
  t.is(client.events[3]!.type, 'Position');
  t.not(client.lastId(), seen);
  const all = await open('', { lastEventId: client.lastId()! });
  await all.until(() => all.events.length === 1);
  t.is(all.lastId(), client.lastId(), 'nothing is read again');
});

test('what cannot be a cursor or a type is refused with the name of the field', async (t) => {
  const { open } = await startNode(t);
  for (const [query, lastEventId, field] of [
    ['?after=a%20b', undefined, 'after'],
    ['?after=', undefined, 'after'],
    ['?after=1&after=2', undefined, 'after'],
    ['?after=1', 'a b', 'Last-Event-ID'],
    ['?types=', undefined, 'types'],
    ['?types=NewEmail,newemail', undefined, 'types'],
    ['?types=NewEmail&types=Position', undefined, 'types'],
  ] as const) {
    const client = await open(query, { lastEventId });
    t.is(client.status, 400, query);
    await client.until(isEnded(client));
    t.deepEqual(Object.keys(JSON.parse(client.body).errors), [field], query);
  }
});

test('the credential may be in the query, is not written to the log, and needs a scope', async (t) => {
  const { bus, open, url, logText } = await startNode(t);
  const client = await openEventStream(`${url}?access_token=mine`);
  t.is(client.status, 200);
  bus.commit(MINE, [emailRemoved('e1')]);
  await client.until(() => client.events.length === 2);
  client.close();
  t.is((await openEventStream(`${url}?access_token=guess`)).status, 401);
  t.is((await openEventStream(url)).status, 401);
  t.is((await open('?access_token=mine', { key: 'writer' })).status, 403, 'the field goes before the query');
  t.is((await fetch(`${url}?access_token=mine`, { method: 'POST' })).status, 405);
  t.false(/access_token/.test(logText()));
});

test('HEAD opens nothing', async (t) => {
  const { streams, url } = await startNode(t);
  for (let i = 0; i < 2; i++) {
    const reply = await fetch(url, { method: 'HEAD', headers: { authorization: 'Bearer mine' } });
    t.is(reply.status, 200);
    t.is(reply.headers.get('content-type'), 'text/event-stream');
  }
  t.is(streams.count, 0);
});

test('EventSource follows the stream, and continues at another node by itself when its node stops', async (t) => {
  const bus = new EventBus();
  const [first, second] = [await startNode(t, { bus }), await startNode(t, { bus })];
  const balancer = await startBalancer(t, portOf(first.url));
  const source = new EventSource(`http://127.0.0.1:${balancer.port}/api/events?access_token=mine`);
  t.teardown(() => source.close());
  const deleted: string[] = [];
  const positions: string[] = [];
  let heard = () => {};
  const until = async (holds: () => boolean) => {
    const next = () => new Promise<void>((resolve) => (heard = resolve));
    while (!holds()) await patiently(next(), () => `events; so far: ${deleted}, positions ${positions}`);
  };
  source.addEventListener('Position', ({ lastEventId }) => {
    positions.push(lastEventId);
    heard();
  });
  let last = '';
  source.addEventListener('EmailDeleted', ({ data, lastEventId }) => {
    deleted.push(JSON.parse(data));
    last = lastEventId;
    heard();
  });
  await until(() => positions.length === 1);
  bus.commit(MINE, [emailRemoved('e1'), emailRemoved('e2')]);
  await until(() => deleted.length === 2);
  balancer.target = portOf(second.url);
  first.streams.drain();
  bus.commit(MINE, [emailRemoved('e3')]);
  const from = last;
  await until(() => deleted.length === 3);
  t.deepEqual(deleted, ['e1', 'e2', 'e3']);
  t.deepEqual(positions.slice(1), [from]);
  t.is(second.streams.count, 1);
});

testWith('curl')('curl follows the stream', async (t) => {
  const { bus, url } = await startNode(t);
  const curl = execFile('curl', ['-sN', '-H', 'Authorization: Bearer mine', url]);
  t.teardown(() => curl.kill());
  let text = '';
  const until = async (holds: () => boolean) => {
    while (!holds()) text += (await once(curl.stdout!, 'data'))[0];
  };
  await until(() => text.includes('event: Position'));
  bus.commit(MINE, [emailRemoved('Zoë 💌')]);
  await until(() => text.includes('event: EmailDeleted'));
  t.regex(
    text,
    /^retry: 2000\n\nid: \S+\nevent: Position\ndata: \{\}\n\nid: \S+\nevent: EmailDeleted\ndata: "Zoë 💌"\n\n$/,
  );
});
