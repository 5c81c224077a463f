// Starts an MX listener on a free port over fakes in memory, for the tests of this folder.

import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import pino, { type Logger } from 'pino';
import { NEVER } from 'rxjs';
import { certificates } from '../../../dev/certificate.js';
import { temporaryDirectory } from '../../../dev/temporary-directory.js';
import type { Directory, Recipient } from '../../../src/actors/directory/protocol.js';
import type { Mailboxes } from '../../../src/actors/mailbox/protocol.js';
import type { SmtpListener } from '../../../src/gateways/smtp/listener.js';
import { type MxOptions, startMx } from '../../../src/gateways/smtp/mx.js';
import { CheckChain } from '../../../src/message-checks/check-chain.js';
import { prepareSpool, Spool } from '../../../src/message-content/spool/spool.js';
import type { InboundDelivery, InboundEnvelope, InboundStore } from '../../../src/store/inbound.js';
import type { InlineMessage } from '../../../src/store/inline/inline-message.js';
import { InlineMessages } from '../../../src/store/inline/inline-messages.js';

export const MESSAGE = 'From: a@peer.test\r\nSubject: hi\r\nMessage-Id: <1@peer.test>\r\n\r\nhello';

export interface Stored {
  readonly hash: string;
  /** The octets of the message; one character is one octet. */
  readonly text: string;
  /** The text without the trace lines and the Message-ID that were added before it. */
  readonly body: string;
  readonly envelope: InboundEnvelope;
  readonly deliveries: readonly InboundDelivery[];
}

export interface Harness {
  readonly address: string;
  readonly listener: SmtpListener;
  /** Messages that `inbound.spool` committed. */
  readonly stored: Stored[];
  readonly asked: { accountId: string; payload: unknown; deadlineMs: number | undefined }[];
  readonly logged: Record<string, unknown>[];
  readonly spool: Spool;
  /** Replaces what the fakes do. */
  behave: {
    recipient?: (address: string, beside?: readonly string[]) => Promise<Recipient>;
    openUnclaimed?: (addresses: readonly string[]) => Promise<ReadonlyMap<string, string> | undefined>;
    spool?: () => Promise<void>;
    /** Says whether a message goes inline to the account's mailbox; absent: never. */
    owns?: (accountId: string) => boolean;
    /** Answers an inline message as the mailbox. */
    acceptInline?: (inlineMessage: InlineMessage) => Promise<unknown>;
    deliver?: (accountId: string) => Promise<string | null>;
  };
}

/** `<name>@example.test` is account `name`; `nobody` is unknown, `full` is full, other domains are not hosted. */
function recipient(address: string): Promise<Recipient> {
  const [local = '', domain = ''] = address.toLowerCase().split('@');
  if (domain !== 'example.test' && domain !== 'bücher.test') return Promise.resolve({ kind: 'notHosted' });
  const name = local.replace(/\+.*/, '');
  if (name === 'nobody') return Promise.resolve({ kind: 'unknown' });
  if (name === 'full') return Promise.resolve({ kind: 'full' });
  return Promise.resolve({ kind: 'mailbox', accountId: name });
}

/** The listener stops when the test ends. */
export async function listen(
  t: ExecutionContext,
  overrides: Partial<MxOptions> & { memoryLimit?: number } = {},
): Promise<Harness> {
  const directory = join(temporaryDirectory('mansio-mx-'), 'spool');
  await prepareSpool(directory);
  const { memoryLimit, limits, ...rest } = overrides;
  const spool = new Spool({ directory, ...(memoryLimit === undefined ? {} : { memoryLimit }) });
  const stored: Stored[] = [];
  const asked: Harness['asked'] = [];
  const logged: Harness['logged'] = [];
  const behave: Harness['behave'] = {};
  const inbound: InboundStore = {
    async spool(content, envelope, deliveries) {
      await behave.spool?.();
      const pieces: Uint8Array[] = [];
      for await (const piece of content.chunks()) pieces.push(piece);
      const bytes = Buffer.concat(pieces);
      const hash = createHash('sha256').update(bytes).digest('hex');
      if (hash !== content.hash || bytes.length !== content.size) throw new Error('the content is not what was hashed');
      const text = bytes.toString('latin1');
      stored.push({ hash: content.hash, text, body: withoutTrace(text), envelope, deliveries });
    },
    overdue: () => Promise.resolve([]),
    end: () => Promise.resolve(),
  };
  const inlineMessages = new InlineMessages((accountId) => behave.owns?.(accountId) === true);
  const mailboxes = {
    of: (accountId: string) => ({
      async ask(_name: string, payload: unknown, options?: { deadlineMs?: number }) {
        const { inlineId } = payload as { inlineId?: string };
        const inlineMessage = inlineId === undefined ? undefined : inlineMessages.find(inlineId);
        // A mailbox of another node has its messages stored first.
        if (inlineId !== undefined && inlineMessage === undefined) return { refusal: 'unstored' };
        if (inlineMessage !== undefined) return { reply: await behave.acceptInline?.(inlineMessage) };
        asked.push({ accountId, payload, deadlineMs: options?.deadlineMs });
        const emailId = behave.deliver === undefined ? `email-${accountId}` : await behave.deliver(accountId);
        return { reply: { emailId } };
      },
      events$: () => NEVER,
    }),
  } as unknown as Mailboxes;
  const fakeDirectory: Directory = {
    recipient: (address, beside) => (behave.recipient ?? recipient)(address, beside),
    openUnclaimed: (addresses) => behave.openUnclaimed?.(addresses) ?? Promise.resolve(new Map()),
    authenticate: () => Promise.resolve(undefined),
    login: () => Promise.reject(new Error('not asked by the MX')),
    isAddressOf: () => Promise.reject(new Error('not asked by the MX')),
    noteUse: () => {},
    anonymous: () => Promise.resolve(undefined),
    revokedKeys$: NEVER,
    accountNotices$: NEVER,
    deletedAccounts$: NEVER,
    missedChanges$: NEVER,
  };
  const log: Logger = pino(
    { level: 'debug' },
    { write: (line: string) => void logged.push(JSON.parse(line) as Record<string, unknown>) },
  );
  const listener = await startMx({
    bind: '127.0.0.1',
    port: 0,
    hostname: 'mx.example.test',
    maxMessageSize: 1_000_000,
    tls: certificates,
    directory: fakeDirectory,
    checks: new CheckChain([], log),
    receiver: { inbound, inlineMessages, mailboxes, spool },
    log,
    limits: { greetDelayMs: 0, connectionsPerAddress: 1000, ...limits },
    ...rest,
  });
  t.teardown(() => listener.stop(0));
  return { address: listener.address, listener, stored, asked, logged, spool, behave };
}

/** Removes Return-Path and our Received up to its date line. */
function withoutTrace(text: string): string {
  const match =
    /^Return-Path: [^\r]*\r\nReceived: [^\r]*\r\n(?:[ \t][^\r]*\r\n)*(?:Message-ID: <[\da-f-]{36}@mx\.example\.test>\r\n)?/.exec(
      text,
    );
  return match === null ? text : text.slice(match[0].length);
}
