// Has one row for each mail listener of a node, by its name in the ready line. A listener without a row does not compile.
import type { Subject } from 'rxjs';
import { certificates } from '../../../dev/certificate.js';
import { TrustedNetworks } from '../../../src/net/tcp/trusted-networks.js';
import type { Listeners } from '../../../src/node/listeners/listeners.js';
import { ALICE as ACCOUNT, startImap } from '../../gateways/imap/gateway.js';
import { startPop3 } from '../../gateways/pop3/gateway.js';
import { startSieve } from '../../gateways/sieve/gateway.js';
import { listen as listenForMail } from '../../gateways/smtp/listener.js';
import { listenForSubmission } from '../../gateways/smtp/submission-listener.js';
import type { ProtocolRow, TestAccounts } from './protocol-row.js';

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

const quoted = (text: string) => `"${text}"`;

const sieve: ProtocolRow = {
  implicitTls: false,
  greeting: /^"IMPLEMENTATION" "Mansio"/,
  greetsInReply: true,
  isLast: (line) => /^(?:OK|NO|BYE)\b/.test(line),
  noop: 'NOOP',
  done: /^OK "Done"/,
  startTls: 'STARTTLS',
  goAhead: /^OK "Begin TLS/,
  quit: 'LOGOUT',
  injected: [`AUTHENTICATE "PLAIN" "${plain(ALICE, 'alice-key')}"`, 'LISTSCRIPTS'],
  probe: 'LISTSCRIPTS',
  untouched: /^NO "Log in first"/,
  idle: /^BYE ".*idle/,
  addressFull: /^BYE \(TRYLATER\) "Too many connections from your address/,
  full: /^BYE \(TRYLATER\) "Too many connections, /,
  stopping: /^BYE \(TRYLATER\) "The server is stopping/,
  login: {
    command: (name, key) => `AUTHENTICATE "PLAIN" "${plain(name, key)}"`,
    sasl: 'AUTHENTICATE ',
    asString: quoted,
    otherKey: 'smtp-key',
    cancelsAfterFailure: false,
    endsWithToken: true,
    open: /^OK "Logged in/,
    wrong: /^NO "Credentials invalid/,
    scopeMissing: /^NO "The API key needs/,
    limited: /^NO \(TRYLATER\) "Too many wrong credentials/,
    tooManyConnections: /^NO \(TRYLATER\) "Too many connections of your account/,
    unavailable: /^NO \(TRYLATER\) "Temporary failure/,
    needsTls: /^NO \(ENCRYPT-NEEDED\) "Encryption required/,
    notOffered: /^NO "Mechanism not offered/,
    malformed: /^NO "Malformed response/,
    cancelled: /^NO "Authentication cancelled/,
    noLogin: /^BYE "No login in time/,
    tooManyFailures: /^NO "Credentials invalid/,
    revoked: /^BYE "The credential is no longer valid/,
  },
  async listen(t, settings) {
    const { port, listener, logged, directory } = await startSieve(t, settings);
    return {
      port,
      connections: () => listener.connections,
      logged,
      accounts: accountsOf(directory, ACCOUNT),
      beginDrain: () => listener.beginDrain(),
    };
  },
};

const ROWS: Readonly<Record<MailListener, ProtocolRow>> = {
  mx,
  submission: submission(false),
  submissions: submission(true),
  imap: imap(false),
  imaps: imap(true),
  pop3: pop3(false),
  pop3s: pop3(true),
  sieve,
};

export const rows: readonly (readonly [name: MailListener, row: ProtocolRow])[] = Object.entries(ROWS) as [
  MailListener,
  ProtocolRow,
][];
