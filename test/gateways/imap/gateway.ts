// An IMAP listener on a free port over real mailboxes in memory, with accounts and keys.
import net from 'node:net';
import type { ExecutionContext } from 'ava';
import pino from 'pino';
import { Subject } from 'rxjs';
import { type GuardLimits, LoginGuard } from '../../../src/auth/login-guard.js';
import { type LoginMeter, SignIn, type SignInOptions } from '../../../src/auth/sign-in.js';
import type { Principal } from '../../../src/directory/protocol.js';
import type { ImapContext } from '../../../src/gateways/imap/context.js';
import { DEFAULT_LIMITS, type ImapLimits } from '../../../src/gateways/imap/limits.js';
import { MemoryShares } from '../../../src/gateways/imap/memory-shares.js';
import { createMessageSource } from '../../../src/gateways/imap/messages/message-source.js';
import { type ImapMeter, NO_METER } from '../../../src/gateways/imap/meter.js';
import { FolderResults } from '../../../src/gateways/imap/search/folder-results.js';
import { startImap as listen } from '../../../src/gateways/imap/server.js';
import { createFolderMirrors } from '../../../src/gateways/imap/view/folder-mirrors.js';
import type { CertificateSource } from '../../../src/gateways/tcp/certificate-source.js';
import type { ConnectionShares } from '../../../src/gateways/tcp/connection-limits.js';
import type { TcpListener } from '../../../src/gateways/tcp/tcp-listener.js';
import { TrustedNetworks } from '../../../src/gateways/tcp/trusted-networks.js';
import { indexMessage } from '../../../src/mail/mime-index/indexer.js';
import { summarize } from '../../../src/mail/summary.js';
import { prepareSpool, Spool } from '../../../src/spool/spool.js';
import { certificates } from '../../support/certificate.js';
import { memoryFolderMessages } from '../../support/memory-stores/folder-messages.js';
import { temporaryDirectory } from '../../support/temporary-directory.js';
import { FakeBlobs } from '../http/fakes.js';
import { startMailboxes, type TestMailboxes } from '../http/mailboxes.js';
import { ImapClient } from './client.js';

export const ALICE = '018f0000-0000-7000-8000-00000000000a';
export const BOB = '018f0000-0000-7000-8000-00000000000b';
export const ALICE_EMAIL = 'alice@example.test';
export const BOB_EMAIL = 'bob@example.test';

/** Keys by their text: `alice-key` and `bob-key` (imap), `app-key` (app) and `smtp-key` (smtp) of alice. */
export class ImapDirectory {
  readonly revokedKeys$ = new Subject<string>();
  readonly deletedAccounts$ = new Subject<string>();
  readonly keys = new Map<string, Principal>([
    ['alice-key', principal(ALICE, ALICE_EMAIL, 'alice-key', 'imap')],
    ['app-key', principal(ALICE, ALICE_EMAIL, 'app-key', 'app')],
    ['smtp-key', principal(ALICE, ALICE_EMAIL, 'smtp-key', 'smtp')],
    ['bob-key', principal(BOB, BOB_EMAIL, 'bob-key', 'imap')],
  ]);
  fault: Error | undefined;

  readonly authenticate = async (apiKey: string): Promise<Principal | undefined> => {
    if (this.fault !== undefined) throw this.fault;
    return this.keys.get(apiKey);
  };

  readonly isAddressOf = async (accountId: string, address: string): Promise<boolean> =>
    [...this.keys.values()].some((key) => key.accountId === accountId && key.email === address.toLowerCase());

  readonly login = async ({ subject }: { readonly subject: string }) => ({
    principal: { accountId: subject, email: ALICE_EMAIL, scopes: [], keyId: null, serviceWide: false },
  });

  /** The key opens nothing from now on, and its sessions end. */
  revoke(key: string): void {
    this.keys.delete(key);
    this.revokedKeys$.next(key);
  }
}

function principal(accountId: string, email: string, keyId: string, scope: Principal['scopes'][number]): Principal {
  return { accountId, email, scopes: [scope], keyId, serviceWide: false };
}

export interface ImapSettings extends Partial<Omit<ImapContext, 'limits' | 'meter'>> {
  readonly limits?: Partial<ImapLimits>;
  readonly meter?: Partial<ImapMeter>;
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

export interface ImapGateway {
  readonly listener: TcpListener;
  readonly port: number;
  readonly directory: ImapDirectory;
  readonly mailboxes: TestMailboxes;
  readonly blobs: FakeBlobs;
  readonly context: ImapContext;
  readonly logged: Record<string, unknown>[];
  /** Greeted; with TLS where the listener begins with that. */
  connect(): Promise<ImapClient>;
  /** Logged in as alice, or with another key. */
  open(key?: string): Promise<ImapClient>;
  /** Puts a message into the account's inbox as mail that came in; lines end in CR LF. */
  deliver(accountId: string, message: string | Uint8Array, receivedAt?: number): Promise<string>;
}

/** Stopped when the test ends. Credentials are taken without TLS. */
export async function startImap(t: ExecutionContext, settings: ImapSettings = {}): Promise<ImapGateway> {
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
  const directory = new ImapDirectory();
  const blobs = new FakeBlobs();
  const mailboxes = await startMailboxes(blobs);
  const logged: Record<string, unknown>[] = [];
  const log = pino(
    { level: 'debug' },
    { write: (line: string) => void logged.push(JSON.parse(line) as Record<string, unknown>) },
  );
  const path = temporaryDirectory('mansio-imap-');
  await prepareSpool(path);
  const allLimits = { ...DEFAULT_LIMITS, authDelayMs: 0, ...limits };
  const context: ImapContext = {
    hostname: 'mail.example.test',
    version: '1.2.3',
    maxMessageSize: 36_700_160,
    allowPlaintextAuth: true,
    signIn: new SignIn({
      directory,
      guard: new LoginGuard({ delayMs: 0, ...guard }),
      ...(logins && { meter: logins }),
      ...(tokens && { tokens }),
      ...(now && { now }),
    }),
    mailboxes: mailboxes.refs,
    blobs,
    spool: new Spool({ directory: path }),
    messages: createMessageSource({ store: memoryFolderMessages(mailboxes.tables, blobs), maxOctets: 1e7 }),
    searchResults: new FolderResults(1e6),
    mirrors: createFolderMirrors({ mailboxes: mailboxes.refs }),
    memory: new MemoryShares(allLimits),
    ...overrides,
    limits: allLimits,
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
  const connect = async (): Promise<ImapClient> => {
    const client = new ImapClient(net.connect(port, '127.0.0.1'));
    if (implicitTls) await client.secure();
    await client.next();
    return client;
  };
  return {
    listener,
    port,
    directory,
    mailboxes,
    blobs,
    context,
    logged,
    connect,
    async open(key = 'alice-key') {
      const client = await connect();
      const { tagged } = await client.command(`LOGIN ${key === 'bob-key' ? BOB_EMAIL : ALICE_EMAIL} ${key}`);
      if (!tagged.startsWith('OK')) throw new Error(`LOGIN: ${tagged}`);
      return client;
    },
    async deliver(accountId, message, receivedAt = Date.UTC(2026, 0, 2, 3, 4, 5)) {
      const bytes = Buffer.from(message as string);
      const index = indexMessage(bytes);
      const blob = blobs.add(bytes, index);
      const id = `inbound-${++delivered}`;
      const envelope = { sender: '', recipients: [] } as never;
      mailboxes.account(accountId);
      mailboxes.tables.inbound.set(id, { accountId, id, blob, envelope, at: receivedAt });
      const payload = { inboundId: id, blob, receivedAt, summary: summarize(index) };
      const { reply } = await mailboxes.refs.of(accountId).ask('deliver', payload);
      if (typeof reply?.emailId !== 'string') throw new Error('the message was not delivered');
      return reply.emailId;
    },
  };
}
