// The link of this node to the bus: one connection at a time, and the subscriptions that every new one takes over. Knows
// when what was published may not have been heard; knows nothing of packets. A connection that is lost is replaced here
// and not by the client: when servers hang, its own reconnection may wait for ever, and mixes up the sockets that it gave
// up with the one it has.
import type { Logger } from 'pino';
import { auditTime, BehaviorSubject, type Observable, Subject, share } from 'rxjs';
import { BREAKS_SUBJECT } from './subjects.js';

export interface LinkMessage {
  readonly data: Uint8Array;
  /** Where the answer is awaited; '' or undefined when none is. */
  readonly reply?: string;
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

/** What the link needs of a connection of the NATS client. */
export interface LinkConnection {
  getServer(): string;
  publish(subject: string, data: Uint8Array): void;
  subscribe(
    subject: string,
    options: { callback: (error: Error | null, message: LinkMessage) => void },
  ): LinkSubscription;
  flush(): Promise<void>;
  status(): AsyncIterable<LinkStatus>;
  isClosed(): boolean;
  /** Resolves when it is closed, whoever did it, with the error if there was one. */
  closed(): Promise<unknown>;
  /** At once, and whatever is under way fails. */
  close(): Promise<void>;
}

/** A subscription of this node, whichever connection it has. */
export interface Feed {
  /** Ends it; messages that are on their way arrive yet. */
  drain(): void;
  end(): void;
}

interface OpenFeed {
  readonly subject: string;
  readonly receive: (message: LinkMessage) => void;
  subscription: LinkSubscription | undefined;
}

export interface LinkOptions<C> {
  /** Before every subject. */
  readonly prefix: string;
  readonly first: C;
  /** The next connection, however long it takes; undefined once `over` says so. */
  readonly next: (over: () => boolean) => Promise<C | undefined>;
  readonly log: Logger;
}

/** When all servers were restarted, all nodes tell of it at about the same time. */
const BREAKS_MS = 150;
const READY = Promise.resolve();
const EMPTY = new Uint8Array();

export class NatsLink<C extends LinkConnection> {
  readonly connected$: Observable<boolean>;
  /** Emits when publications, of whatever node, may not have been heard here. */
  readonly breaks$: Observable<void>;
  readonly #options: LinkOptions<C>;
  readonly #isConnected$ = new BehaviorSubject(true);
  readonly #missed$ = new Subject<void>();
  readonly #feeds = new Set<OpenFeed>();
  /** Called when the connection is lost. */
  readonly #waiting = new Set<() => void>();
  readonly #told = new Set<string>();
  #connection: C | undefined;
  #flushing: Promise<void> | undefined;
  #closed = false;

  constructor(options: LinkOptions<C>) {
    this.#options = options;
    this.connected$ = this.#isConnected$.asObservable();
    this.breaks$ = this.#missed$.pipe(auditTime(BREAKS_MS), share());
    this.feed(BREAKS_SUBJECT, () => this.#missed$.next());
    this.#use(options.first);
    options.log.info({ server: options.first.getServer() }, 'connected to the bus');
  }

  /** Undefined while this node is cut off. */
  get connection(): C | undefined {
    // A connection is closed a moment before it says so.
    return this.#connection?.isClosed() === false ? this.#connection : undefined;
  }

  feed(subject: string, receive: (message: LinkMessage) => void): Feed {
    const feed: OpenFeed = { subject, receive, subscription: undefined };
    this.#feeds.add(feed);
    if (this.connection !== undefined) this.#attach(feed, this.connection);
    const over = (end: (subscription: LinkSubscription) => void) => {
      this.#feeds.delete(feed);
      if (feed.subscription?.isClosed() === false) end(feed.subscription);
    };
    return {
      drain: () => over((subscription) => void subscription.drain().catch(() => {})),
      end: () => over((subscription) => subscription.unsubscribe()),
    };
  }

  /**
   * Resolves when the server has whatever was sent and subscribed to; at once while there is none. Everybody who asks at
   * a time shares one round trip.
   */
  flushed(): Promise<void> {
    if (this.connection === undefined) return READY;
    this.#flushing ??= new Promise((resolve) => {
      queueMicrotask(() => {
        this.#flushing = undefined;
        const { connection } = this;
        if (connection === undefined) return resolve();
        const stood = () => {
          this.#waiting.delete(stood);
          resolve();
        };
        this.#waiting.add(stood);
        connection.flush().then(stood, stood);
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
    for (const feed of this.#feeds) this.#attach(feed, connection);
    void this.#watch(connection);
    void connection.closed().then((error) => {
      this.#lost(connection, error instanceof Error ? error.message : 'the connection was closed');
    });
  }

  #attach(feed: OpenFeed, connection: C): void {
    if (connection.isClosed()) return;
    feed.subscription = connection.subscribe(this.#options.prefix + feed.subject, {
      callback: (error, message) => {
        if (error === null && this.#connection === connection) feed.receive(message);
      },
    });
  }

  async #watch(connection: C): Promise<void> {
    for await (const status of connection.status()) {
      if (this.#connection !== connection) return;
      // The client closes it when what waits to be sent is sent, which may be never.
      if (status.type === 'staleConnection') this.#lost(connection, 'the server does not answer');
      else this.#note(status);
    }
  }

  #note({ type, data, permissionContext }: LinkStatus): void {
    const { log } = this.#options;
    if (type === 'error') {
      const error = `${data} ${permissionContext?.operation}`;
      if (!this.#told.has(error)) log.error({ code: data, ...permissionContext }, 'the bus reports an error');
      this.#told.add(error);
    } else if (type === 'ldm') {
      log.info({ server: data }, 'the server of the bus is about to stop');
    } else if (type === 'update') {
      // Servers that find each other were apart before, and passed nothing on to each other.
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
    this.#told.clear();
    this.#use(connection);
    log.info({ server: connection.getServer() }, 'connected to the bus again');
    // What this node published meanwhile nobody heard; whatever it publishes from now on comes after this.
    this.connection?.publish(prefix + BREAKS_SUBJECT, EMPTY);
    this.#isConnected$.next(true);
    await this.flushed();
    if (this.#connection === connection) this.#missed$.next();
  }
}
