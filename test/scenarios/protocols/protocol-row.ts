// Says what the tests of this folder know of a mail listener: how a client speaks to it, how it refuses and ends, and how they open it.
import type { ExecutionContext } from 'ava';
import type { GuardLimits } from '../../../src/auth/login-guard.js';
import type { TokenVerifier } from '../../../src/auth/oidc/token-verifier.js';
import type { CertificateSource } from '../../../src/net/tcp/certificate-source.js';
import type { ConnectionLimiters } from '../../../src/net/tcp/connection-limits.js';

export interface ProtocolSettings {
  readonly limits?: {
    readonly idleMs?: number;
    /** Only listeners with logins have it. */
    readonly loginMs?: number;
    readonly stressLoginMs?: number;
    readonly handshakeMs?: number;
    readonly connections?: number;
    readonly connectionsPerAddress?: number;
    readonly connectionsPerAccount?: number;
    readonly authFailures?: number;
    /** Only IMAP and POP3 have it. */
    readonly recheckMs?: number;
  };
  readonly guard?: Partial<GuardLimits>;
  /** Only IMAP and POP3 have it. */
  readonly limiters?: ConnectionLimiters;
  readonly allowPlaintextAuth?: boolean;
  readonly tokens?: TokenVerifier;
  /** Clock of the logins, in ms. */
  readonly now?: () => number;
  /** Networks whose PROXY headers are believed. */
  readonly trusted?: readonly string[];
  readonly tls?: CertificateSource;
}

export interface OpenListener {
  readonly port: number;
  /** The number of open connections. */
  connections(): number;
  readonly logged: readonly Record<string, unknown>[];
  readonly accounts: TestAccounts;
  beginDrain(): void;
}

/** The accounts of a listener with logins. */
export interface TestAccounts {
  revoke(key: string): void;
  /** The key ends, and the listener is not told. */
  forget(key: string): void;
  deleteAlice(): void;
  /** Every look-up fails from now on; `undefined`: no longer. */
  fail(fault: Error | undefined): void;
}

/** Logs in ALICE with `alice-key` and BOB with `bob-key`. */
export interface LoginRow extends Readonly<Record<LoginOutcome, RegExp>> {
  command(name: string, key: string): string;
  /** The command of SASL; it ends with the name of the mechanism, or with the initial response. */
  readonly sasl: string;
  /** Quotes a mechanism or a response, where the protocol has them in strings. */
  readonly asString?: (text: string) => string;
  /** A key of alice without the scope of the protocol. */
  readonly otherKey: string;
  /** Whether a client may also cancel in answer to the report of a failure. */
  readonly cancelsAfterFailure: boolean;
  /** Whether a session ends when its token expires, and not with the next command. */
  readonly endsWithToken: boolean;
  /** These match the last line of a connection. */
  readonly noLogin: RegExp;
  readonly tooManyFailures: RegExp;
  readonly revoked: RegExp;
}

/** Replies, but `revoked`, `noLogin` and `tooManyFailures`. */
export type LoginOutcome =
  | 'open'
  | 'wrong'
  | 'scopeMissing'
  | 'limited'
  | 'tooManyConnections'
  | 'unavailable'
  | 'needsTls'
  | 'notOffered'
  | 'malformed'
  | 'cancelled';

export interface ProtocolRow {
  readonly implicitTls: boolean;
  readonly greeting: RegExp;
  /** The greeting is a whole reply, whose first line `greeting` matches, and comes again after STARTTLS. */
  readonly greetsInReply?: true;
  /** It is sent after the greeting, and again after the handshake. */
  readonly hello?: string;
  /** Says whether the line is the last of a reply. */
  isLast(line: string): boolean;
  /** A command that does nothing, also before the login; `done` matches the last line of its reply. */
  readonly noop: string;
  readonly done: RegExp;
  readonly startTls: string;
  readonly goAhead: RegExp;
  /** Commands that would have an effect; `probe` shows it, and `untouched` matches its reply when there is none. */
  readonly injected: readonly string[];
  readonly probe: string;
  readonly untouched: RegExp;
  /** Ends the session. */
  readonly quit: string;
  /** These match the last line of a connection. */
  readonly idle: RegExp;
  readonly addressFull: RegExp;
  readonly full: RegExp;
  readonly stopping: RegExp;
  /** Undefined when mail is accepted from anyone. */
  readonly login: LoginRow | undefined;
  /** Opens a listener, which stops when the test ends. Replies to failed logins are not delayed. */
  listen(t: ExecutionContext, settings: ProtocolSettings): Promise<OpenListener>;
}
