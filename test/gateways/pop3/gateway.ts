// A POP3 listener on a free port over real mailboxes in memory, with accounts and keys.
import net from 'node:net';
import type { ExecutionContext } from 'ava';
import pino from 'pino';
import { type GuardLimits, LoginGuard } from '../../../src/auth/login-guard.js';
import { type LoginMeter, SignIn, type SignInOptions } from '../../../src/auth/sign-in.js';
import type { Principal } from '../../../src/directory/protocol.js';
import type { Pop3Context } from '../../../src/gateways/pop3/context.js';
import { DEFAULT_LIMITS, type Pop3Limits } from '../../../src/gateways/pop3/limits.js';
import { NO_METER, type Pop3Meter } from '../../../src/gateways/pop3/meter.js';
import { startPop3 as listen } from '../../../src/gateways/pop3/server.js';
import type { CertificateSource } from '../../../src/gateways/tcp/certificate-source.js';
import type { ConnectionShares } from '../../../src/gateways/tcp/connection-limits.js';
import type { TcpListener } from '../../../src/gateways/tcp/tcp-listener.js';
import { TrustedNetworks } from '../../../src/gateways/tcp/trusted-networks.js';
import { indexMessage } from '../../../src/mail/mime-index/indexer.js';
import { summarize } from '../../../src/mail/summary.js';
import { certificates } from '../../support/certificate.js';
import { memoryFolderMessages } from '../../support/memory-stores/folder-messages.js';
import { FakeBlobs } from '../http/fakes.js';
import { startMailboxes, type TestMailboxes } from '../http/mailboxes.js';
import { ALICE, ALICE_EMAIL, BOB, BOB_EMAIL, ImapDirectory } from '../imap/gateway.js';
import { Pop3Client } from './client.js';

export { ALICE, ALICE_EMAIL, BOB, BOB_EMAIL };

/** Keys by their text: `alice-key` and `bob-key` (pop3), `app-key` (app) and `imap-key` (imap) of alice. */
class Pop3Directory extends ImapDirectory {
  constructor() {
    super();
    this.keys.clear();
    const rows: readonly [string, string, string, Principal['scopes'][number]][] = [
      ['alice-key', ALICE, ALICE_EMAIL, 'pop3'],
      ['app-key', ALICE, ALICE_EMAIL, 'app'],
      ['imap-key', ALICE, ALICE_EMAIL, 'imap'],
      ['bob-key', BOB, BOB_EMAIL, 'pop3'],
    ];
    for (const [keyId, accountId, email, scope] of rows) {
      this.keys.set(keyId, { accountId, email, scopes: [scope], keyId, serviceWide: false });
    }
  }
}

export interface Pop3Settings extends Partial<Omit<Pop3Context, 'limits' | 'meter' | 'mailboxes'>> {
  readonly limits?: Partial<Pop3Limits>;
  readonly meter?: Partial<Pop3Meter>;
  readonly implicitTls?: boolean;
  readonly shares?: ConnectionShares;
  readonly guard?: Partial<GuardLimits>;
  readonly logins?: LoginMeter;
  readonly tokens?: SignInOptions['tokens'];
  /** ms, of the logins. */
  readonly now?: () => number;
  /** Networks whose PROXY header is believed. */
  readonly trusted?: readonly string[];
  readonly tls?: CertificateSource;
}

export interface Pop3Gateway {
  readonly listener: TcpListener;
  readonly port: number;
  readonly directory: ImapDirectory;
  readonly mailboxes: TestMailboxes;
  readonly blobs: FakeBlobs;
  readonly logged: Record<string, unknown>[];
  /** Greeted; with TLS where the listener begins with that. */
  connect(): Promise<Pop3Client>;
  /** Logged in as alice, or with another key. */
  open(key?: string): Promise<Pop3Client>;
  /** Logged in as soon as no other session has the maildrop. */
  reopen(key?: string): Promise<Pop3Client>;
  /** Puts a message into the account's inbox as mail that came in; one character is one octet. */
  deliver(accountId: string, message: string | Uint8Array): Promise<string>;
}

/** Stopped when the test ends. Credentials are taken without TLS. */
export async function startPop3(t: ExecutionContext, settings: Pop3Settings = {}): Promise<Pop3Gateway> {
  const {
    limits,
    meter,
    implicitTls = false,
    shares,
    guard,
    logins,
    tokens,
    now,
    trusted = [],
    tls = certificates,
    ...overrides
  } = settings;
  const directory = new Pop3Directory();
  const blobs = new FakeBlobs();
  const mailboxes = await startMailboxes(blobs);
  const logged: Record<string, unknown>[] = [];
  const log = pino(
    { level: 'debug' },
    { write: (line: string) => void logged.push(JSON.parse(line) as Record<string, unknown>) },
  );
  const context: Pop3Context = {
    hostname: 'mail.example.test',
    version: '1.2.3',
    allowPlaintextAuth: true,
    signIn: new SignIn({
      directory,
      guard: new LoginGuard({ delayMs: 0, ...guard }),
      ...(logins && { meter: logins }),
      ...(tokens && { tokens }),
      ...(now && { now }),
    }),
    mailboxes: mailboxes.refs,
    messages: memoryFolderMessages(mailboxes.tables, blobs),
    blobs,
    ...overrides,
    limits: { ...DEFAULT_LIMITS, ...limits },
    meter: { ...NO_METER, ...meter },
  };
  const listener = await listen({
    bind: '127.0.0.1',
    port: 0,
    implicitTls,
    tls,
    trusted: new TrustedNetworks(trusted),
    context,
    ...(shares && { shares }),
    log,
  });
  t.teardown(async () => {
    await listener.stop(0);
    await mailboxes.end();
  });
  for (const account of [ALICE, BOB]) mailboxes.account(account);
  const port = Number(listener.address.split(':')[1]);
  let delivered = 0;
  const connect = async (): Promise<Pop3Client> => {
    const client = new Pop3Client(net.connect(port, '127.0.0.1'));
    if (implicitTls) await client.secure();
    await client.line();
    return client;
  };
  const tryToOpen = async (key: string): Promise<readonly [Pop3Client, string]> => {
    const client = await connect();
    await client.command(`USER ${key === 'bob-key' ? BOB_EMAIL : ALICE_EMAIL}`);
    return [client, await client.command(`PASS ${key}`)];
  };
  return {
    listener,
    port,
    directory,
    mailboxes,
    blobs,
    logged,
    connect,
    async open(key = 'alice-key') {
      const [client, reply] = await tryToOpen(key);
      if (!reply.startsWith('+OK')) throw new Error(reply);
      return client;
    },
    async reopen(key = 'alice-key') {
      for (;;) {
        const [client, reply] = await tryToOpen(key);
        if (reply.startsWith('+OK')) return client;
        if (!reply.startsWith('-ERR [IN-USE]')) throw new Error(reply);
        client.close();
      }
    },
    async deliver(accountId, message) {
      const bytes = typeof message === 'string' ? Buffer.from(message, 'latin1') : Buffer.from(message);
      const index = indexMessage(bytes);
      const blob = blobs.add(bytes, index);
      const id = `inbound-${++delivered}`;
      const receivedAt = Date.UTC(2026, 0, 2, 3, 4, 5);
      mailboxes.account(accountId);
      mailboxes.tables.inbound.set(id, {
        accountId,
        id,
        blob,
        envelope: { sender: '', recipients: [] } as never,
        at: receivedAt,
      });
      const payload = { inboundId: id, blob, receivedAt, summary: summarize(index) };
      const { reply } = await mailboxes.refs.of(accountId).ask('deliver', payload);
      if (typeof reply?.emailId !== 'string') throw new Error('the message was not delivered');
      return reply.emailId;
    },
  };
}
