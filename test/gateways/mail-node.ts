// Gives the IMAP, POP3 and ManageSieve gateways what they need in memory: two accounts with keys, their logins, real mailboxes, blobs, a log,
// and a place on a free port for the listener of one protocol.
import type { ExecutionContext } from 'ava';
import pino from 'pino';
import { Subject } from 'rxjs';
import { certificates } from '../../dev/certificate.js';
import type { AccountNotice, Principal } from '../../src/actors/directory/protocol.js';
import { Credentials } from '../../src/auth/credentials.js';
import { type GuardLimits, LoginGuard } from '../../src/auth/login-guard.js';
import type { TokenVerifier } from '../../src/auth/oidc/token-verifier.js';
import { type LoginMeter, SignIn } from '../../src/auth/sign-in.js';
import { indexMessage } from '../../src/mail-format/mime-index/indexer.js';
import { summarize } from '../../src/mail-format/summary.js';
import type { CertificateSource } from '../../src/net/tcp/certificate-source.js';
import type { ConnectionLimiters } from '../../src/net/tcp/connection-limits.js';
import type { ListenerPlace, TcpListener } from '../../src/net/tcp/tcp-listener.js';
import { TrustedNetworks } from '../../src/net/tcp/trusted-networks.js';
import type { Scope } from '../../src/store/directory.js';
import { FakeBlobs } from './http/fakes.js';
import { startMailboxes, type TestMailboxes } from './http/mailboxes.js';

export const ALICE = '018f0000-0000-7000-8000-00000000000a';
export const BOB = '018f0000-0000-7000-8000-00000000000b';
export const ALICE_EMAIL = 'alice@example.test';
export const BOB_EMAIL = 'bob@example.test';

/** Holds keys by their text: `alice-key` and `bob-key` for the protocol, `app-key` (app) and one named after another scope of alice. */
class KeyDirectory {
  readonly revokedKeys$ = new Subject<string>();
  readonly accountNotices$ = new Subject<AccountNotice>();
  readonly deletedAccounts$ = new Subject<string>();
  readonly missedChanges$ = new Subject<void>();
  readonly keys: Map<string, Principal>;
  fault: Error | undefined;

  constructor({ own, other }: NodeScopes) {
    const keys = [
      principal(ALICE, ALICE_EMAIL, 'alice-key', own),
      principal(ALICE, ALICE_EMAIL, 'app-key', 'app'),
      principal(ALICE, ALICE_EMAIL, `${other}-key`, other),
      principal(BOB, BOB_EMAIL, 'bob-key', own),
    ];
    this.keys = new Map(keys.map((key) => [key.keyId, key]));
  }

  readonly authenticate = async (apiKey: string): Promise<Principal | undefined> => {
    if (this.fault !== undefined) throw this.fault;
    return this.keys.get(apiKey);
  };

  readonly noteUse = (): void => {};

  readonly isAddressOf = async (accountId: string, address: string): Promise<boolean> =>
    [...this.keys.values()].some((key) => key.accountId === accountId && key.email === address.toLowerCase());

  readonly login = async ({ subject }: { readonly subject: string }) => ({
    principal: { accountId: subject, email: ALICE_EMAIL, scopes: [], keyId: null, serviceWide: false },
  });

  /** Revokes a key, which ends its sessions. */
  revoke(key: string): void {
    this.keys.delete(key);
    this.revokedKeys$.next(key);
  }
}

function principal(accountId: string, email: string, keyId: string, scope: Scope) {
  return { accountId, email, scopes: [scope], keyId, serviceWide: false };
}

interface NodeScopes {
  /** The scope of the protocol. */
  readonly own: Scope;
  /** A scope that the protocol refuses. */
  readonly other: Scope;
}

export interface MailNodeSettings {
  readonly implicitTls?: boolean;
  readonly limiters?: ConnectionLimiters;
  readonly guard?: Partial<GuardLimits>;
  readonly logins?: LoginMeter;
  readonly tokens?: TokenVerifier;
  /** Clock of the logins, in ms. */
  readonly now?: () => number;
  /** Networks whose PROXY headers are believed. */
  readonly trusted?: readonly string[];
  readonly tls?: CertificateSource;
}

export interface MailNode {
  readonly directory: KeyDirectory;
  readonly signIn: SignIn;
  readonly mailboxes: TestMailboxes;
  readonly blobs: FakeBlobs;
  readonly logged: Record<string, unknown>[];
  /** Opens the listener; it stops with the mailboxes when the test ends. */
  listen(start: (place: ListenerPlace) => Promise<TcpListener>): Promise<OpenListener>;
  /** Puts a message into the account's inbox as received mail. */
  deliver(accountId: string, octets: Buffer, receivedAt?: number): Promise<string>;
}

interface OpenListener {
  readonly listener: TcpListener;
  readonly port: number;
}

export async function startMailNode(
  t: ExecutionContext,
  scopes: NodeScopes,
  { implicitTls = false, limiters, guard, logins, tokens, now, trusted = [], tls = certificates }: MailNodeSettings,
): Promise<MailNode> {
  const directory = new KeyDirectory(scopes);
  const blobs = new FakeBlobs();
  const mailboxes = await startMailboxes(blobs);
  const logged: Record<string, unknown>[] = [];
  const log = pino(
    { level: 'debug' },
    { write: (line: string) => void logged.push(JSON.parse(line) as Record<string, unknown>) },
  );
  const signIn = new SignIn({
    directory,
    credentials: new Credentials({ directory, ...(tokens && { tokens }), ...(now && { now }) }),
    guard: new LoginGuard({ delayMs: 0, ...guard }),
    ...(logins && { meter: logins }),
  });
  for (const account of [ALICE, BOB]) mailboxes.account(account);
  let delivered = 0;
  return {
    directory,
    signIn,
    mailboxes,
    blobs,
    logged,
    async listen(start) {
      const networks = new TrustedNetworks(trusted);
      const listener = await start({ bind: '127.0.0.1', port: 0, implicitTls, tls, trusted: networks, limiters, log });
      t.teardown(async () => {
        await listener.stop(0);
        await mailboxes.end();
      });
      return { listener, port: Number(listener.address.split(':')[1]) };
    },
    async deliver(accountId, octets, receivedAt = Date.UTC(2026, 0, 2, 3, 4, 5)) {
      const index = indexMessage(octets);
      const blob = blobs.add(octets, index);
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
