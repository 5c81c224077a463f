// Starts a node that sends mail to real servers, which a real DNS server names.

import type { ExecutionContext } from 'ava';
import { createAccount, storeOf } from '../../../dev/node-accounts.js';
import { freePort } from '../../../dev/ports.js';
import { startDnsServer, type Zone } from '../../../dev/servers/dns-server.js';
import {
  type BareServer,
  type RemoteOptions,
  type RemoteSmtp,
  startBareServer,
  startRemoteSmtp,
} from '../../../dev/servers/remote-smtp.js';
import { MailboxClient } from '../../support/clients/mailbox-client.js';
import { startTestNode } from '../../support/node.js';

export interface Shown {
  readonly id: string;
  readonly status: string;
  readonly retryCount: number;
  readonly lastError: string | null;
  readonly sentAt: string | null;
  readonly recipients: readonly {
    readonly address: string;
    readonly type: string;
    readonly status: string;
    readonly deliveredAt: string | null;
    readonly lastError?: string | null;
    readonly statusCode?: string | null;
  }[];
}

interface Attempt {
  readonly at: string;
  readonly domain: string;
  readonly host: string | null;
  readonly remoteAddress: string | null;
  readonly tls: string | null;
  readonly reply: string;
}

/** A remote behind an MX record of a domain: options, a bare dialogue, or no server at the address. */
type Remote = RemoteOptions | ((socket: import('node:net').Socket) => void) | 'dead';
let lastHost = 30;

export async function world(
  t: ExecutionContext,
  domains: Readonly<Record<string, readonly Remote[]>>,
  settings: Readonly<Record<string, string>> = {},
) {
  const remotePort = await freePort();
  const zones: Record<string, Zone> = {};
  const remotes = new Map<string, (RemoteSmtp | BareServer | undefined)[]>();
  for (const [domain, hosts] of Object.entries(domains)) {
    const servers: (RemoteSmtp | BareServer | undefined)[] = [];
    zones[domain] = { MX: hosts.map((_, i) => [10 * (i + 1), `mx${i}.${domain}`] as const) };
    for (const [i, host] of hosts.entries()) {
      const address = `127.0.1.${++lastHost}`;
      zones[`mx${i}.${domain}`] = { A: [address] };
      if (host === 'dead') servers.push(undefined);
      else if (typeof host === 'function') servers.push(await startBareServer(address, remotePort, host));
      else servers.push(await startRemoteSmtp(address, remotePort, host));
    }
    remotes.set(domain, servers);
  }
  const dns = await startDnsServer(zones);
  const node = await startTestNode({
    MANSIO_HOSTED_DOMAINS: 'example.test',
    MANSIO_HOSTNAME: 'mail.example.test',
    MANSIO_OUTBOUND_DNS: dns.address,
    MANSIO_OUTBOUND_PORT: String(remotePort),
    MANSIO_OUTBOUND_ALLOW_PRIVATE: 'true',
    MANSIO_OUTBOUND_BACKOFF_BASE_MS: '150',
    MANSIO_OUTBOUND_BACKOFF_CAP_MS: '1000',
    MANSIO_OUTBOUND_POLL_MS: '100',
    ...settings,
  });
  t.teardown(async () => {
    await node.stop();
    for (const server of [...remotes.values()].flat()) await server?.close();
    await dns.close();
  });
  const sql = await storeOf(node);
  const sender = await createAccount(sql, 'ann@example.test', ['app', 'smtp']);
  const neighbour = await createAccount(sql, 'bob@example.test');
  await sql.end();
  const client = new MailboxClient(node, sender.key);
  const messagesAt = (domain: string, host = 0) => {
    const server = remotes.get(domain)?.[host];
    return server !== undefined && 'messages' in server ? server.messages : [];
  };
  async function send(recipients: readonly string[], more: object = {}): Promise<string> {
    const [to, ...cc] = recipients;
    const response = await client.request('POST', '/api/outbound/send', {
      fromAddress: sender.email,
      subject: 'Hello',
      textBody: 'It leaves.',
      recipients: [
        { address: to, type: 'To', displayName: 'The first' },
        ...cc.map((address) => ({ address, type: 'Cc' })),
      ],
      ...more,
    });
    t.is(response.status, 200, await response.clone().text());
    const { id, status } = (await response.json()) as Shown;
    t.is(status, 'Queued');
    return id;
  }
  const shown = (id: string) => client.get<Shown>(`/api/outbound/${id}`);
  async function ended(id: string): Promise<Shown> {
    for (;;) {
      const email = await shown(id);
      if (email.status === 'Sent' || email.status === 'Failed') return email;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
  const timeline = (id: string) => client.get<readonly Attempt[]>(`/api/outbound/${id}/timeline`);
  return { node, dns, sender, neighbour, client, remotes, messagesAt, send, shown, ended, timeline };
}

export const statuses = ({ recipients }: Shown) =>
  Object.fromEntries(recipients.map(({ address, status }) => [address, status]));
