// The connection to the hub: connects again for ever, continues the log where it stopped, and gives each event once. There is one per
// client, opened when something live is first asked for.
import { type HubConnection, HubConnectionBuilder, LogLevel } from '@microsoft/signalr';
import { BehaviorSubject, Subject } from 'rxjs';
import type { EventPayloads, HubCalls, HubEventPayloads } from '../generated/events.js';
import { onReturn } from './environment.js';
import { LONGEST_PAUSE_MS, Pause, pauseAfter } from './pause.js';

/**
 * `connecting`: for the first time; `reconnecting`: again, after a failure or a break; `signedOut`: the server does not accept the
 * credential, and the next sign-in connects.
 */
export type ConnectionState = 'connecting' | 'live' | 'reconnecting' | 'signedOut';

/** Events that no cursor covers: what they tell of is read again with each connection. */
const PASSING = ['QueuePositionChanged', 'QuotaChanged', 'SendingChanged'] as const;

type Payloads = EventPayloads & Pick<HubEventPayloads, (typeof PASSING)[number]>;
export type ClientEventName = keyof Payloads;
/** An event of the account, discriminated by `type`. */
export type ClientEvent = {
  [T in ClientEventName]: { readonly type: T; readonly payload: Payloads[T] };
}[ClientEventName];
export type ListChange = HubEventPayloads['ListChanged']['changes'][number];

const LOGGED: Readonly<Record<keyof EventPayloads, true>> = {
  NewEmail: true,
  EmailUpdated: true,
  EmailDeleted: true,
  UnreadCountChanged: true,
  DeliveryStatusChanged: true,
  DeliveryAttempted: true,
  LabelCreated: true,
  LabelUpdated: true,
  LabelDeleted: true,
  DraftCreated: true,
  DraftUpdated: true,
  DraftDeleted: true,
  EmailFlagsChanged: true,
  FolderCreated: true,
  FolderUpdated: true,
  FolderDeleted: true,
  EmailPlaced: true,
  EmailUnplaced: true,
  PreferencesChanged: true,
  SendersChanged: true,
  ForwardingChanged: true,
  VacationChanged: true,
  FiltersChanged: true,
  ScriptsChanged: true,
  SuppressionsChanged: true,
};

const REQUEST_MS = 10_000;
/** The negotiation was refused because of the credential. */
const REFUSED = /Status code '401'/;
/** The hub is not for this credential, or not from here: that alone does not end a session. */
const FORBIDDEN = /Status code '403'/;

export interface HubLinkOptions {
  readonly url: string;
  /** Undefined: the cookie of the session. */
  readonly token: (() => Promise<string>) | undefined;
  /** Asks elsewhere whether the server accepts the credential, and calls `signedOut` when it does not. */
  readonly check: () => Promise<void>;
}

export class HubLink {
  readonly state$ = new BehaviorSubject<ConnectionState>('connecting');
  readonly events$ = new Subject<ClientEvent>();
  readonly listChanges$ = new Subject<HubEventPayloads['ListChanged']>();
  /** Emits when a browser was signed in or out. */
  readonly sessionsChanged$ = new Subject<void>();
  /** Emits when calls are possible again: subscriptions of an earlier connection are gone. */
  readonly opened$ = new Subject<void>();
  /** Emits when events may be missing. */
  readonly resync$ = new Subject<void>();
  readonly #options: HubLinkOptions;
  readonly #pause = new Pause();
  #connection: HubConnection | undefined;
  #stopListening = () => {};
  #isStarted = false;
  #hasBeenLive = false;
  #isClosed = false;
  /** Somebody has signed in while a connection with the earlier credential was under way. */
  #isRenewed = false;
  #cursor: string | null = null;
  /** Events after the cursor: they come again when the connection breaks before the next cursor. */
  #waiting: ClientEvent[] = [];

  constructor(options: HubLinkOptions) {
    this.#options = options;
  }

  /** Connects, when that has not begun. */
  open(): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    this.#stopListening = onReturn(() => this.retry());
    void this.#run();
  }

  /** Connects now instead of later. */
  retry(): void {
    this.#pause.end();
  }

  /** The server does not accept the credential. */
  signedOut(): void {
    this.#become('signedOut');
    void this.#connection?.stop();
  }

  /** Ends the connection, and connects again with the credential as it is now. */
  renew(): void {
    this.#cursor = null;
    this.#isRenewed = true;
    if (this.state$.value === 'signedOut') this.#become('connecting');
    void this.#connection?.stop();
    this.retry();
  }

  close(): void {
    this.#isClosed = true;
    this.#stopListening();
    this.#pause.end();
    void this.#connection?.stop();
    const subjects = [this.events$, this.listChanges$, this.sessionsChanged$, this.opened$, this.resync$];
    for (const subject of subjects) subject.complete();
    this.state$.complete();
  }

  get isLive(): boolean {
    return this.state$.value === 'live';
  }

  /** @throws Error when the server refuses the call, or the connection breaks */
  call<C extends keyof HubCalls>(name: C, argument: HubCalls[C]['argument']): Promise<HubCalls[C]['result']> {
    if (this.#connection === undefined) return Promise.reject(new Error('There is no connection.'));
    return this.#connection.invoke(name, argument);
  }

  async #run(): Promise<void> {
    let failures = 0;
    while (!this.#isClosed) {
      this.#isRenewed = false;
      const connection = this.#build();
      const ended = new Promise<void>((resolve) => connection.onclose(() => resolve()));
      try {
        await connection.start();
        this.#connection = connection;
        await this.#resume();
        failures = 0;
        await ended;
      } catch (error) {
        if (REFUSED.test(String(error))) this.#become('signedOut');
        else if (FORBIDDEN.test(String(error))) await this.#options.check();
        await connection.stop();
      }
      this.#connection = undefined;
      this.#waiting = [];
      if (this.#isClosed) return;
      if (this.state$.value === 'live') this.#become('reconnecting');
      if (this.#isRenewed) continue;
      if (this.state$.value === 'connecting') this.#become('reconnecting');
      if (this.state$.value === 'signedOut') {
        // The next token may be accepted; a cookie changes with a sign-in, here or in another window.
        await (this.#options.token === undefined ? this.#pause.forever() : this.#pause.for(LONGEST_PAUSE_MS));
        continue;
      }
      await this.#pause.for(pauseAfter(failures));
      failures++;
    }
  }

  async #resume(): Promise<void> {
    const before = this.#cursor;
    const { complete } = await this.call('Resume', before);
    this.#become('live');
    this.opened$.next();
    if (!complete || (before === null && this.#hasBeenLive)) this.resync$.next();
    this.#hasBeenLive = true;
  }

  #become(state: ConnectionState): void {
    if (!this.#isClosed && this.state$.value !== state) this.state$.next(state);
  }

  #build(): HubConnection {
    const { url, token } = this.#options;
    const connection = new HubConnectionBuilder()
      .withUrl(`${url}?resume=true&timeline=true&changes=true&sessions=true`, {
        ...(token !== undefined && { accessTokenFactory: token }),
        withCredentials: token === undefined,
        timeout: REQUEST_MS,
      })
      .configureLogging(LogLevel.None)
      .build();
    for (const type of Object.keys(LOGGED)) {
      connection.on(type, (payload) => void this.#waiting.push({ type, payload } as ClientEvent));
    }
    connection.on('Position', (cursor: string) => this.#advance(cursor));
    for (const type of PASSING) connection.on(type, (payload) => this.events$.next({ type, payload }));
    connection.on('SessionsChanged', () => this.sessionsChanged$.next());
    connection.on('ListChanged', (subscriptionId: string, changes: readonly ListChange[]) =>
      this.listChanges$.next({ subscriptionId, changes }),
    );
    return connection;
  }

  #advance(cursor: string): void {
    this.#cursor = cursor;
    const events = this.#waiting;
    this.#waiting = [];
    for (const event of events) this.events$.next(event);
  }
}
