// Starts a ManageSieve listener on a free port over real mailboxes in memory, with accounts and keys.
import net from 'node:net';
import type { ExecutionContext } from 'ava';
import { KeyedLimiter } from '../../../src/concurrency/keyed-limiter.js';
import { fixedShare } from '../../../src/concurrency/share-policies.js';
import type { SieveContext } from '../../../src/gateways/sieve/context.js';
import { DEFAULT_LIMITS, type SieveLimits } from '../../../src/gateways/sieve/limits.js';
import { NO_METER, type SieveMeter } from '../../../src/gateways/sieve/meter.js';
import { startSieve as listen } from '../../../src/gateways/sieve/server.js';
import type { TcpListener } from '../../../src/net/tcp/tcp-listener.js';
import { ALICE_EMAIL, BOB_EMAIL, type MailNode, type MailNodeSettings, startMailNode } from '../mail-node.js';
import { SieveClient } from './client.js';

interface SieveSettings extends MailNodeSettings, Partial<Pick<SieveContext, 'allowPlaintextAuth'>> {
  readonly limits?: Partial<SieveLimits>;
  readonly meter?: SieveMeter;
}

export interface SieveGateway extends Pick<MailNode, 'directory' | 'mailboxes' | 'logged'> {
  readonly listener: TcpListener;
  readonly port: number;
  readonly memory: KeyedLimiter;
  /** Connects and reads the greeting. */
  connect(): Promise<SieveClient>;
  /** Connects and logs in as alice, or with another key. */
  open(key?: string): Promise<SieveClient>;
}

export const plain = (name: string, key: string): string => Buffer.from(`\0${name}\0${key}`).toString('base64');

/** Credentials are accepted without TLS. The listener stops when the test ends. */
export async function startSieve(t: ExecutionContext, settings: SieveSettings = {}): Promise<SieveGateway> {
  const { limits, meter = NO_METER, allowPlaintextAuth = true } = settings;
  const node = await startMailNode(t, { own: 'imap', other: 'smtp' }, settings);
  const { directory, signIn, mailboxes, logged } = node;
  const whole = { ...DEFAULT_LIMITS, ...limits };
  const memory = new KeyedLimiter(fixedShare({ total: whole.bufferedOctets, share: whole.bufferedOctetsPerAccount }));
  const context: SieveContext = {
    hostname: 'mail.example.test',
    version: '1.2.3',
    allowPlaintextAuth,
    signIn,
    mailboxes: mailboxes.refs,
    limits: whole,
    memory,
    meter,
  };
  const { listener, port } = await node.listen((place) => listen({ ...place, context }));
  const connect = async (): Promise<SieveClient> => {
    const client = new SieveClient(net.connect(port, '127.0.0.1'));
    await client.reply();
    return client;
  };
  return {
    listener,
    port,
    memory,
    directory,
    mailboxes,
    logged,
    connect,
    async open(key = 'alice-key') {
      const client = await connect();
      const name = key === 'bob-key' ? BOB_EMAIL : ALICE_EMAIL;
      const reply = await client.command(`AUTHENTICATE "PLAIN" "${plain(name, key)}"`);
      if (!reply.startsWith('OK')) throw new Error(reply);
      return client;
    },
  };
}
