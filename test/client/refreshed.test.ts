// Tests a value that is read again when events touch it: how soon, and which readings count while the client itself changes the value.
import { BehaviorSubject, Subject } from 'rxjs';
import type { ClientEvent, ConnectionState } from '../../src/client/hub/hub-link.js';
import { type Announcing, type RefreshedOptions, refreshed } from '../../src/client/refreshed.js';
import { deferred } from '../support/deferred.js';
import test from '../support/test.js';

const HOUR_MS = 3_600_000;

/** Readings that the test answers, and what the stream shows. */
function world(options: Partial<RefreshedOptions<string>>) {
  const events$ = new Subject<ClientEvent>();
  const link: Announcing = {
    events$,
    opened$: new Subject<void>(),
    resync$: new Subject<void>(),
    state$: new BehaviorSubject<ConnectionState>('live'),
    open() {},
  };
  const begun: ((value: string) => void)[] = [];
  let wanted = { count: 0, arrive: () => {} };
  const read = () =>
    new Promise<string>((resolve) => {
      begun.push(resolve);
      if (begun.length === wanted.count) wanted.arrive();
    });
  const shown: string[] = [];
  const touch = ({ type }: ClientEvent) => (type.startsWith('Label') ? ('readSoon' as const) : ('read' as const));
  const subscription = refreshed<string>(link, { read, touch, ...options }).subscribe((value) => shown.push(value));
  return {
    shown,
    begun,
    end: () => subscription.unsubscribe(),
    happens: (type: 'LabelDeleted' | 'EmailDeleted') => events$.next({ type, payload: 'id' } as unknown as ClientEvent),
    /** The reading with this number, counted from 1, has begun. */
    reading: (count: number) =>
      new Promise<void>((arrive) => {
        wanted = { count, arrive };
        if (begun.length >= count) arrive();
      }),
    async answers(value: string) {
      begun.at(-1)!(value);
      await new Promise(setImmediate);
    },
  };
}

test('an event that people cause is read at once, even where other events may wait long', async (t) => {
  const { happens, reading, answers, shown, begun, end } = world({ leastMs: HOUR_MS });
  t.teardown(end);
  await answers('first');
  happens('EmailDeleted');
  t.is(begun.length, 1);
  happens('LabelDeleted');
  await reading(2);
  await answers('second');
  happens('LabelDeleted');
  happens('LabelDeleted');
  await reading(3);
  happens('LabelDeleted');
  await answers('third');
  await reading(4);
  await answers('fourth');
  t.deepEqual(shown, ['first', 'second', 'third', 'fourth']);
});

test('a reading that overlaps a change of the client is not shown', async (t) => {
  const changes$ = new Subject<Promise<unknown>>();
  const { happens, reading, answers, shown, end } = world({ changes$ });
  t.teardown(end);
  await answers('before');
  happens('LabelDeleted');
  await reading(2);
  const change = deferred();
  changes$.next(change.promise);
  await answers('older than the change');
  happens('LabelDeleted');
  await reading(3);
  change.resolve();
  await answers('perhaps older');
  await reading(4);
  await answers('after');
  changes$.next(Promise.reject(new Error('refused')));
  await reading(5);
  await answers('as before');
  t.deepEqual(shown, ['before', 'after', 'as before']);
});
