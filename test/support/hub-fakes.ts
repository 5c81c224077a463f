// What a hub stands on, in memory: a directory of keys, mailboxes whose events the test emits, a socket that remembers,
// and time that passes when the test says so.
import pino, { type Logger } from 'pino';
import { type Observable, Subject, startWith } from 'rxjs';
import type { MailboxEvent, Mailboxes } from '../../src/actors/mailbox/protocol.js';
import type { Directory, LoginClaims, LoginResult, Principal } from '../../src/directory/protocol.js';
import type { HubTiming } from '../../src/gateways/hub/hub.js';
import type { Socket, UpgradeRequest } from '../../src/gateways/web-socket.js';
import type { Scope } from '../../src/store/directory.js';

export class FakeDirectory implements Directory {
  readonly principals = new Map<string, Principal>();
  readonly revokedKeys$ = new Subject<string>();
  readonly deletedAccounts$ = new Subject<string>();
  anonymousPrincipal: Principal | undefined;
  /** Thrown by the next look-ups. */
  fault: Error | undefined;

  addKey(token: string, accountId: string, scopes: readonly Scope[] = ['api:read']): Principal {
    const email = `${accountId}@example.test`;
    const principal = { accountId, email, scopes, keyId: `key-of-${token}`, serviceWide: false };
    this.principals.set(token, principal);
    return principal;
  }

  async authenticate(token: string): Promise<Principal | undefined> {
    if (this.fault !== undefined) throw this.fault;
    return this.principals.get(token);
  }

  /** Accounts are called like the subjects of their logins. */
  async login({ subject }: LoginClaims): Promise<LoginResult> {
    const email = `${subject}@example.test`;
    return { principal: { accountId: subject, email, scopes: ['app'], keyId: null, serviceWide: false } };
  }

  async isAddressOf(): Promise<never> {
    throw new Error('not asked by the hub');
  }

  async anonymous(): Promise<Principal | undefined> {
    return this.anonymousPrincipal;
  }

  async recipient(): Promise<never> {
    throw new Error('the hub asks for no recipient');
  }

  async hold(): Promise<never> {
    throw new Error('the hub asks for nobody to hold');
  }
}

type Batch = readonly MailboxEvent[];

export class FakeMailboxes {
  readonly #events = new Map<string, Subject<Batch>>();
  /** Calls of `events$()` so far. */
  followed = 0;
  /** Streams stand once the test emits something. */
  late = false;

  readonly refs: Mailboxes = {
    of: (accountId) => ({
      ask: () => Promise.reject(new Error('the hub asks nothing of a mailbox')),
      events$: (): Observable<Batch> => {
        this.followed++;
        const events = this.events(accountId);
        return this.late ? events : events.pipe(startWith([]));
      },
      resume: () => Promise.reject(new Error('there is no log')),
    }),
  };

  events(accountId: string): Subject<Batch> {
    let events = this.#events.get(accountId);
    if (events === undefined) {
      events = new Subject<Batch>();
      this.#events.set(accountId, events);
    }
    return events;
  }

  /** Whether anybody follows the account. */
  isFollowed(accountId: string): boolean {
    return this.events(accountId).observed;
  }
}

export class FakeSocket implements Socket {
  readonly sent: string[] = [];
  buffered = 0;
  open = true;
  closedWith: number | undefined;
  terminated = false;

  send(text: Uint8Array): boolean {
    if (!this.open) return false;
    this.sent.push(Buffer.from(text).toString());
    return true;
  }

  bufferedBytes(): number {
    return this.buffered;
  }

  close(code: number): void {
    this.open = false;
    this.closedWith = code;
  }

  terminate(): void {
    this.open = false;
    this.terminated = true;
  }

  /** Takes what was sent since the last time: hub messages, parsed. */
  takeMessages(): unknown[] {
    const text = this.sent.splice(0).join('');
    return text
      .split('\u001e')
      .slice(0, -1)
      .map((message) => JSON.parse(message));
  }
}

/** Ticks and deferred runs happen when told. */
export class FakeTiming implements HubTiming {
  #tick: (() => void) | undefined;
  #tickMs = 0;
  #deferred: (() => void)[] = [];

  get isTicking(): boolean {
    return this.#tick !== undefined;
  }

  every(ms: number, tick: () => void): () => void {
    this.#tick = tick;
    this.#tickMs = ms;
    return () => {
      this.#tick = undefined;
    };
  }

  defer(run: () => void): void {
    this.#deferred.push(run);
  }

  pass(ms: number): void {
    for (let t = 0; t < ms; t += this.#tickMs) this.#tick?.();
  }

  flush(): void {
    for (const run of this.#deferred.splice(0)) run();
  }
}

export function hubRequest(query = '', headers: Readonly<Record<string, string>> = {}): UpgradeRequest {
  return { path: '/hubs/email', query, header: (name) => headers[name] ?? '', remoteAddress: '127.0.0.1' };
}

export interface LogLine {
  readonly level: number;
  readonly msg: string;
  readonly [field: string]: unknown;
}

export function recordingLog(): { readonly log: Logger; readonly lines: LogLine[]; readonly text: () => string } {
  const raw: string[] = [];
  const lines: LogLine[] = [];
  const write = (line: string) => {
    raw.push(line);
    lines.push(JSON.parse(line) as LogLine);
  };
  return { log: pino({ level: 'trace' }, { write }), lines, text: () => raw.join('') };
}

const at = Date.UTC(2026, 4, 1, 12);

export function emailDelivered(emailId: string, seq = 1): MailboxEvent {
  const payload = {
    emailId,
    fromAddress: 'ann@remote.test',
    fromDisplayName: 'Ann',
    subject: `Subject of ${emailId}`,
    receivedAt: at,
    hasAttachments: false,
    isRead: false,
  };
  return { type: 'EmailDelivered', seq, n: 0, at, payload };
}

export function readChanged(emailId: string, isRead: boolean, seq = 1): MailboxEvent {
  return { type: 'EmailReadChanged', seq, n: 0, at, payload: { emailId, isRead } };
}

export function emailRemoved(emailId: string, seq = 1): MailboxEvent {
  return { type: 'EmailRemoved', seq, n: 0, at, payload: { emailId } };
}

export function unreadCount(unread: number, seq = 1): MailboxEvent {
  return { type: 'UnreadCountChanged', seq, n: 1, at, payload: { unread } };
}

export function statusChanged(outboundId: string, status: 'Sending' | 'Sent', seq = 1): MailboxEvent {
  return { type: 'OutboundStatusChanged', seq, n: 0, at, payload: { outboundId, status } };
}

export function attempted(outboundId: string, seq = 1): MailboxEvent {
  const attempt = {
    id: 'a1',
    at,
    durationMs: 12,
    domain: 'remote.test',
    host: 'mx.remote.test',
    remoteAddress: '192.0.2.1',
    tls: null,
    reply: '250 2.0.0 OK',
    recipients: [{ id: 'r1', outcome: 'delivered' as const, statusCode: '2.0.0' }],
  };
  return { type: 'OutboundAttempted', seq, n: 0, at, payload: { outboundId, attempt } };
}
