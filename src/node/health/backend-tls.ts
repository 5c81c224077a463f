// Says which servers of NATS_URL and DATABASE_URL are on other machines and may be talked to without TLS, so that whoever is on the way reads
// mail and passwords: a warning at the start, the check `backend-tls` of health, and a check of `mansio doctor`.
import type { Logger } from 'pino';
import { natsServer } from '../../actors/runtime/transport/nats-servers.js';
import type { HealthCheck } from '../../gateways/http/health.js';
import { databaseServers } from '../../store/postgres/driver/client.js';
import type { Config } from '../config/config.js';
import { isLoopbackHost } from '../config/values.js';

type Urls = Pick<Config, 'natsUrl' | 'databaseUrl'>;

/** The servers of one setting that are beyond loopback. */
export interface RemoteServers {
  readonly setting: 'NATS_URL' | 'DATABASE_URL';
  /** Names and addresses of those that may be talked to without TLS; the log shows them, health does not. */
  readonly plaintext: readonly string[];
  /** What travels there. */
  readonly carries: string;
  /** What the operator should do about `plaintext`. */
  readonly fix: string;
}

/** Returns an element per setting that has a server beyond loopback. */
export function remoteServers({ natsUrl = [], databaseUrl }: Urls): readonly RemoteServers[] {
  const nats = natsUrl.map(natsServer).filter(({ host }) => !isLoopbackHost(host));
  const { hosts, demandsTls } =
    databaseUrl === undefined ? { hosts: [], demandsTls: true } : databaseServers(databaseUrl);
  const databases = hosts.filter((host) => !isLoopbackHost(host));
  const all: readonly (RemoteServers & { readonly count: number })[] = [
    {
      setting: 'NATS_URL',
      count: nats.length,
      plaintext: nats.filter(({ tls }) => !tls).map(({ host }) => host),
      carries: 'mail of accounts on other nodes',
      fix: 'write tls:// before each server in NATS_URL, and give the servers certificates (nats.conf)',
    },
    {
      setting: 'DATABASE_URL',
      count: databases.length,
      plaintext: demandsTls ? [] : databases,
      carries: 'all mail and the password of the database',
      fix: 'add sslmode=verify-full to DATABASE_URL, and turn ssl on in PostgreSQL',
    },
  ];
  return all.filter(({ count }) => count > 0).map(({ count: _, ...servers }) => servers);
}

export function warnOfPlaintext(urls: Urls, log: Pick<Logger, 'warn'>): void {
  for (const { setting, plaintext, carries, fix } of remoteServers(urls)) {
    if (plaintext.length > 0)
      log.warn(
        { servers: plaintext },
        `${setting} has servers beyond loopback without TLS, so ${carries} can be read on the way: ${fix}`,
      );
  }
}

/** Undefined when all servers are on this machine. Degraded only: clients are served, and another node has the same settings. */
export function backendTlsCheck(urls: Urls): HealthCheck | undefined {
  const remote = remoteServers(urls);
  if (remote.length === 0) return undefined;
  const plain = remote.filter(({ plaintext }) => plaintext.length > 0);
  const data = { plaintext: plain.map(({ setting }) => setting) };
  return {
    name: 'backend-tls',
    tags: ['infrastructure'],
    run: async () =>
      plain.length === 0
        ? { status: 'Healthy', description: 'Connections to NATS and PostgreSQL on other machines use TLS.', data }
        : {
            status: 'Degraded',
            description: `Connections to other machines may be without TLS: ${plain.map(({ fix }) => fix).join('; ')}.`,
            data,
          },
  };
}
