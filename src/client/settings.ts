// The settings of the account that events tell of: each is read when somebody follows it, and again when an event says that it has changed.
import type { Observable } from 'rxjs';
import type { ClientEventName } from './hub/hub-link.js';
import { type Announcing, refreshed } from './refreshed.js';
import type { Reply, Rest } from './rest.js';

/** The event that tells of each setting, by the path of the setting. */
const EVENTS = {
  '/api/filters': 'FiltersChanged',
  '/api/forwarding': 'ForwardingChanged',
  '/api/quota': 'QuotaChanged',
  '/api/senders': 'SendersChanged',
  '/api/sieve': 'ScriptsChanged',
  '/api/suppressions': 'SuppressionsChanged',
  '/api/vacation': 'VacationChanged',
} as const satisfies Readonly<Record<string, ClientEventName>>;

export type SettingPath = keyof typeof EVENTS;
export type Setting<P extends SettingPath> = Reply<'GET', P>;

export class FollowedSettings {
  readonly #rest: Pick<Rest, 'request' | 'changesOf'>;
  readonly #link: Announcing;
  readonly #end$: Observable<unknown>;
  readonly #followed = new Map<SettingPath, Observable<unknown>>();

  constructor(rest: Pick<Rest, 'request' | 'changesOf'>, link: Announcing, end$: Observable<unknown>) {
    this.#rest = rest;
    this.#link = link;
    this.#end$ = end$;
  }

  /** A stream that all who follow the setting share. */
  of<P extends SettingPath>(path: P): Observable<Setting<P>> {
    const known = this.#followed.get(path) ?? this.#follow(path);
    this.#followed.set(path, known);
    return known as Observable<Setting<P>>;
  }

  #follow(path: SettingPath): Observable<unknown> {
    return refreshed<unknown>(this.#link, {
      end$: this.#end$,
      read: () => this.#rest.request('GET', path),
      changes$: this.#rest.changesOf(path),
      touch: ({ type }) => (type === EVENTS[path] ? 'readSoon' : undefined),
    });
  }
}
