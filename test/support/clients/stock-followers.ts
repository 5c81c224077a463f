// Clients that follow all events of an account as applications do, with stock libraries: @microsoft/signalr over each transport and in each
// protocol, and EventSource. They reconnect by themselves and resume from their position.
import { type HttpTransportType, type HubConnection, HubConnectionBuilder, LogLevel } from '@microsoft/signalr';
import { MessagePackHubProtocol } from '@microsoft/signalr-protocol-msgpack';
import { EventSource } from 'eventsource';
import { CLIENT_EVENT_TYPES } from '../../../src/gateways/events/client-events.js';
import type { Teardown } from '../database/embedded-database.js';
import { startHub } from './hub-start.js';

export interface StockFollower {
  readonly name: string;
  /** The events in order of arrival. */
  readonly events: readonly (readonly [type: string, payload: unknown])[];
  /** The number of answers which tell that events may be missing. */
  readonly incomplete: number;
  /** The number of connections, including the first. */
  readonly connections: number;
  /** Resolves when `holds` returns true; it is called whenever something has arrived. @throws after five minutes, with what has arrived */
  until(holds: () => boolean): Promise<void>;
  /** Disconnects, and keeps its position. */
  sleep(): Promise<void>;
  /** Connects again. */
  wake(): Promise<void>;
}

export interface FollowerAt {
  /** Returns http://host:port; called for every connection. */
  readonly base: () => string;
  readonly key: string;
}

export interface HubWay {
  readonly transport: HttpTransportType;
  readonly isBinary: boolean;
}

const RETRY_MS = 50;
const PATIENCE_MS = 300_000;

abstract class Events {
  abstract readonly name: string;
  readonly events: (readonly [string, unknown])[] = [];
  incomplete = 0;
  connections = 0;
  readonly #waiting = new Set<() => void>();

  take(type: string, payload: unknown): void {
    this.events.push([type, payload]);
    this.look();
  }

  look(): void {
    for (const look of [...this.#waiting]) look();
  }

  until(holds: () => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      const end = () => {
        clearTimeout(timer);
        this.#waiting.delete(look);
      };
      const look = () => {
        if (!holds()) return;
        end();
        resolve();
      };
      const timer = setTimeout(() => {
        end();
        const came = `${this.events.length} events over ${this.connections} connections, ${this.incomplete} incomplete`;
        reject(new Error(`${this.name}: waited ${PATIENCE_MS} ms in vain; ${came}; ${this.state()}`));
      }, PATIENCE_MS);
      this.#waiting.add(look);
      look();
    });
  }

  /** Describes the state of the connection in words. */
  protected abstract state(): string;
}

class HubFollower extends Events implements StockFollower {
  readonly name: string;
  readonly #hub: HubConnection;
  readonly #base: () => string;
  #cursor: string | null = null;
  /** The last failure of the connection or of resuming. */
  #failure: unknown;

  constructor({ base, key }: FollowerAt, { transport, isBinary }: HubWay, name: string) {
    super();
    this.name = name;
    this.#base = base;
    const builder = new HubConnectionBuilder()
      .withUrl(this.#url(), { transport, accessTokenFactory: () => key })
      .withAutomaticReconnect({ nextRetryDelayInMilliseconds: () => RETRY_MS })
      .configureLogging(LogLevel.None);
    if (isBinary) builder.withHubProtocol(new MessagePackHubProtocol());
    this.#hub = builder.build();
    for (const type of CLIENT_EVENT_TYPES) this.#hub.on(type, (payload: unknown) => this.take(type, payload));
    this.#hub.on('Position', (cursor: string) => {
      this.#cursor = cursor;
    });
    this.#hub.onreconnecting(() => {
      this.#hub.baseUrl = this.#url();
    });
    this.#hub.onclose((error) => {
      this.#failure = error;
    });
    // If the resume is cut off, the client begins again with the next connection.
    this.#hub.onreconnected(() =>
      this.#resume().catch((error: unknown) => {
        this.#failure = error;
      }),
    );
  }

  async wake(): Promise<void> {
    this.#hub.baseUrl = this.#url();
    await startHub(this.#hub);
    await this.#resume();
  }

  sleep(): Promise<void> {
    return this.#hub.stop();
  }

  protected state(): string {
    return `${this.#hub.state}, ${this.#failure ?? 'no failure'}`;
  }

  async #resume(): Promise<void> {
    const { complete } = await this.#hub.invoke<{ readonly complete: boolean }>('Resume', this.#cursor);
    this.connections++;
    if (!complete) this.incomplete++;
    this.look();
  }

  #url(): string {
    return `${this.#base()}/hubs/email?resume=true&timeline=true&changes=true`;
  }
}

class StreamFollower extends Events implements StockFollower {
  readonly name = 'EventSource';
  readonly #at: FollowerAt;
  #source: EventSource | undefined;
  #lastId = '';

  constructor(at: FollowerAt) {
    super();
    this.#at = at;
  }

  async wake(): Promise<void> {
    const before = this.connections;
    this.#open();
    await this.until(() => this.connections > before);
  }

  async sleep(): Promise<void> {
    this.#source?.close();
  }

  protected state(): string {
    return `readyState ${this.#source?.readyState}`;
  }

  #open(): void {
    const { base, key } = this.#at;
    const after = this.#lastId === '' ? '' : `?after=${encodeURIComponent(this.#lastId)}`;
    const source = new EventSource(`${base()}/api/events${after}`, {
      fetch: (url, init) => fetch(url, { ...init, headers: { ...init.headers, authorization: `Bearer ${key}` } }),
    });
    this.#source = source;
    const listen = (type: string, heard: (data: unknown) => void) =>
      source.addEventListener(type, ({ data, lastEventId }) => {
        this.#lastId = lastEventId;
        heard(JSON.parse(data));
        this.look();
      });
    for (const type of CLIENT_EVENT_TYPES) listen(type, (payload) => this.take(type, payload));
    let isNew = false;
    source.addEventListener('open', () => {
      isNew = true;
    });
    const begun = () => {
      if (isNew) this.connections++;
      isNew = false;
    };
    listen('Position', begun);
    listen('Resync', () => {
      this.incomplete++;
      begun();
    });
    source.addEventListener('error', () => {
      // EventSource gives up after a reply that is not 200; an application makes a new one.
      if (source.readyState !== EventSource.CLOSED || this.#source !== source) return;
      setTimeout(() => {
        if (this.#source === source) this.#open();
      }, RETRY_MS).unref();
    });
  }
}

/** The follower ends with the test. */
export async function followHub(t: Teardown, at: FollowerAt, way: HubWay, name: string): Promise<StockFollower> {
  const follower = new HubFollower(at, way, name);
  t.teardown(() => follower.sleep());
  await follower.wake();
  return follower;
}

/** The follower ends with the test. */
export async function followStream(t: Teardown, at: FollowerAt): Promise<StockFollower> {
  const follower = new StreamFollower(at);
  t.teardown(() => follower.sleep());
  await follower.wake();
  return follower;
}
