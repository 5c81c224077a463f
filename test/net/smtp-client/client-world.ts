// Gives tests of the SMTP client what they need: a transport over a real DNS server, messages in memory, remote servers on one port.
import { createHash } from 'node:crypto';
import type { ExecutionContext } from 'ava';
import { pino } from 'pino';
import { freePort } from '../../../dev/ports.js';
import { startDnsServer, type Zone } from '../../../dev/servers/dns-server.js';
import { type RemoteOptions, startBareServer, startRemoteSmtp } from '../../../dev/servers/remote-smtp.js';
import type { DeliveryReport, DeliveryTask } from '../../../src/actors/delivery/delivery-transport.js';
import { DeliveryScheduler, type SchedulerLimits } from '../../../src/actors/delivery/scheduler/scheduler.js';
import { createSmtpTransport, type SmtpTransportOptions } from '../../../src/net/smtp-client/smtp-transport.js';
import type { StsPolicy } from '../../../src/store/sts-policies.js';
import { patientDns } from '../../support/peers/patient-dns.js';

export const MESSAGE = 'From: a@sender.test\r\nTo: b@remote.test\r\nSubject: hi\r\n\r\nhello\r\n';

/** Zones of hosts that `remote` starts servers for. */
export const MX1 = { A: ['127.0.0.2'] };
export const MX2 = { A: ['127.0.0.3'] };

export interface WorldOptions extends Omit<Partial<SmtpTransportOptions>, 'limits'> {
  readonly limits?: SmtpTransportOptions['limits'] & Partial<SchedulerLimits>;
  readonly zones?: Readonly<Record<string, Zone>>;
  /** In ms. It is short in tests with a silent name server. */
  readonly dnsTimeoutMs?: number;
}

export type World = Awaited<ReturnType<typeof world>>;

export async function world(t: ExecutionContext, { zones = {}, dnsTimeoutMs, ...options }: WorldOptions = {}) {
  const dns = await startDnsServer(zones);
  const ended = new AbortController();
  const port = options.port ?? (await freePort());
  const texts = new Map<string, Buffer>();
  const policies = new Map<string, StsPolicy>();
  const logged: Record<string, unknown>[] = [];
  const { connections, connectionsPerHost, waitingForConnection, connectionWaitMs } = options.limits ?? {};
  const scheduler = new DeliveryScheduler({
    ...(connections !== undefined && { connections }),
    ...(connectionsPerHost !== undefined && { connectionsPerHost }),
    ...(waitingForConnection !== undefined && { waitingForConnection }),
    ...(connectionWaitMs !== undefined && { connectionWaitMs }),
    emails: Number.POSITIVE_INFINITY,
  });
  const transport = createSmtpTransport({
    dns: patientDns(dns, { ...(dnsTimeoutMs !== undefined && { timeoutMs: dnsTimeoutMs }), signal: ended.signal }),
    blobs: {
      read: async (hash, start, end) => texts.get(hash)!.subarray(start, end),
      async *stream(hash, start, end) {
        const text = texts.get(hash)!;
        for (let at = start; at < end; at += 65_536) yield text.subarray(at, Math.min(end, at + 65_536));
      },
    },
    stsPolicies: {
      policyOf: async (domain) => policies.get(domain),
      keep: async (domain, policy) => void policies.set(domain, policy),
    },
    relays: { store: { relayOf: async () => undefined } },
    own: { hostname: 'mail.sender.test', bind: '127.0.0.1', mxPort: () => undefined },
    log: pino({ level: 'debug' }, { write: (line: string) => void logged.push(JSON.parse(line)) }),
    port,
    allowPrivate: true,
    ...options,
    // Tests count connections: a busy machine must not take longer for the next message than one is kept.
    limits: { idleMs: 60_000, ...options.limits },
  });
  t.teardown(async () => {
    await transport.close(0);
    ended.abort();
    await dns.close();
  });

  function task(
    domain: string,
    locals: readonly string[] = ['b'],
    text: string | Buffer = MESSAGE,
    accountId = 'account',
  ): DeliveryTask {
    const octets = Buffer.from(text as string);
    const blob = createHash('sha256').update(octets).digest('hex');
    texts.set(blob, octets);
    return {
      accountId,
      outboundId: 'outbound',
      sender: 'a@sender.test',
      domain,
      recipients: locals.map((local) => ({ id: `id-${local}`, address: `${local}@${domain}` })),
      blob,
      size: octets.length,
      signal: new AbortController().signal,
      connect: (host, signal) => scheduler.domain(scheduler.reserve(accountId)!, 'o', domain).connect(host, signal),
    };
  }

  return {
    transport,
    dns,
    port,
    policies,
    logged,
    task,
    texts,
    deliver: (...of: Parameters<typeof task>): Promise<DeliveryReport> => transport.deliver(task(...of)),
    async remote(address: string, remoteOptions: RemoteOptions = {}) {
      const remote = await startRemoteSmtp(address, port, remoteOptions);
      t.teardown(() => remote.close());
      return remote;
    },
    async bare(address: string, talk: Parameters<typeof startBareServer>[2]) {
      const server = await startBareServer(address, port, talk);
      t.teardown(() => server.close());
      return server;
    },
  };
}

/** Returns `kind statusCode` by recipient. */
export function kinds({ outcomes }: DeliveryReport): Readonly<Record<string, string>> {
  return Object.fromEntries(
    outcomes.map(({ recipientId, kind, statusCode }) => [recipientId.slice(3), `${kind} ${statusCode}`]),
  );
}

export function only(report: DeliveryReport): string {
  return Object.values(kinds(report)).join(', ');
}

/** Returns `host address` of each attempt. */
export function tried({ attempts }: DeliveryReport): string[] {
  return attempts.map(({ host, remoteAddress }) => `${host} ${remoteAddress}`);
}
