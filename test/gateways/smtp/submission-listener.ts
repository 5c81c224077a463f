// Starts a submission listener on a free port over fakes in memory, for the tests of this folder.
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import pino from 'pino';
import { Subject } from 'rxjs';
import { certificates } from '../../../dev/certificate.js';
import { temporaryDirectory } from '../../../dev/temporary-directory.js';
import type { AccountNotice, Directory, Principal, Recipient } from '../../../src/actors/directory/protocol.js';
import type { Mailboxes, MailboxProtocol } from '../../../src/actors/mailbox/protocol.js';
import type { Payload } from '../../../src/actors/runtime/protocol.js';
import { Credentials } from '../../../src/auth/credentials.js';
import { type GuardLimits, LoginGuard } from '../../../src/auth/login-guard.js';
import type { TokenVerifier } from '../../../src/auth/oidc/token-verifier.js';
import { SignIn } from '../../../src/auth/sign-in.js';
import type { SmtpListener } from '../../../src/gateways/smtp/listener.js';
import { type SubmissionOptions, startSubmission } from '../../../src/gateways/smtp/submission.js';
import { canonicalAddress } from '../../../src/mail-format/address.js';
import { CheckChain } from '../../../src/message-checks/check-chain.js';
import { prepareSpool, Spool } from '../../../src/message-content/spool/spool.js';
import type { BlobContent } from '../../../src/store/blobs.js';
import type { InlineMessages } from '../../../src/store/inline/inline-messages.js';
import { SmtpClient } from '../../support/clients/smtp-client.js';
import { type FakeSending, fakeSending } from '../../support/fake-sending.js';

type StoredEnqueue = Extract<Payload<MailboxProtocol, 'enqueue'>, { blob: string }>;

export interface Queued extends StoredEnqueue {
  readonly accountId: string;
  /** The octets of the message; one character is one octet. */
  readonly text: string;
  /** The text without our Received. */
  readonly body: string;
}

/** Has the keys `alice-key` with scope smtp, `app-key` of alice with scope app, and `bob-key`. */
export class SubmissionDirectory {
  readonly revokedKeys$ = new Subject<string>();
  readonly accountNotices$ = new Subject<AccountNotice>();
  readonly deletedAccounts$ = new Subject<string>();
  readonly missedChanges$ = new Subject<void>();
  readonly keys = new Map<string, Principal>([
    ['alice-key', key('alice', 'alice-key', ['smtp'])],
    ['app-key', key('alice', 'app-key', ['app'])],
    ['bob-key', key('bob', 'bob-key', ['smtp', 'imap'])],
  ]);
  readonly owners = new Map([
    ['alice@example.test', 'alice'],
    ['alice@other.test', 'alice'],
    ['bob@example.test', 'bob'],
  ]);
  lookups = 0;
  fault: Error | undefined;

  readonly noteUse = (): void => {};

  readonly authenticate = async (apiKey: string): Promise<Principal | undefined> => {
    this.lookups++;
    if (this.fault !== undefined) throw this.fault;
    return this.keys.get(apiKey);
  };

  readonly isAddressOf = async (accountId: string, address: string): Promise<boolean> =>
    this.owners.get(canonicalAddress(address) ?? '') === accountId;

  readonly maySendAs = (accountId: string, address: string): Promise<boolean> => this.isAddressOf(accountId, address);

  readonly login: Directory['login'] = async ({ subject }) => ({
    principal: {
      accountId: subject,
      email: `${subject}@example.test`,
      scopes: ['app'],
      keyId: null,
      serviceWide: false,
    },
  });

  readonly recipient = async (address: string): Promise<Recipient> => {
    if (this.fault !== undefined) throw this.fault;
    if (!/@example\.test$/i.test(address)) return { kind: 'notHosted' };
    const accountId = this.owners.get(canonicalAddress(address) ?? '');
    if (/^full@/.test(address)) return { kind: 'full' };
    return accountId === undefined ? { kind: 'unknown' } : { kind: 'mailbox', accountId };
  };
}

function key(accountId: string, keyId: string, scopes: Principal['scopes']): Principal {
  return { accountId, email: `${accountId}@example.test`, scopes, keyId, serviceWide: false };
}

const STORED_FIRST: Pick<InlineMessages, 'commit'> = {
  commit: async (_accountId, _messages, ask, store) => ask(await store(), {}),
};

export interface SubmissionHarness {
  readonly address: string;
  readonly listener: SmtpListener;
  readonly directory: SubmissionDirectory;
  readonly queued: Queued[];
  readonly logged: Record<string, unknown>[];
  readonly spool: Spool;
  readonly signIn: SignIn;
  readonly sending: FakeSending;
  /** The fakes run these first. */
  behave: { put?: () => Promise<void>; enqueue?: () => Promise<void> };
}

export interface SubmissionSettings extends Partial<SubmissionOptions> {
  readonly guard?: Partial<GuardLimits>;
  readonly memoryLimit?: number;
  /** The verifier of an identity provider; absent: none is configured. */
  readonly tokens?: TokenVerifier;
  /** Clock of the logins. */
  readonly now?: () => number;
}

/** The listener stops when the test ends. */
export async function listenForSubmission(
  t: ExecutionContext,
  { guard, memoryLimit, tokens, now, ...overrides }: SubmissionSettings = {},
): Promise<SubmissionHarness> {
  const path = join(temporaryDirectory('mansio-submission-'), 'spool');
  await prepareSpool(path);
  const spool = new Spool({ directory: path, ...(memoryLimit === undefined ? {} : { memoryLimit }) });
  const queued: Queued[] = [];
  const logged: Record<string, unknown>[] = [];
  const behave: SubmissionHarness['behave'] = {};
  const sending = fakeSending();
  const directory = new SubmissionDirectory();
  const blobs = new Map<string, string>();
  const mailboxes = {
    of: (accountId: string) => ({
      async ask(_name: 'enqueue', payload: StoredEnqueue) {
        await behave.enqueue?.();
        const text = blobs.get(payload.blob) ?? '';
        const body = text.replace(/^Received: [^\r]*\r\n(?:[ \t][^\r]*\r\n)*/, '');
        queued.push({ ...payload, accountId, text, body });
        return { reply: { id: `outbound-${queued.length}`, createdAt: 0, sentEmailId: 'sent' } };
      },
    }),
  } as unknown as Mailboxes;
  const put = async (content: BlobContent) => {
    await behave.put?.();
    const pieces: Uint8Array[] = [];
    for await (const piece of content.chunks()) pieces.push(piece);
    const bytes = Buffer.concat(pieces);
    const hash = createHash('sha256').update(bytes).digest('hex');
    if (hash !== content.hash || bytes.length !== content.size) throw new Error('the content is not what was hashed');
    blobs.set(hash, bytes.toString('latin1'));
  };
  const signIn = new SignIn({
    directory,
    credentials: new Credentials({ directory, ...(tokens && { tokens }), ...(now && { now }) }),
    guard: new LoginGuard({ delayMs: 0, ...guard }),
  });
  const log = pino(
    { level: 'debug' },
    { write: (line: string) => void logged.push(JSON.parse(line) as Record<string, unknown>) },
  );
  const listener = await startSubmission({
    bind: '127.0.0.1',
    port: 0,
    hostname: 'mail.example.test',
    maxMessageSize: 1_000_000,
    implicitTls: false,
    allowPlaintextAuth: true,
    tls: certificates,
    signIn,
    directory,
    receiver: { spool, blobs: { put }, inlineMessages: STORED_FIRST, mailboxes, sending },
    checks: new CheckChain([], log),
    log,
    ...overrides,
    limits: { connectionsPerAddress: 1000, ...overrides.limits },
  });
  t.teardown(() => listener.stop(0));
  return { address: listener.address, listener, directory, queued, logged, spool, signIn, behave, sending };
}

export const base64 = (text: string): string => Buffer.from(text).toString('base64');

export const plain = (name: string, credential: string): string => base64(`\0${name}\0${credential}`);

/** Connects and logs in as alice. */
export async function signedIn(address: string): Promise<SmtpClient> {
  const client = await SmtpClient.greeted(address);
  const { code } = await client.command(`AUTH PLAIN ${plain('alice@example.test', 'alice-key')}`);
  if (code !== 235) throw new Error(`AUTH was answered ${code}`);
  return client;
}

export const brief = ({ code, text }: { code: number; text: string }): string => `${code} ${text.split(' ')[0]}`;
