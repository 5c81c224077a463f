// Tells connections that asked for it what the directory has changed of their account, on any node or by a command: its sessions, its quota,
// and whether it may send. The log of the mailbox has none of this: a notice is no event that a client resumes, and says only that there
// is something else to read now (decisions 0116 and 0117).
import type { Logger } from 'pino';
import { Subscription } from 'rxjs';
import type { AccountNotice, Directory } from '../../actors/directory/protocol.js';
import type { Caller } from './methods.js';
import { eventMessage } from './protocols/hub-messages.js';
import { deliverShared } from './shared-frames.js';

type About = AccountNotice['about'];

export interface AccountNoticesOptions {
  readonly directory: Pick<Directory, 'accountNotices$' | 'missedChanges$'>;
  readonly log: Pick<Logger, 'error'>;
  /** A client for which more octets than this wait gets its notices when it has read them. */
  readonly pauseBytes: number;
}

/** What a connection asked for. */
export interface AskedNotices {
  readonly sessions: boolean;
  readonly changes: boolean;
}

const MESSAGES = {
  sessions: eventMessage('SessionsChanged', {}),
  quotas: eventMessage('QuotaChanged', {}),
  sending: eventMessage('SendingChanged', {}),
};
const OF_SESSIONS: readonly About[] = ['sessions'];
const OF_CHANGES: readonly About[] = ['quotas', 'sending'];
const ALL: readonly About[] = [...OF_SESSIONS, ...OF_CHANGES];

export class AccountNotices {
  readonly #pauseBytes: number;
  /** What each connection is told of, by account. */
  readonly #accounts = new Map<string, Map<Caller, readonly About[]>>();
  /** Clients that do not keep up, and what they are still to be told. */
  readonly #owed = new Map<Caller, Set<About>>();
  readonly #subscription = new Subscription();

  constructor({ directory, log, pauseBytes }: AccountNoticesOptions) {
    this.#pauseBytes = pauseBytes;
    const error = (err: unknown) =>
      log.error({ err }, 'clients are not told of sessions, quotas and suspensions any more');
    const { accountNotices$, missedChanges$ } = directory;
    const told = accountNotices$.subscribe({ next: ({ accountId, about }) => this.#tell(accountId, about), error });
    this.#subscription.add(told);
    this.#subscription.add(
      missedChanges$.subscribe({
        next: () => {
          for (const accountId of this.#accounts.keys()) for (const about of ALL) this.#tell(accountId, about);
        },
        error,
      }),
    );
  }

  /** Tells the connection until it closes. */
  follow(connection: Caller, { sessions, changes }: AskedNotices): void {
    if (!sessions && !changes) return;
    const asked = sessions && changes ? ALL : sessions ? OF_SESSIONS : OF_CHANGES;
    const { accountId } = connection;
    const connections = this.#accounts.get(accountId) ?? new Map();
    this.#accounts.set(accountId, connections.set(connection, asked));
    connection.add({
      drained: () => {
        const owed = this.#owed.get(connection);
        this.#owed.delete(connection);
        for (const about of owed ?? []) this.#send([connection], about);
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

  #tell(accountId: string, about: About): void {
    const connections = [...(this.#accounts.get(accountId) ?? [])];
    this.#send(
      connections.filter(([, asked]) => asked.includes(about)).map(([connection]) => connection),
      about,
    );
  }

  #send(connections: readonly Caller[], about: About): void {
    const ready = connections.filter((one) => one.bufferedBytes() <= this.#pauseBytes);
    for (const one of connections) {
      if (!ready.includes(one)) this.#owed.set(one, (this.#owed.get(one) ?? new Set()).add(about));
    }
    deliverShared(ready, (protocol) => protocol.encode(MESSAGES[about]));
  }
}
