// Tells connections that asked for it when a browser was signed in to their account or out of it, on any node or by a command. Sessions are
// in the directory and not in the log of a mailbox: a notice is no event that a client resumes, and says only that the list of sessions is
// another one (decision 0117).
import type { Logger } from 'pino';
import { Subscription } from 'rxjs';
import type { Directory } from '../../actors/directory/protocol.js';
import type { Caller } from './methods.js';
import { eventMessage } from './protocols/hub-messages.js';
import { deliverShared } from './shared-frames.js';

export interface SessionNoticesOptions {
  readonly directory: Pick<Directory, 'changedSessions$' | 'missedChanges$'>;
  readonly log: Pick<Logger, 'error'>;
  /** A client for which more octets than this wait gets its notice when it has read them. */
  readonly pauseBytes: number;
}

const NOTICE = eventMessage('SessionsChanged', {});

export class SessionNotices {
  readonly #pauseBytes: number;
  readonly #accounts = new Map<string, Set<Caller>>();
  /** Clients that do not keep up, and to which a notice is owed. */
  readonly #owed = new Set<Caller>();
  readonly #subscription = new Subscription();

  constructor({ directory, log, pauseBytes }: SessionNoticesOptions) {
    this.#pauseBytes = pauseBytes;
    const error = (err: unknown) => log.error({ err }, 'clients are not told of sessions any more');
    const { changedSessions$, missedChanges$ } = directory;
    this.#subscription.add(changedSessions$.subscribe({ next: (accountId) => this.#tell(accountId), error }));
    this.#subscription.add(
      missedChanges$.subscribe({
        next: () => {
          for (const accountId of this.#accounts.keys()) this.#tell(accountId);
        },
        error,
      }),
    );
  }

  /** Tells the connection until it closes. */
  follow(connection: Caller): void {
    const { accountId } = connection;
    const connections = this.#accounts.get(accountId) ?? new Set();
    this.#accounts.set(accountId, connections.add(connection));
    connection.add({
      drained: () => {
        if (this.#owed.delete(connection)) this.#send([connection]);
      },
      visit() {},
      end: () => {
        this.#owed.delete(connection);
        connections.delete(connection);
        if (connections.size === 0) this.#accounts.delete(accountId);
      },
    });
  }

  close(): void {
    this.#subscription.unsubscribe();
  }

  #tell(accountId: string): void {
    this.#send([...(this.#accounts.get(accountId) ?? [])]);
  }

  #send(connections: readonly Caller[]): void {
    const ready = connections.filter((one) => one.bufferedBytes() <= this.#pauseBytes);
    for (const one of connections) if (!ready.includes(one)) this.#owed.add(one);
    deliverShared(ready, (protocol) => protocol.encode(NOTICE));
  }
}
