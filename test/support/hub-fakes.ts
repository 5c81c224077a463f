// The dependencies of a hub, in memory: a directory of keys, mailboxes whose events the test emits, a socket that remembers, and time that
// passes only when the test advances it.
import pino, { type Logger } from 'pino';
import { type Observable, Subject, startWith } from 'rxjs';
import type {
  AccountNotice,
  Directory,
  LoginClaims,
  LoginResult,
  Principal,
} from '../../src/actors/directory/protocol.js';
import type { MailboxEvent, Mailboxes } from '../../src/actors/mailbox/protocol.js';
import { Credentials } from '../../src/auth/credentials.js';
import type { TokenVerifier } from '../../src/auth/oidc/token-verifier.js';
import { createHub, type Hub, type HubOptions, type HubTiming } from '../../src/gateways/hub/hub.js';
import type { Socket, UpgradeRequest } from '../../src/gateways/web-socket.js';
import { SEEN } from '../../src/mail-format/flags.js';
import type { LoggedOutbound, NewEmail } from '../../src/store/changes/changes.js';
import type { Scope } from '../../src/store/directory.js';

export class FakeDirectory implements Directory {
  readonly principals = new Map<string, Principal>();
  readonly revokedKeys$ = new Subject<string>();
  readonly accountNotices$ = new Subject<AccountNotice>();
  readonly deletedAccounts$ = new Subject<string>();
  readonly missedChanges$ = new Subject<void>();
  anonymousPrincipal: Principal | undefined;
  /** The next look-ups throw this error. */
  fault: Error | undefined;

  addKey(token: string, accountId: string, scopes: readonly Scope[] = ['api:read']): Principal {
    const email = `${accountId}@example.test`;
    const principal = { accountId, email, scopes, keyId: `key-of-${token}`, serviceWide: false };
    this.principals.set(token, principal);
    return principal;
  }

  addSession(token: string, accountId: string): void {
    const sessionEnd = Date.now() + 3_600_000;
    this.principals.set(token, { ...this.addKey(token, accountId, ['app']), sessionEnd });
  }

  async authenticate(token: string): Promise<Principal | undefined> {
    if (this.fault !== undefined) throw this.fault;
    return this.principals.get(token);
  }

  noteUse(): void {}

  /** The subject of a login is the account's name. */
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

  async openUnclaimed(): Promise<never> {
    throw new Error('the hub asks for nobody to hold');
  }
}

export interface TestHubOptions extends Omit<HubOptions, 'credentials'> {
  readonly credentials?: Credentials;
  readonly tokens?: TokenVerifier;
}

/** Returns a hub that checks credentials with its own directory. */
export function testHub({ tokens, credentials, ...options }: TestHubOptions): Hub {
  const { directory } = options;
  return createHub({
    ...options,
    credentials: credentials ?? new Credentials({ directory, ...(tokens && { tokens }) }),
  });
}

type Batch = readonly MailboxEvent[];

export class FakeMailboxes {
  readonly #events = new Map<string, Subject<Batch>>();
  /** The number of calls of `events$()` so far. */
  followed = 0;
  /** True when a stream begins only when the test emits something. */
  late = false;

  readonly refs: Mailboxes = {
    of: (accountId) => ({
      position: undefined,
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

  /** Returns true when somebody follows the account. */
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
  binary = false;
  /** The same frames as `sent`. */
  readonly frames: Uint8Array[] = [];

  useBinary(): boolean {
    this.binary = true;
    return true;
  }

  send(octets: Uint8Array): boolean {
    if (!this.open) return false;
    this.frames.push(octets);
    this.sent.push(Buffer.from(octets).toString());
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

  /** Takes the hub messages that were sent since the last call, parsed. */
  takeMessages(): unknown[] {
    const text = this.sent.splice(0).join('');
    return text
      .split('\u001e')
      .slice(0, -1)
      .map((message) => JSON.parse(message));
  }
}

/** Ticks and deferred runs happen only when the test orders them. */
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

export function hubRequest(
  query = '',
  headers: Readonly<Record<string, string>> = {},
  isSecure = false,
): UpgradeRequest {
  const header = (name: string) => headers[name] ?? '';
  return { path: '/hubs/email', query, header, remoteAddress: '127.0.0.1', isSecure };
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

const NEW_EMAIL: NewEmail = {
  id: 'e1',
  blob: '00'.repeat(32),
  threadId: 'e1',
  messageId: '<1@remote.test>',
  inReplyTo: null,
  references: [],
  fromAddress: 'ann@remote.test',
  fromName: 'Ann',
  subject: 'Subject',
  preview: '',
  receivedAt: at,
  size: 100,
  hasAttachments: false,
  attachmentCount: 0,
  flags: 0,
  keywords: [],
};

export function emailAdded(emailId: string, seq = 1): MailboxEvent {
  const payload = {
    email: { ...NEW_EMAIL, id: emailId, subject: `Subject of ${emailId}` },
    placements: [],
    isNew: true,
  };
  return { type: 'EmailAdded', seq, n: 0, at, payload };
}

export function renamed(event: MailboxEvent, subject: string): MailboxEvent {
  if (event.type !== 'EmailAdded') throw new Error('not an added email');
  return { ...event, payload: { ...event.payload, email: { ...event.payload.email, subject } } };
}

export function readChanged(emailId: string, isRead: boolean, seq = 1): MailboxEvent {
  return { type: 'FlagsChanged', seq, n: 0, at, payload: { emailId, flags: isRead ? SEEN : 0, changed: SEEN } };
}

export function emailRemoved(emailId: string, seq = 1): MailboxEvent {
  return { type: 'EmailRemoved', seq, n: 0, at, payload: { emailId, placements: [] } };
}

export function unreadCount(unread: number, seq = 1): MailboxEvent {
  return { type: 'UnreadCountChanged', seq, n: 1, at, payload: { unread } };
}

const OUTBOUND: LoggedOutbound = {
  id: 'o1',
  status: 'Queued',
  blob: '00'.repeat(32),
  sender: 'me@example.test',
  subject: 'Subject',
  messageId: null,
  inReplyTo: null,
  references: [],
  size: 100,
  emailId: 'e1',
  createdAt: at,
  updatedAt: at,
  queuedAt: at,
  sentAt: null,
  retryCount: 0,
  nextRetryAt: null,
  heldUntil: null,
  awaitsRelease: false,
  lastError: null,
  attempt: null,
  dsnDue: null,
  dsnAt: null,
  dsn: null,
  delayReported: false,
};

/** Returns the event of a draft that was created or changed. */
export function draftChanged(outboundId: string, isNew: boolean): MailboxEvent {
  const outbound: LoggedOutbound = { ...OUTBOUND, id: outboundId, status: 'Draft' };
  return {
    type: 'OutboundChanged',
    seq: 1,
    n: 0,
    at,
    payload: { outbound, before: isNew ? null : 'Draft', passed: [] },
  };
}

export function statusChanged(outboundId: string, status: 'Sending' | 'Sent', seq = 1): MailboxEvent {
  const outbound = { ...OUTBOUND, id: outboundId, status };
  return { type: 'OutboundChanged', seq, n: 0, at, payload: { outbound, before: 'Queued', passed: [status] } };
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
  return { type: 'DeliveryAttempted', seq, n: 0, at, payload: { outboundId, attempt } };
}
