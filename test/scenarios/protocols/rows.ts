// Has one row for each mail listener of a node, by its name in the ready line: how a client speaks to it, how it refuses and ends, and
// how the tests of this folder open it. A listener without a row does not compile.
import type { ExecutionContext } from 'ava';
import { certificates } from '../../../dev/certificate.js';
import type { GuardLimits } from '../../../src/auth/login-guard.js';
import type { CertificateSource } from '../../../src/net/tcp/certificate-source.js';
import { TrustedNetworks } from '../../../src/net/tcp/trusted-networks.js';
import type { Listeners } from '../../../src/node/listeners/listeners.js';
import { startImap } from '../../gateways/imap/gateway.js';
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
    readonly authFailures?: number;
  };
  readonly guard?: Partial<GuardLimits>;
  /** Networks whose PROXY headers are believed. */
  readonly trusted?: readonly string[];
  readonly tls?: CertificateSource;
}

export interface OpenListener {
  readonly port: number;
  /** The number of open connections. */
  connections(): number;
  readonly logged: readonly Record<string, unknown>[];
  /** Revokes a key. */
  revoke(key: string): void;
}

/** Logs in ALICE with `alice-key` and BOB with `bob-key`. */
export interface LoginRow {
  command(name: string, key: string): string;
  readonly open: RegExp;
  readonly wrong: RegExp;
  readonly limited: RegExp;
  /** These match the last line of a connection. */
  readonly noLogin: RegExp;
  readonly tooManyFailures: RegExp;
  readonly revoked: RegExp;
}

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
  /** These match the last line of a connection. */
  readonly idle: RegExp;
  readonly addressFull: RegExp;
  readonly full: RegExp;
  /** Undefined when mail is accepted from anyone. */
  readonly login: LoginRow | undefined;
  /** Opens a listener, which stops when the test ends. Replies to failed logins are not delayed. */
  listen(t: ExecutionContext, settings: ProtocolSettings): Promise<OpenListener>;
}

/** Every listener but HTTP and metrics. */
export type MailListener = Exclude<keyof Listeners, 'http' | 'metrics'>;

export const ALICE = 'alice@example.test';
export const BOB = 'bob@example.test';

const plain = (name: string, key: string) => Buffer.from(`\0${name}\0${key}`).toString('base64');
const portOf = (address: string) => Number(address.replace(/^.*:/, ''));

const smtp = {
  greeting: /^220 /,
  hello: 'EHLO client.test',
  isLast: (line: string) => /^\d{3} /.test(line),
  noop: 'NOOP',
  done: /^250 /,
  startTls: 'STARTTLS',
  goAhead: /^220 /,
  idle: /^421 4\.4\.2 Timeout/,
  addressFull: /^421 4\.7\.0 Too many connections from your address/,
  full: /^421 4\.3\.2 Too many connections/,
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
    return { port: portOf(address), connections: () => listener.connections, logged, revoke: () => {} };
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
      open: /^235 /,
      wrong: /^535 5\.7\.8 Auth/,
      limited: /^454 4\.7\.0 /,
      noLogin: /^421 4\.4\.2 No login/,
      tooManyFailures: /^421 4\.7\.0 Too many failed logins/,
      revoked: /^421 4\.7\.0 /,
    },
    async listen(t, { limits, guard, trusted = [], tls = certificates }) {
      const { address, listener, logged, directory } = await listenForSubmission(t, {
        implicitTls,
        ...(limits && { limits }),
        ...(guard && { guard }),
        trusted: new TrustedNetworks(trusted),
        tls,
      });
      const revoke = (key: string) => {
        directory.keys.delete(key);
        directory.revokedKeys$.next(key);
      };
      return { port: portOf(address), connections: () => listener.connections, logged, revoke };
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
    injected: [`y LOGIN ${ALICE} alice-key`, 'y SELECT INBOX'],
    probe: 'x LIST "" "*"',
    untouched: /^x BAD Log in first/,
    idle: /^\* BYE .*idle/,
    addressFull: /^\* BYE \[LIMIT\] Too many connections from your address/,
    full: /^\* BYE \[UNAVAILABLE\] Too many connections/,
    login: {
      command: (name, key) => `x LOGIN ${name} ${key}`,
      open: /^x OK /,
      wrong: /^x NO \[AUTHENTICATIONFAILED\]/,
      limited: /^x NO \[LIMIT\]/,
      noLogin: /^\* BYE No login in time/,
      tooManyFailures: /^\* BYE \[LIMIT\] Too many failed logins/,
      revoked: /^\* BYE \[EXPIRED\]/,
    },
    async listen(t, { limits, guard, trusted = [], tls = certificates }) {
      const { port, listener, logged, directory } = await startImap(t, {
        implicitTls,
        ...(limits && { limits }),
        ...(guard && { guard }),
        trusted,
        tls,
      });
      const revoke = (key: string) => directory.revoke(key);
      return { port, connections: () => listener.connections, logged, revoke };
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
    injected: [`AUTH PLAIN ${plain(ALICE, 'alice-key')}`, 'STAT'],
    probe: 'STAT',
    untouched: /^-ERR /,
    idle: /^-ERR .*idle/,
    addressFull: /^-ERR \[SYS\/TEMP\] Too many connections from your address/,
    full: /^-ERR \[SYS\/TEMP\] Too many connections, /,
    login: {
      command: (name, key) => `AUTH PLAIN ${plain(name, key)}`,
      open: /^\+OK /,
      wrong: /^-ERR \[AUTH\] Credentials invalid/,
      limited: /^-ERR \[SYS\/TEMP\] Too many wrong credentials/,
      noLogin: /^-ERR No login in time/,
      tooManyFailures: /^-ERR \[AUTH\] Credentials invalid/,
      revoked: /^-ERR \[AUTH\] The credential is no longer valid/,
    },
    async listen(t, { limits, guard, trusted = [], tls = certificates }) {
      const { port, listener, logged, directory } = await startPop3(t, {
        implicitTls,
        ...(limits && { limits }),
        ...(guard && { guard }),
        trusted,
        tls,
      });
      const revoke = (key: string) => directory.revoke(key);
      return { port, connections: () => listener.connections, logged, revoke };
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
