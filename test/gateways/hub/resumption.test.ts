// Tests a connection that resumes, over a fake socket: what `Resume` answers, and that every event after the cursor
// arrives once and in order, however slow the client is and wherever it connects.

import fc from 'fast-check';
import { anonymousGuard } from '../../../src/auth/origin.js';
import { cursorOf } from '../../../src/gateways/events/cursor.js';
import type { HubOptions } from '../../../src/gateways/hub/hub.js';
import type { SocketListener } from '../../../src/gateways/web-socket.js';
import { runs } from '../../support/amounts.js';
import { EventBus } from '../../support/event-bus.js';
import {
  attempted,
  emailAdded,
  emailRemoved,
  FakeDirectory,
  FakeSocket,
  FakeTiming,
  hubRequest,
  readChanged,
  recordingLog,
  statusChanged,
  testHub,
} from '../../support/hub-fakes.js';
import test from '../../support/test.js';
import { turns } from '../../support/turns.js';

/** Resolves when everything that takes a few turns has happened. */
const settled = () => turns(12);

const MINE = '00000000-0000-7000-8000-00000000000a';
const OTHER = '00000000-0000-7000-8000-00000000000b';
const HANDSHAKE = '{"protocol":"json","version":1}\u001e';

interface Received {
  readonly type: number;
  readonly target?: string;
  readonly arguments?: readonly unknown[];
  readonly result?: { readonly cursor: string; readonly complete: boolean };
  readonly error?: string;
}

function setUp(bus = new EventBus(), limits: HubOptions['limits'] = {}) {
  const directory = new FakeDirectory();
  directory.addKey('mine', MINE);
  directory.addKey('other', OTHER);
  const timing = new FakeTiming();
  const { log, lines } = recordingLog();
  const guard = anonymousGuard({ hostname: 'x.test', publicUrl: undefined });
  const hub = testHub({ directory, mailboxes: bus.node(), guard, log, timing, limits });
  const open = async (query = 'resume=true', key = 'mine') => {
    const accept = await hub.upgrade(hubRequest(`access_token=${key}&${query}`));
    if (typeof accept !== 'function') throw new Error(`refused with ${accept.status}`);
    const socket = new FakeSocket();
    const listener = accept(socket);
    say(listener, HANDSHAKE);
    await settled();
    const take = () => socket.takeMessages() as Received[];
    take();
    /** Returns the answer and the messages that follow it. */
    const resume = async (...args: unknown[]): Promise<Received[]> => {
      say(listener, call('Resume', args));
      await settled();
      const [position, ...received] = take();
      if (position?.target !== 'Position') return position === undefined ? received : [position, ...received];
      const cursor = position.arguments?.[0];
      if (cursor !== received[0]?.result?.cursor) throw new Error('the answer names another cursor');
      return received;
    };
    return { socket, listener, take, resume };
  };
  return { hub, bus, timing, lines, open };
}

function say(listener: SocketListener, text: string): void {
  listener.message(Buffer.from(text), false);
}

function call(target: string, args: readonly unknown[], type = 1): string {
  return `${JSON.stringify({ type, invocationId: '1', target, arguments: args })}\u001e`;
}

/** Returns the email ids of the events. */
const removed = (received: readonly Received[]) =>
  received.filter(({ target }) => target === 'EmailDeleted').map((each) => each.arguments?.[0]);

const cursorIn = (received: readonly Received[]) =>
  received.filter(({ target }) => target === 'Position').at(-1)?.arguments?.[0] as string;

test('nothing comes before Resume; then what happens, each batch with a new cursor at its end', async (t) => {
  const { bus, open } = setUp();
  bus.commit(MINE, [emailRemoved('e0')]);
  const { socket, take, resume } = await open();
  bus.commit(MINE, [emailRemoved('e1')]);
  await settled();
  t.deepEqual(take(), []);
  const [answer, ...rest] = await resume(null);
  t.deepEqual(rest, []);
  t.true(answer?.result?.complete);
  bus.commit(MINE, [emailRemoved('e2'), readChanged('e3', true)]);
  t.is(socket.sent.length, 1, 'one frame');
  const received = take();
  t.deepEqual(
    received.map(({ target }) => target),
    ['EmailDeleted', 'EmailUpdated', 'Position'],
  );
  t.is(typeof received[2]?.arguments?.[0], 'string');
  bus.commit(MINE, [emailRemoved('e4')]);
  t.not(cursorIn(take()), cursorIn(received));
});

test('an id of the event stream resumes before the change that the id is in', async (t) => {
  const { bus, open } = setUp();
  const seqs = ['e1', 'e2', 'e3'].map((id) => bus.commit(MINE, [emailRemoved(id), readChanged(id, true)]));
  const within = { n: 0, k: 0 };
  const { take, resume } = await open();
  const [answer, ...rest] = await resume(cursorOf({ seq: seqs[1]!, at: Date.now(), within }, MINE));
  t.true(answer?.result?.complete);
  await settled();
  t.deepEqual(removed([...rest, ...take()]), ['e2', 'e3']);
});

test('a client that asked for the timeline resumes with it, the others without', async (t) => {
  const { bus, lines, open } = setUp();
  const [plain, watching] = [await open(), await open('resume=true&timeline=true')];
  const [answer] = await plain.resume(null);
  await watching.resume(null);
  bus.commit(MINE, [statusChanged('o1', 'Sending'), emailAdded('e1'), attempted('o1')]);
  bus.commit(MINE, [attempted('o1')]);
  const targets = (received: readonly Received[]) =>
    received.map(({ target }) => target).filter((target) => target !== undefined);
  const [some, all] = [plain.take(), watching.take()];
  t.deepEqual(targets(some), ['DeliveryStatusChanged', 'NewEmail', 'Position', 'Position']);
  t.deepEqual(targets(all), [
    'DeliveryStatusChanged',
    'NewEmail',
    'DeliveryAttempted',
    'Position',
    'DeliveryAttempted',
    'Position',
  ]);
  t.is(cursorIn(some), cursorIn(all));
  t.is(lines.filter(({ level }) => level === 30).length, 1, 'a new email is logged once');
  const late = await open('resume=true&timeline=true');
  const received = await late.resume(answer!.result!.cursor);
  t.is(targets(received).filter((target) => target === 'DeliveryAttempted').length, 2);
  // Otherwise their queue positions would be asked for again and again.
  for (const { listener } of [watching, late]) listener.closed(1000);
});

test('on another node the client goes on where it was', async (t) => {
  const bus = new EventBus();
  const [first, second] = [setUp(bus), setUp(bus)];
  const before = await first.open();
  const [answer] = await before.resume(null);
  bus.commit(MINE, [emailRemoved('e1')]);
  const cursor = cursorIn(before.take());
  before.listener.closed(1006);
  t.is(bus.subscriptions, 0);
  bus.commit(MINE, [emailRemoved('e2')], false);
  bus.commit(MINE, [emailRemoved('e3')]);
  const after = await second.open();
  const received = await after.resume(cursor);
  t.deepEqual(received[0]?.result, { cursor, complete: true });
  t.deepEqual(removed(received), ['e2', 'e3']);
  bus.commit(MINE, [emailRemoved('e4')]);
  t.deepEqual(removed(after.take()), ['e4']);
  const again = await first.open();
  t.deepEqual(removed(await again.resume(answer?.result?.cursor)), ['e1', 'e2', 'e3', 'e4']);
});

test('a cursor that cannot be resumed from is answered with now, and that something may be missing', async (t) => {
  const { bus, open } = setUp();
  for (let i = 1; i <= 3; i++) bus.commit(MINE, [emailRemoved(`e${i}`)]);
  const theirs = (await (await open('resume=true', 'other')).resume(null))[0]?.result?.cursor ?? '';
  const mine = (await (await open()).resume(null))[0]?.result?.cursor ?? '';
  const [seq, at, mark] = mine.split('-');
  const old = Number(at) - 31 * 86_400_000;
  for (const cursor of [theirs, `99-${at}-${mark}`, `1-${old}-${mark}`, `${seq}-${at}-xxxxxxxx`, 'v2.cursor']) {
    const { take, resume } = await open();
    const [answer, ...rest] = await resume(cursor);
    t.false(answer?.result?.complete, cursor);
    t.is(answer?.result?.cursor.split('-')[0], String(bus.rows(MINE).length));
    t.deepEqual(rest, []);
    bus.commit(MINE, [emailRemoved('later')]);
    await settled();
    t.deepEqual(removed(take()), ['later']);
  }
});

test('a log that begins later than the cursor is answered with now; one that begins right after it is resumed', async (t) => {
  const { bus, open } = setUp();
  for (let i = 1; i <= 4; i++) bus.commit(MINE, [emailRemoved(`e${i}`)]);
  const [, at, mark] = ((await (await open()).resume(null))[0]?.result?.cursor ?? '').split('-');
  // The log loses its oldest entries, so that it begins later than the first cursors.
  bus.rows(MINE).splice(0, 2);
  const resumed = async (seq: number, opener = open) => {
    const { resume } = await opener();
    const [answer, ...rest] = await resume(`${seq}-${at}-${mark}`);
    return [answer?.result?.complete, answer?.result?.cursor.split('-')[0], removed(rest)];
  };
  t.deepEqual(await resumed(1), [false, '4', []]);
  t.deepEqual(await resumed(2), [true, '2', ['e3', 'e4']]);
  t.deepEqual(await resumed(4), [true, '4', []]);
  t.deepEqual(await resumed(4, setUp().open), [false, '0', []], 'an empty log');
});

test('a wrong call is answered with an error, and may be mended', async (t) => {
  const { open } = setUp();
  const { socket, listener, take, resume } = await open();
  for (const args of [[], [1], [{}], [''], ['no cursor'], ['x'.repeat(200)], [null, null]]) {
    const [answer] = await resume(...args);
    t.regex(answer?.error ?? '', /takes one argument/, JSON.stringify(args));
  }
  say(listener, call('Resume', [null], 4));
  t.regex(take()[0]?.error ?? '', /Unknown hub method/);
  t.true((await resume(null))[0]?.result?.complete);
  t.regex((await resume(null))[0]?.error ?? '', /before/);
  t.is(socket.closedWith, undefined);
  const ordinary = await open('');
  t.regex((await ordinary.resume(null))[0]?.error ?? '', /resume=true/);
});

test('who wants no answer gets none, and the events', async (t) => {
  const { bus, open } = setUp();
  const { listener, take } = await open();
  say(listener, '{"type":1,"target":"Resume","arguments":[null]}\u001e');
  await settled();
  t.like(take(), [{ target: 'Position' }]);
  bus.commit(MINE, [emailRemoved('e1')]);
  t.deepEqual(removed(take()), ['e1']);
});

test('a connection that closes while it resumes leaves nothing behind', async (t) => {
  const { hub, bus, open } = setUp();
  bus.commit(MINE, [emailRemoved('e1')]);
  for (let wait = 0; wait < 6; wait++) {
    const { socket, listener } = await open();
    say(listener, call('Resume', [null]));
    await turns(wait);
    listener.closed(1006);
    const sent = socket.sent.length;
    bus.commit(MINE, [emailRemoved('e2')]);
    await settled();
    t.is(socket.sent.length, sent);
    t.is(bus.subscriptions, 0);
  }
  t.is(hub.connections, 0);
});

test('when the log cannot be read the client is received to connect again', async (t) => {
  const { bus, lines, open } = setUp();
  const { socket, resume } = await open();
  bus.fault = new Error('the store is away');
  t.like(await resume(null), [{ type: 7, allowReconnect: true }]);
  t.is(socket.closedWith, 1013);
  t.true(lines.some(({ level }) => level === 40));
});

test('a draining node sends clients that resume away like all others', async (t) => {
  const { hub, bus, open } = setUp();
  const { take, listener, resume } = await open();
  await resume(null);
  const drained = hub.drain('Stopping.');
  t.like(take(), [{ type: 7, error: 'Stopping.', allowReconnect: true }]);
  t.is(bus.subscriptions, 0);
  listener.closed(1001);
  await drained;
});

test('connections that resume share what is made of an event, and a new email is logged once', async (t) => {
  const { bus, lines, open } = setUp();
  const connections = [await open(), await open()];
  for (const { resume } of connections) await resume(null);
  t.is(bus.subscriptions, 1);
  bus.commit(MINE, [emailAdded('e1')]);
  const [a, b] = connections.map(({ socket }) => socket.sent.at(-1));
  t.is(a, b);
  t.like(
    lines.filter(({ level }) => level === 30),
    [{ emailIds: ['e1'], accountId: MINE, resumed: true }],
  );
});

test('a client that takes nothing for half a minute is cut off', async (t) => {
  const { bus, timing, lines, open } = setUp();
  const { socket, listener, resume } = await open();
  await resume(null);
  socket.buffered = 600_000;
  bus.commit(MINE, [emailRemoved('e1')]);
  t.is(bus.subscriptions, 0, 'not followed while its buffer is long');
  for (let seconds = 0; seconds < 20; seconds += 5) {
    timing.pass(5_000);
    say(listener, '{"type":6}\u001e');
  }
  t.false(socket.terminated);
  timing.pass(15_000);
  t.true(socket.terminated);
  t.true(lines.some(({ msg }) => msg === 'slow hub client cut off'));
});

test('through breaks, moves between nodes and slow moments every event comes once and in order', async (t) => {
  const step = fc.constantFrom('commit', 'lost', 'break', 'reconnect', 'cut', 'slow', 'fast', 'turns');
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const bus = new EventBus();
      const nodes = [setUp(bus), setUp(bus)];
      const received: Received[] = [];
      let cursor: string | null = null;
      const connect = async (node: number) => {
        const connection = await nodes[node]!.open();
        const answer = await connection.resume(cursor);
        t.true(answer[0]?.result?.complete);
        received.push(...answer);
        cursor = cursorIn(received) ?? cursor ?? answer[0]!.result!.cursor;
        return { ...connection, node };
      };
      let connection = await connect(0);
      const take = () => {
        received.push(...connection.take());
        cursor = cursorIn(received) ?? cursor;
      };
      let total = 0;
      for (const each of steps) {
        if (each === 'commit' || each === 'lost') bus.commit(MINE, [emailRemoved(`e${total++}`)], each === 'commit');
        if (each === 'break') bus.breaks$.next();
        if (each === 'slow') connection.socket.buffered = 600_000;
        if (each === 'fast') {
          connection.socket.buffered = 0;
          connection.listener.drained();
        }
        if (each === 'turns') await settled();
        if (each === 'reconnect' || each === 'cut') {
          // Frames that were in flight when the connection broke never arrive.
          if (each === 'reconnect') take();
          else connection.socket.takeMessages();
          connection.listener.closed(1006);
          connection = await connect(1 - connection.node);
        }
      }
      connection.socket.buffered = 0;
      connection.listener.drained();
      bus.breaks$.next();
      await turns(40);
      take();
      t.deepEqual(
        removed(received),
        Array.from({ length: total }, (_, i) => `e${i}`),
      );
    }),
    { numRuns: runs(60) },
  );
});
