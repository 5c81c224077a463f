// Tests which event makes the client read a setting again, and that all who follow a setting share the reading.
import { BehaviorSubject, filter, firstValueFrom, NEVER, Subject, take, toArray } from 'rxjs';
import type { ClientEvent, ConnectionState } from '../../src/client/hub/hub-link.js';
import type { Rest } from '../../src/client/rest.js';
import { FollowedSettings, type SettingPath } from '../../src/client/settings.js';
import test from '../support/test.js';

const EVENTS: readonly (readonly [SettingPath, ClientEvent['type']])[] = [
  ['/api/filters', 'FiltersChanged'],
  ['/api/forwarding', 'ForwardingChanged'],
  ['/api/quota', 'QuotaChanged'],
  ['/api/senders', 'SendersChanged'],
  ['/api/sieve', 'ScriptsChanged'],
  ['/api/suppressions', 'SuppressionsChanged'],
  ['/api/vacation', 'VacationChanged'],
];

test('each setting is read again after its event, and after no other', async (t) => {
  const events$ = new Subject<ClientEvent>();
  const state$ = new BehaviorSubject<ConnectionState>('live');
  const link = { events$, opened$: NEVER, resync$: NEVER, state$, open() {} };
  const readings: string[] = [];
  // A reading is the path with its number.
  const request = async (_method: string, path: string) => {
    readings.push(path);
    return `${path} ${readings.filter((read) => read === path).length}`;
  };
  const rest = { request, changesOf: () => NEVER } as unknown as Pick<Rest, 'request' | 'changesOf'>;
  const end$ = new Subject<void>();
  const settings = new FollowedSettings(rest, link as never, end$);
  const ended = EVENTS.map(([path]) => firstValueFrom(settings.of(path).pipe(toArray<unknown>())));
  for (const [path] of EVENTS) t.is(await firstValueFrom(settings.of(path).pipe(take(1))), `${path} 1` as never);
  t.deepEqual(
    readings,
    EVENTS.map(([path]) => path),
    'those who follow share a reading',
  );
  for (const [path, type] of EVENTS) {
    const again = firstValueFrom(settings.of(path).pipe(filter((value: unknown) => value === `${path} 2`)));
    events$.next({ type, payload: {} } as unknown as ClientEvent);
    await again;
  }
  end$.next();
  t.deepEqual(
    await Promise.all(ended),
    EVENTS.map(([path]) => [`${path} 1`, `${path} 2`]),
  );
});
