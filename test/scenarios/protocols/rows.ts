// Has one row for each mail listener of a node, by its name in the ready line: how a client speaks to it, how it refuses and ends, and
// how the tests of this folder open it. A listener without a row does not compile.
import type { ExecutionContext } from 'ava';
import type { Subject } from 'rxjs';
import { certificates } from '../../../dev/certificate.js';
import type { GuardLimits } from '../../../src/auth/login-guard.js';
import type { TokenVerifier } from '../../../src/auth/oidc/token-verifier.js';
import type { CertificateSource } from '../../../src/net/tcp/certificate-source.js';
import type { ConnectionLimiters } from '../../../src/net/tcp/connection-limits.js';
import { TrustedNetworks } from '../../../src/net/tcp/trusted-networks.js';
import type { Listeners } from '../../../src/node/listeners/listeners.js';
import { ALICE as ACCOUNT, startImap } from '../../gateways/imap/gateway.js';
import { startPop3 } from '../../gateways/pop3/gateway.js';
import { listen as listenForMail } from '../../gateways/smtp/listener.js';
import { listenForSubmission } from '../../gateways/smtp/submission-listener.js';

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
interface TestAccounts {
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

/** Every listener but those of HTTP. */
export type MailListener = Exclude<keyof Listeners, 'http' | 'https' | 'acme' | 'metrics'>;

export const ALICE = 'alice@example.test';
export const BOB = 'bob@example.test';

const plain = (name: string, key: string) => Buffer.from(`\0${name}\0${key}`).toString('base64');

interface TestDirectory {
  readonly keys: Map<string, unknown>;
  readonly revokedKeys$: Subject<string>;
  readonly deletedAccounts$: Subject<string>;
  fault: Error | undefined;
}

function accountsOf(directory: TestDirectory, alice: string): TestAccounts {
  return {
    revoke(key) {
      directory.keys.delete(key);
      directory.revokedKeys$.next(key);
    },
    forget: (key) => void directory.keys.delete(key),
    deleteAlice: () => directory.deletedAccounts$.next(alice),
    fail(fault) {
      directory.fault = fault;
    },
  };
}

const NO_ACCOUNTS: TestAccounts = { revoke() {}, forget() {}, deleteAlice() {}, fail() {} };
const portOf = (address: string) => Number(address.replace(/^.*:/, ''));

const smtp = {
  greeting: /^220 /,
  hello: 'EHLO client.test',
  isLast: (line: string) => /^\d{3} /.test(line),
  noop: 'NOOP',
  done: /^250 /,
  startTls: 'STARTTLS',
  goAhead: /^220 /,
  quit: 'QUIT',
  idle: /^421 4\.4\.2 Timeout/,
  addressFull: /^421 4\.7\.0 Too many connections from your address/,
  full: /^421 4\.3\.2 Too many connections/,
  stopping: /^421 4\.3\.2 Service closing/,
};

const mx: ProtocolRow = {
  ...smtp,
  implicitTls: false,
  injected: ['EHLO evil.test', 'MAIL FROM:<evil@peer.test>'],
  probe: 'RCPT TO:<alice@example.test>',
  untouched: /^503 /,
  login: undefined,
  async listen(t, { limits, trusted = [], tls = certificates }) {
    const { address, listener, logged } = await listenForMail(t, {
      ...(limits && { limits }),
      trusted: new TrustedNetworks(trusted),
      tls,
    });
    return {
      port: portOf(address),
      connections: () => listener.connections,
      logged,
      accounts: NO_ACCOUNTS,
      beginDrain: () => listener.beginDrain(),
    };
  },
};

function submission(implicitTls: boolean): ProtocolRow {
  return {
    ...smtp,
    implicitTls,
    injected: ['EHLO evil.test', `AUTH PLAIN ${plain(ALICE, 'alice-key')}`],
    probe: `MAIL FROM:<${ALICE}>`,
    untouched: /^530 /,
    login: {
      command: (name, key) => `AUTH PLAIN ${plain(name, key)}`,
      sasl: 'AUTH ',
      otherKey: 'app-key',
      cancelsAfterFailure: true,
      endsWithToken: false,
      open: /^235 2\.7\.0 /,
      wrong: /^535 5\.7\.8 Auth/,
      scopeMissing: /^535 5\.7\.8 The API key needs/,
      limited: /^454 4\.7\.0 Too many/,
      tooManyConnections: /^421 4\.7\.0 Too many connections of your account/,
      unavailable: /^454 4\.7\.0 Credentials cannot be checked/,
      needsTls: /^538 5\.7\.11 /,
      notOffered: /^504 5\.5\.4 /,
      malformed: /^501 5\.5\.2 /,
      cancelled: /^501 5\.7\.0 /,
      noLogin: /^421 4\.4\.2 No login/,
      tooManyFailures: /^421 4\.7\.0 Too many failed logins/,
      revoked: /^421 4\.7\.0 /,
    },
    async listen(t, { limits, trusted = [], tls = certificates, ...settings }) {
      const { address, listener, logged, directory } = await listenForSubmission(t, {
        ...settings,
        implicitTls,
        ...(limits && { limits }),
        trusted: new TrustedNetworks(trusted),
        tls,
      });
      const accounts = accountsOf(directory, 'alice');
      return {
        port: portOf(address),
        connections: () => listener.connections,
        logged,
        accounts,
        beginDrain: () => listener.beginDrain(),
      };
    },
  };
}

function imap(implicitTls: boolean): ProtocolRow {
  return {
    implicitTls,
    greeting: /^\* OK /,
    isLast: (line) => line.startsWith('x '),
    noop: 'x NOOP',
    done: /^x OK /,
    startTls: 'x STARTTLS',
    goAhead: /^x OK /,
    quit: 'x LOGOUT',
    injected: [`y LOGIN ${ALICE} alice-key`, 'y SELECT INBOX'],
    probe: 'x LIST "" "*"',
    untouched: /^x BAD Log in first/,
    idle: /^\* BYE .*idle/,
    addressFull: /^\* BYE \[LIMIT\] Too many connections from your address/,
    full: /^\* BYE \[UNAVAILABLE\] Too many connections/,
    stopping: /^\* BYE \[UNAVAILABLE\] The server is stopping/,
    login: {
      command: (name, key) => `x LOGIN ${name} ${key}`,
      sasl: 'x AUTHENTICATE ',
      otherKey: 'smtp-key',
      cancelsAfterFailure: false,
      endsWithToken: true,
      open: /^x OK \[CAPABILITY /,
      wrong: /^x NO \[AUTHENTICATIONFAILED\]/,
      scopeMissing: /^x NO \[AUTHORIZATIONFAILED\]/,
      limited: /^x NO \[LIMIT\] Too many wrong/,
      tooManyConnections: /^x NO \[LIMIT\] Too many connections of your account/,
      unavailable: /^x NO \[UNAVAILABLE\]/,
      needsTls: /^x NO \[PRIVACYREQUIRED\]/,
      notOffered: /^x NO \[CANNOT\]/,
      malformed: /^x BAD Malformed response/,
      cancelled: /^x BAD Authentication cancelled/,
      noLogin: /^\* BYE No login in time/,
      tooManyFailures: /^\* BYE \[LIMIT\] Too many failed logins/,
      revoked: /^\* BYE \[EXPIRED\]/,
    },
    async listen(t, settings) {
      const { port, listener, logged, directory } = await startImap(t, { ...settings, implicitTls });
      return {
        port,
        connections: () => listener.connections,
        logged,
        accounts: accountsOf(directory, ACCOUNT),
        beginDrain: () => listener.beginDrain(),
      };
    },
  };
}

function pop3(implicitTls: boolean): ProtocolRow {
  const isLast = (line: string) => /^(\+OK|-ERR)/.test(line);
  return {
    implicitTls,
    greeting: /^\+OK /,
    isLast,
    noop: 'LANG en',
    done: /^\+OK /,
    startTls: 'STLS',
    goAhead: /^\+OK /,
    quit: 'QUIT',
    injected: [`AUTH PLAIN ${plain(ALICE, 'alice-key')}`, 'STAT'],
    probe: 'STAT',
    untouched: /^-ERR /,
    idle: /^-ERR .*idle/,
    addressFull: /^-ERR \[SYS\/TEMP\] Too many connections from your address/,
    full: /^-ERR \[SYS\/TEMP\] Too many connections, /,
    stopping: /^-ERR \[SYS\/TEMP\] The server is stopping/,
    login: {
      command: (name, key) => `AUTH PLAIN ${plain(name, key)}`,
      sasl: 'AUTH ',
      otherKey: 'imap-key',
      cancelsAfterFailure: false,
      endsWithToken: true,
      open: /^\+OK Logged in/,
      wrong: /^-ERR \[AUTH\] Credentials invalid/,
      scopeMissing: /^-ERR \[AUTH\] The API key needs/,
      limited: /^-ERR \[SYS\/TEMP\] Too many wrong credentials/,
      tooManyConnections: /^-ERR \[SYS\/TEMP\] Too many connections of your account/,
      unavailable: /^-ERR \[SYS\/TEMP\] Temporary failure/,
      needsTls: /^-ERR Encryption required/,
      notOffered: /^-ERR Mechanism not offered/,
      malformed: /^-ERR Malformed response/,
      cancelled: /^-ERR Authentication cancelled/,
      noLogin: /^-ERR No login in time/,
      tooManyFailures: /^-ERR \[AUTH\] Credentials invalid/,
      revoked: /^-ERR \[AUTH\] The credential is no longer valid/,
    },
    async listen(t, settings) {
      const { port, listener, logged, directory } = await startPop3(t, { ...settings, implicitTls });
      return {
        port,
        connections: () => listener.connections,
        logged,
        accounts: accountsOf(directory, ACCOUNT),
        beginDrain: () => listener.beginDrain(),
      };
    },
  };
}

const ROWS: Readonly<Record<MailListener, ProtocolRow>> = {
  mx,
  submission: submission(false),
  submissions: submission(true),
  imap: imap(false),
  imaps: imap(true),
  pop3: pop3(false),
  pop3s: pop3(true),
};

export const rows: readonly (readonly [name: MailListener, row: ProtocolRow])[] = Object.entries(ROWS) as [
  MailListener,
  ProtocolRow,
][];
