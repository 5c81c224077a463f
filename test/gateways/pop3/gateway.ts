// Starts a POP3 listener on a free port over real mailboxes in memory, with accounts and keys.
import net from 'node:net';
import type { ExecutionContext } from 'ava';
import type { Pop3Context } from '../../../src/gateways/pop3/context.js';
import { DEFAULT_LIMITS, type Pop3Limits } from '../../../src/gateways/pop3/limits.js';
import { NO_METER, type Pop3Meter } from '../../../src/gateways/pop3/meter.js';
import { startPop3 as listen } from '../../../src/gateways/pop3/server.js';
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
import { Pop3Client } from './client.js';

export { ALICE, ALICE_EMAIL, BOB, BOB_EMAIL };

export interface Pop3Settings extends MailNodeSettings, Partial<Omit<Pop3Context, 'limits' | 'meter' | 'mailboxes'>> {
  readonly limits?: Partial<Pop3Limits>;
  readonly meter?: Partial<Pop3Meter>;
}

export interface Pop3Gateway extends Pick<MailNode, 'directory' | 'mailboxes' | 'blobs' | 'logged'> {
  readonly listener: TcpListener;
  readonly port: number;
  /** Connects and reads the greeting; uses TLS where the listener has it from the start. */
  connect(): Promise<Pop3Client>;
  /** Connects and logs in as alice, or with another key. */
  open(key?: string): Promise<Pop3Client>;
  /** Logs in as soon as no other session holds the maildrop. */
  reopen(key?: string): Promise<Pop3Client>;
  /** Puts a message into the account's inbox as received mail; one character is one octet. */
  deliver(accountId: string, message: string | Uint8Array): Promise<string>;
}

/** Credentials are accepted without TLS. The listener stops when the test ends. */
export async function startPop3(t: ExecutionContext, settings: Pop3Settings = {}): Promise<Pop3Gateway> {
  const { limits, meter, implicitTls, limiters, guard, logins, tokens, now, trusted, tls, ...overrides } = settings;
  const node = await startMailNode(t, { own: 'pop3', other: 'imap' }, settings);
  const { directory, signIn, mailboxes, blobs, logged } = node;
  const context: Pop3Context = {
    hostname: 'mail.example.test',
    version: '1.2.3',
    allowPlaintextAuth: true,
    signIn,
    mailboxes: mailboxes.refs,
    messages: memoryFolderMessages(mailboxes.tables, blobs),
    blobs,
    ...overrides,
    limits: { ...DEFAULT_LIMITS, ...limits },
    meter: { ...NO_METER, ...meter },
  };
  const { listener, port } = await node.listen((place) => listen({ ...place, context }));
  const connect = async (): Promise<Pop3Client> => {
    const client = new Pop3Client(net.connect(port, '127.0.0.1'));
    if (implicitTls === true) await client.secure();
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
    deliver: (accountId, message) => node.deliver(accountId, Buffer.from(message as string, 'latin1')),
  };
}
