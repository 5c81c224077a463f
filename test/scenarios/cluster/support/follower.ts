// Implements a hub client as an application does, with the stock @microsoft/signalr client, which goes to the next node when it
// is cut off. A client that resumes must hear of every new email, in order, once. The other kind reads the unread count again
// after each reconnection, and must then show the true one.
import { type HubConnection, HubConnectionBuilder, HubConnectionState, LogLevel } from '@microsoft/signalr';
import type { TestAccount } from '../../../../dev/node-accounts.js';
import { startHub } from '../../../support/clients/hub-start.js';
import type { Target } from './load.js';

export interface FollowerOptions {
  readonly account: TestAccount;
  /** The servers to connect to, in order; read again at each connection. */
  readonly targets: () => readonly Target[];
  readonly resumes: boolean;
}

const RETRY_MS = 100;

export class Follower {
  readonly account: TestAccount;
  readonly resumes: boolean;
  /** Ids of emails, in the order in which they arrived. */
  readonly newEmails: string[] = [];
  /** The number of connections so far. */
  connected = 0;
  /** The number of answers to Resume which say that events may be missing. */
  incomplete = 0;
  readonly #targets: () => readonly Target[];
  readonly #hub: HubConnection;
  #turn = 0;
  #cursor: string | null = null;
  #unread: number | undefined;
  /** The current connection has read or received a count. */
  #isFresh = false;

  constructor({ account, targets, resumes }: FollowerOptions) {
    this.account = account;
    this.resumes = resumes;
    this.#targets = targets;
    this.#hub = new HubConnectionBuilder()
      .withUrl(this.#url(), { accessTokenFactory: () => account.key })
      .withAutomaticReconnect({
        nextRetryDelayInMilliseconds: () => {
          // At its first call the client is not reconnecting yet, and must not move on.
          if (this.#hub.state === HubConnectionState.Reconnecting) this.#moveOn();
          return RETRY_MS;
        },
      })
      .configureLogging(LogLevel.None)
      .build();
    this.#hub.on('NewEmail', ({ id }: { readonly id: string }) => void this.newEmails.push(id));
    this.#hub.on('UnreadCountChanged', (count: number) => {
      this.#unread = count;
      this.#isFresh = true;
    });
    this.#hub.on('Position', (cursor: string) => {
      this.#cursor = cursor;
    });
    for (const event of ['EmailUpdated', 'EmailDeleted']) this.#hub.on(event, () => {});
    this.#hub.onreconnecting(() => {
      this.#moveOn();
      this.#isFresh = false;
    });
    this.#hub.onreconnected(() => this.#begin().catch(() => {}));
  }

  get isConnected(): boolean {
    return this.#hub.state === HubConnectionState.Connected;
  }

  /** The count that an application would show; undefined while it is unknown. */
  get unread(): number | undefined {
    return this.resumes || this.#isFresh ? this.#unread : undefined;
  }

  /** The current or last server. */
  get at(): string {
    return this.#hub.baseUrl;
  }

  async start(): Promise<void> {
    await startHub(this.#hub);
    await this.#begin();
  }

  stop(): Promise<void> {
    return this.#hub.stop();
  }

  /** Fails when the connection is cut; then the next connection begins again. */
  async #begin(): Promise<void> {
    this.connected++;
    if (this.resumes) {
      const { complete } = await this.#hub.invoke<{ readonly complete: boolean }>('Resume', this.#cursor);
      if (!complete) this.incomplete++;
      return;
    }
    const connection = this.connected;
    while (this.isConnected && this.connected === connection && !this.#isFresh) {
      const read = await this.#read();
      // A count that the hub has sent meanwhile is newer.
      if (read !== undefined && this.connected === connection && !this.#isFresh) {
        this.#unread = read;
        this.#isFresh = true;
      } else if (read === undefined) await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }

  async #read(): Promise<number | undefined> {
    const targets = this.#targets();
    const { http } = targets[this.#turn % targets.length]!;
    try {
      const reply = await fetch(`${http}/api/emails?pageSize=1`, {
        headers: { authorization: `Bearer ${this.account.key}` },
        signal: AbortSignal.timeout(5_000),
      });
      if (!reply.ok) return undefined;
      return ((await reply.json()) as { readonly unreadCount: number }).unreadCount;
    } catch {
      return undefined;
    }
  }

  #moveOn(): void {
    this.#turn++;
    this.#hub.baseUrl = this.#url();
  }

  #url(): string {
    const targets = this.#targets();
    return `${targets[this.#turn % targets.length]!.http}/hubs/email${this.resumes ? '?resume=true' : ''}`;
  }
}
