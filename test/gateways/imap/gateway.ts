// Starts an IMAP listener on a free port over real mailboxes in memory, with accounts and keys.
import net from 'node:net';
import type { ExecutionContext } from 'ava';
import { temporaryDirectory } from '../../../dev/temporary-directory.js';
import type { ImapContext } from '../../../src/gateways/imap/context.js';
import { DEFAULT_LIMITS, type ImapLimits } from '../../../src/gateways/imap/limits.js';
import { memoryLimiters } from '../../../src/gateways/imap/memory-limiters.js';
import { createMessageSource } from '../../../src/gateways/imap/messages/message-source.js';
import { type ImapMeter, NO_METER } from '../../../src/gateways/imap/meter.js';
import { FolderResults } from '../../../src/gateways/imap/search/folder-results.js';
import { startImap as listen } from '../../../src/gateways/imap/server.js';
import { createFolderMirrors } from '../../../src/gateways/imap/view/folder-mirrors.js';
import { prepareSpool, Spool } from '../../../src/message-content/spool/spool.js';
import type { TcpListener } from '../../../src/net/tcp/tcp-listener.js';
import { memoryFolderMessages } from '../../support/memory-stores/folder-messages.js';
import {
  ALICE,
  ALICE_EMAIL,
  BOB,
  BOB_EMAIL,
  type MailNode,
  type MailNodeSettings,
  startMailNode,
} from '../mail-node.js';
import { ImapClient } from './client.js';

export { ALICE, ALICE_EMAIL, BOB, BOB_EMAIL };

export interface ImapSettings extends MailNodeSettings, Partial<Omit<ImapContext, 'limits' | 'meter'>> {
  readonly limits?: Partial<ImapLimits>;
  readonly meter?: Partial<ImapMeter>;
}

export interface ImapGateway extends Pick<MailNode, 'directory' | 'mailboxes' | 'blobs' | 'logged'> {
  readonly listener: TcpListener;
  readonly port: number;
  readonly context: ImapContext;
  /** Connects and reads the greeting; uses TLS where the listener has it from the start. */
  connect(): Promise<ImapClient>;
  /** Connects and logs in as alice, or with another key. */
  open(key?: string): Promise<ImapClient>;
  /** Puts a message into the account's inbox as received mail; lines end in CRLF. */
  deliver(accountId: string, message: string | Uint8Array, receivedAt?: number): Promise<string>;
}

/** Credentials are accepted without TLS. The listener stops when the test ends. */
export async function startImap(t: ExecutionContext, settings: ImapSettings = {}): Promise<ImapGateway> {
  const { limits, meter, implicitTls, limiters, guard, logins, tokens, now, trusted, tls, ...overrides } = settings;
  const node = await startMailNode(t, { own: 'imap', other: 'smtp' }, settings);
  const { directory, signIn, mailboxes, blobs, logged } = node;
  const path = temporaryDirectory('mansio-imap-');
  await prepareSpool(path);
  const allLimits = { ...DEFAULT_LIMITS, ...limits };
  const context: ImapContext = {
    hostname: 'mail.example.test',
    version: '1.2.3',
    maxMessageSize: 36_700_160,
    allowPlaintextAuth: true,
    signIn,
    mailboxes: mailboxes.refs,
    inlineMessages: mailboxes.inlineMessages,
    blobs,
    spool: new Spool({ directory: path }),
    messages: createMessageSource({ store: memoryFolderMessages(mailboxes.tables, blobs), maxOctets: 1e7 }),
    searchResults: new FolderResults(1e6),
    mirrors: createFolderMirrors({ mailboxes: mailboxes.refs }),
    memory: memoryLimiters(allLimits),
    ...overrides,
    limits: allLimits,
    meter: { ...NO_METER, ...meter },
  };
  const { listener, port } = await node.listen((place) => listen({ ...place, context }));
  const connect = async (): Promise<ImapClient> => {
    const client = new ImapClient(net.connect(port, '127.0.0.1'));
    if (implicitTls === true) await client.secure();
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
    deliver: (accountId, message, receivedAt) => node.deliver(accountId, Buffer.from(message as string), receivedAt),
  };
}
