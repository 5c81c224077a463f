// The connection of this node to the bus: one at a time, and each new connection takes over the subscriptions. Reports when publications
// may have been missed; knows nothing of packets. This class replaces a lost connection itself, because the client's reconnection may wait
// without end when servers hang, and confuses closed sockets with the open one.
import type { Logger } from 'pino';
import { auditTime, BehaviorSubject, type Observable, Subject, share } from 'rxjs';
import { BREAKS_SUBJECT } from './subjects.js';
import { TurnEnd } from './turn-end.js';

export interface LinkMessage {
  /** With the prefix. */
  readonly subject: string;
  readonly data: Uint8Array;
  /** The subject for the answer; '' or undefined when no answer is expected. */
  readonly reply?: string;
  /** `code`: the status of a message of the server itself. */
  readonly headers?: { readonly code: number };
}

interface LinkSubscription {
  unsubscribe(): void;
  drain(): Promise<void>;
  isClosed(): boolean;
}

interface LinkStatus {
  readonly type: string;
  readonly data: unknown;
  readonly permissionContext?: { readonly operation: string; readonly subject: string };
}

/** The part of the NATS client's connection that the link uses. */
export interface LinkConnection {
  readonly info?: { readonly max_payload: number };
  getServer(): string;
  publish(subject: string, data: Uint8Array, options?: { readonly reply?: string }): void;
  subscribe(
    subject: string,
    options: { callback: (error: Error | null, message: LinkMessage) => void },
  ): LinkSubscription;
  flush(): Promise<void>;
  status(): AsyncIterable<LinkStatus>;
  isClosed(): boolean;
  /** Resolves when the connection is closed, with the error if there was one. */
  closed(): Promise<unknown>;
  /** Closes at once; requests under way fail. */
  close(): Promise<void>;
}

/** A subscription of this node that is renewed on each new connection. */
export interface BusSubscription {
  /** Ends the subscription; messages under way still arrive. */
  drain(): void;
  end(): void;
}

interface OpenSubscription {
  readonly subject: string;
  readonly receive: (message: LinkMessage) => void;
  subscription: LinkSubscription | undefined;
}

export interface LinkOptions<C> {
  /** Added before every subject. */
  readonly prefix: string;
  readonly first: C;
  /** Returns the next connection, however long it takes; undefined when `over` returns true. */
  readonly next: (over: () => boolean) => Promise<C | undefined>;
  readonly log: Logger;
}

/** Joins breaks into one report: after a restart of all servers, all nodes report the break at about the same time. */
const BREAKS_MS = 150;
const READY = Promise.resolve();
const EMPTY = new Uint8Array();

export class NatsLink<C extends LinkConnection> {
  readonly connected$: Observable<boolean>;
  /** Emits when publications of any node may have been missed here. */
  readonly breaks$: Observable<void>;
  /** When messages are sent. */
  readonly turnEnd = new TurnEnd();
  readonly #options: LinkOptions<C>;
  readonly #isConnected$ = new BehaviorSubject(true);
  readonly #missed$ = new Subject<void>();
  readonly #subscriptions = new Set<OpenSubscription>();
  /** Callbacks for when the connection is lost. */
  readonly #waiting = new Set<() => void>();
  readonly #reported = new Set<string>();
  #connection: C | undefined;
  #flushing: Promise<void> | undefined;
  #closed = false;

  constructor(options: LinkOptions<C>) {
    this.#options = options;
    this.connected$ = this.#isConnected$.asObservable();
    this.breaks$ = this.#missed$.pipe(auditTime(BREAKS_MS), share());
    this.subscribe(BREAKS_SUBJECT, () => this.#missed$.next());
    this.#use(options.first);
    options.log.info({ server: options.first.getServer() }, 'connected to the bus');
  }

  /** Undefined while this node is cut off. */
  get connection(): C | undefined {
    // A connection is closed a moment before `closed()` resolves.
    return this.#connection?.isClosed() === false ? this.#connection : undefined;
  }

  /** The most octets of a message. */
  get capacity(): number {
    return this.#connection?.info?.max_payload ?? Number.POSITIVE_INFINITY;
  }

  /** Sends a message; drops it while this node is cut off. The subjects have their prefix. */
  publish(subject: string, data: Uint8Array, reply = ''): void {
    // The capacity may have changed since the caller asked for it.
    if (data.length <= this.capacity) this.connection?.publish(subject, data, { reply });
  }

  subscribe(subject: string, receive: (message: LinkMessage) => void): BusSubscription {
    const subscription: OpenSubscription = { subject, receive, subscription: undefined };
    this.#subscriptions.add(subscription);
    if (this.connection !== undefined) this.#attach(subscription, this.connection);
    const over = (end: (subscription: LinkSubscription) => void) => {
      this.#subscriptions.delete(subscription);
      if (subscription.subscription?.isClosed() === false) end(subscription.subscription);
    };
    return {
      drain: () => over((subscription) => void subscription.drain().catch(() => {})),
      end: () => over((subscription) => subscription.unsubscribe()),
    };
  }

  /**
   * Sends what waits for the end of the turn. Resolves when the server has processed all messages and subscriptions so far; at once while
   * there is no connection. Calls at the same time share one round trip.
   */
  flushed(): Promise<void> {
    if (this.connection === undefined) return READY;
    this.#flushing ??= new Promise((resolve) => {
      queueMicrotask(() => {
        this.#flushing = undefined;
        this.turnEnd.now();
        const { connection } = this;
        if (connection === undefined) return resolve();
        const flushed = () => {
          this.#waiting.delete(flushed);
          resolve();
        };
        this.#waiting.add(flushed);
        connection.flush().then(flushed, flushed);
      });
    });
    return this.#flushing;
  }

  close(): void {
    this.#closed = true;
    this.#drop();
    this.#isConnected$.complete();
    this.#missed$.complete();
  }

  #use(connection: C): void {
    this.#connection = connection;
    for (const subscription of this.#subscriptions) this.#attach(subscription, connection);
    void this.#watch(connection);
    void connection.closed().then((error) => {
      this.#lost(connection, error instanceof Error ? error.message : 'the connection was closed');
    });
  }

  #attach(subscription: OpenSubscription, connection: C): void {
    if (connection.isClosed()) return;
    subscription.subscription = connection.subscribe(this.#options.prefix + subscription.subject, {
      callback: (error, message) => {
        if (error === null && this.#connection === connection) subscription.receive(message);
      },
    });
  }

  async #watch(connection: C): Promise<void> {
    for await (const status of connection.status()) {
      if (this.#connection !== connection) return;
      // The client would close the connection only after it has sent all waiting data, which may never happen.
      if (status.type === 'staleConnection') this.#lost(connection, 'the server does not answer');
      else this.#note(status);
    }
  }

  #note({ type, data, permissionContext }: LinkStatus): void {
    const { log } = this.#options;
    if (type === 'error') {
      const error = `${data} ${permissionContext?.operation}`;
      if (!this.#reported.has(error)) log.error({ code: data, ...permissionContext }, 'the bus reports an error');
      this.#reported.add(error);
    } else if (type === 'ldm') {
      log.info({ server: data }, 'the server of the bus is about to stop');
    } else if (type === 'update') {
      // Servers that join were separate before, and did not forward publications to each other.
      const { added = [], deleted = [] } = data as { readonly added?: unknown[]; readonly deleted?: unknown[] };
      if (added.length + deleted.length > 0) this.#missed$.next();
    }
  }

  #lost(connection: C, reason: string): void {
    if (this.#connection !== connection) return;
    this.#options.log.warn({ server: connection.getServer(), reason }, 'cut off from the bus');
    this.#drop();
    void this.#reconnect();
  }

  #drop(): void {
    const connection = this.#connection;
    if (connection === undefined) return;
    this.#connection = undefined;
    connection.close().catch(() => {});
    this.#isConnected$.next(false);
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }

  async #reconnect(): Promise<void> {
    const { next, prefix, log } = this.#options;
    const connection = await next(() => this.#closed);
    if (connection === undefined) return;
    if (this.#closed) return connection.close();
    this.#reported.clear();
    this.#use(connection);
    log.info({ server: connection.getServer() }, 'connected to the bus again');
    // Nobody received what this node published meanwhile; later publications are sent after this one.
    this.connection?.publish(prefix + BREAKS_SUBJECT, EMPTY);
    this.#isConnected$.next(true);
    await this.flushed();
    if (this.#connection === connection) this.#missed$.next();
  }
}
