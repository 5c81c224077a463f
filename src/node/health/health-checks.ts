// The checks of /healthz (docs/interface/operator.md, "Health"). The HTTP gateway runs them and shows the results.

import { statfs } from 'node:fs/promises';
import { outboundNodes } from '../../actors/delivery/delivery-placement.js';
import type { QueueStatus } from '../../actors/delivery/queue-status.js';
import type { Ownership } from '../../actors/runtime/ownership/ownership.js';
import type { HealthCheck, HealthResult } from '../../gateways/http/health.js';
import type { LastBackup } from '../../store/backup/store-snapshot.js';
import type { CommitWatch } from '../../store/commit-watch.js';
import type { OutboundStore } from '../../store/outbound.js';
import { ping } from '../../store/postgres/driver/ping.js';
import type { SigningKeyStore } from '../../store/signing-keys.js';
import type { AcmeStatus } from '../certificates/acme-certificates.js';
import { type DailyDoctor, doctorCheck } from '../doctor/daily-doctor.js';
import type { Resources } from '../resources.js';
import { backendTlsCheck } from './backend-tls.js';
import { certificateCheck } from './certificate-check.js';
import { signingCheck } from './signing-check.js';

const DAY_MS = 86_400_000;
/** Two segments of PostgreSQL's log: less room does not hold the mail that is accepted until somebody reacts. */
const LEAST_FREE_OCTETS = 32 * 1024 * 1024;
/** A read of the queue takes ms; a database that restarts, or a new owner of a mailbox, takes some seconds. */
const BLIND_MS = 30_000;
/** Due mail is started within a second or two; a node that is behind for longer does not keep up. */
const LAG_MS = 60_000;
/** Two daily backups have failed. */
const OLD_BACKUP_MS = 3 * DAY_MS;
/** A node that restarts is back within this time. */
const ABSENCE_MS = 10_000;

/** The state of this node in its cluster. */
type OwnershipStatus = Pick<Ownership, 'nodeId' | 'state' | 'isCurrent' | 'owned' | 'shards' | 'view' | 'unreachable'>;

type Queue = Pick<
  QueueStatus,
  'isStopped' | 'lookAgeMs' | 'failingMs' | 'overdueMs' | 'inFlight' | 'shards' | 'pollMs'
>;

export interface Checked {
  readonly healthSql: Resources['healthSql'];
  readonly breaker: Pick<Resources['breaker'], 'run'>;
  readonly dataDirectory: Pick<Resources['dataDirectory'], 'path'>;
  readonly tls: { readonly certificates: Pick<Resources['tls']['certificates'], 'presented'> };
  readonly config: Pick<Resources['config'], 'tls' | 'natsUrl' | 'databaseUrl'>;
}

export function healthChecks(
  { healthSql, breaker, dataDirectory, tls, config }: Checked,
  parts: {
    readonly commits: Pick<CommitWatch, 'failing'>;
    /** Undefined on nodes without the role `api`. */
    readonly hub: { readonly connections: number } | undefined;
    readonly ownership: OwnershipStatus;
    /** Undefined on nodes without the role `outbound`. */
    readonly queue: Queue | undefined;
    /** Undefined on nodes that do not sign. */
    readonly signing: Pick<SigningKeyStore, 'domainsWithoutKey'> | undefined;
    /** Undefined on nodes without the role `outbound`. */
    readonly relayLogins: { readonly refusing: number } | undefined;
    /** Undefined on nodes that do not run the daily checks. */
    readonly doctor?: Pick<DailyDoctor, 'last'> | undefined;
    /** The outbound mail of all nodes. */
    readonly outbound: Pick<OutboundStore, 'overdueMs' | 'isStranded' | 'awaitingRelease'>;
    /** Returns the last backup that `mansio backup` has made of the store. */
    readonly lastBackup: () => Promise<LastBackup | undefined>;
    /** Undefined when no certificates are requested. */
    readonly acme: { readonly status: AcmeStatus } | undefined;
  },
  now: () => number = Date.now,
): readonly HealthCheck[] {
  const checks: HealthCheck[] = [
    {
      name: 'database',
      tags: ['infrastructure'],
      run: async () => {
        await breaker.run(() => ping(healthSql));
        return { status: 'Healthy', description: 'The database is reachable and accepts connections.' };
      },
    },
    {
      name: 'storage',
      tags: ['infrastructure'],
      run: () => storageResult(dataDirectory.path, parts.commits.failing),
    },
    {
      name: 'shards',
      tags: ['infrastructure'],
      state: () => parts.ownership.state,
      run: async () => shardsResult(parts.ownership),
    },
    ...(parts.hub === undefined ? [] : [hubCheck(parts.hub)]),
    {
      name: 'delivery-queue',
      tags: ['api'],
      run: async () => {
        const own = parts.queue && queueResult(parts.queue);
        return own?.status === 'Unhealthy' ? own : clusterResult(parts.outbound, parts.ownership, own);
      },
    },
  ];
  checks.push(backupCheck(parts.lastBackup, now));
  if (parts.signing !== undefined) checks.push(signingCheck(parts.signing));
  if (parts.relayLogins !== undefined) checks.push(relayCheck(parts.relayLogins));
  const backendTls = backendTlsCheck(config);
  if (backendTls !== undefined) checks.push(backendTls);
  if (parts.doctor !== undefined) checks.push(doctorCheck(parts.doctor));
  // The server itself renews the self-signed certificate, so nobody has to watch it.
  if (config.tls !== undefined || parts.acme !== undefined)
    checks.push(certificateCheck(tls.certificates, parts.acme, now));
  return checks;
}

/** Degraded only: stored mail can still be read, so clients stay. */
async function storageResult(directory: string, failing: string | undefined): Promise<HealthResult> {
  const { bavail, bsize } = await statfs(directory);
  const data = { freeBytes: bavail * bsize };
  if (failing !== undefined)
    return { status: 'Degraded', description: `Commits fail (${failing}): the log says why.`, data };
  if (data.freeBytes < LEAST_FREE_OCTETS) {
    return { status: 'Degraded', description: 'The disk of the data directory is full, or nearly so.', data };
  }
  return { status: 'Healthy', description: 'Commits succeed, and the disk of the data directory has room.', data };
}

function hubCheck(hub: { readonly connections: number }): HealthCheck {
  return {
    name: 'signalr',
    tags: ['api'],
    run: async () => ({
      status: 'Healthy',
      description: 'The real-time hub is registered.',
      data: { connections: hub.connections },
    }),
  };
}

/** A node that cannot serve must get no more clients: its balancer reads this check. */
function shardsResult({ nodeId, state, isCurrent, owned, shards, view, unreachable }: OwnershipStatus): HealthResult {
  const data = { state, owned: owned.length, shards };
  const unhealthy = (description: string): HealthResult => ({ status: 'Unhealthy', description, data });
  if (state === 'draining') return unhealthy('This node is stopping.');
  if (!isCurrent) return unhealthy('This node could not renew its leases: it owns no mailboxes at present.');
  if (state === 'cut off') {
    const description = 'No NATS server can be reached: mailboxes of other nodes cannot be reached from here.';
    const others = view?.nodes.some((node) => node.id !== nodeId && node.state === 'serving' && !node.expired);
    // Clients leave only when another node can serve them better.
    return { status: others === true ? 'Unhealthy' : 'Degraded', description, data };
  }
  if (unreachable.length > 0) {
    // Clients stay: the nodes that do not answer report the same about this node.
    const description = `NATS is split: ${unreachable.length} of the nodes that are alive do not answer on it.`;
    return { status: 'Degraded', description, data: { ...data, unheard: unreachable.length } };
  }
  return { status: 'Healthy', description: `This node owns ${owned.length} of ${shards} shards of mailboxes.`, data };
}

/** `own`: the result for the queue of this node, if it has one. */
async function clusterResult(
  outbound: Pick<OutboundStore, 'overdueMs' | 'isStranded' | 'awaitingRelease'>,
  { view, shards }: OwnershipStatus,
  own: HealthResult | undefined,
): Promise<HealthResult> {
  const all = Array.from({ length: shards }, (_, shard) => shard);
  const [overdueMs, awaitingRelease] = await Promise.all([outbound.overdueMs(all), outbound.awaitingRelease()]);
  // Without a view, this node does not know the others.
  const isNobody = view !== undefined && outboundNodes(view).length === 0;
  const data = { ...own?.data, overdueMs, awaitingRelease };
  if (isNobody && (overdueMs > ABSENCE_MS || (await outbound.isStranded(all)))) {
    const description = 'Outbound mail is due, and no node that lives has the role outbound.';
    return { status: 'Unhealthy', description, data };
  }
  if (overdueMs > LAG_MS) return { status: 'Degraded', description: late(overdueMs), data };
  if (own?.status === 'Degraded') return own;
  if (awaitingRelease > 0) {
    const description = `Restored outbound email waits for "mansio queue release": ${awaitingRelease}.`;
    return { status: 'Degraded', description, data };
  }
  const others = 'Others deliver outbound mail: this node does not have the role.';
  return { status: 'Healthy', description: own?.description ?? others, data };
}

function late(overdueMs: number): string {
  return `Outbound mail is late: the first of it has been due for ${seconds(overdueMs)}.`;
}

function seconds(ms: number): string {
  return `${Math.round(ms / 1000)} s`;
}

function queueResult(queue: Queue): HealthResult {
  const { isStopped, lookAgeMs, failingMs, overdueMs, inFlight, shards, pollMs } = queue;
  const data = { inFlight, shards, overdueMs };
  const unhealthy = (description: string): HealthResult => ({ status: 'Unhealthy', description, data });
  if (isStopped) return unhealthy('The delivery of outbound mail has stopped.');
  if (lookAgeMs > BLIND_MS + pollMs) return unhealthy(`The queue could not be read for ${seconds(lookAgeMs)}.`);
  if (failingMs > BLIND_MS) return unhealthy(`No delivery could be begun for ${seconds(failingMs)}.`);
  if (overdueMs > LAG_MS + pollMs) {
    return { status: 'Degraded', description: late(overdueMs), data };
  }
  return { status: 'Healthy', description: 'Outbound mail is delivered as it becomes due.', data };
}

/** Health is public, so it names no smart host; the timeline of an email that waits does. */
function relayCheck(logins: { readonly refusing: number }): HealthCheck {
  return {
    name: 'relay',
    tags: ['infrastructure'],
    run: async () => {
      const { refusing } = logins;
      const data = { refusing };
      if (refusing === 0) return { status: 'Healthy', description: 'No smart host refuses the credentials.', data };
      const what = refusing === 1 ? 'A smart host refuses' : `${refusing} smart hosts refuse`;
      const description = `${what} the credentials: outbound mail waits. See "mansio queue list" for the reply.`;
      return { status: 'Degraded', description, data };
    },
  };
}

/** A store that has never had a backup of this kind may be saved in other ways, so this is no fault. */
function backupCheck(lastBackup: () => Promise<LastBackup | undefined>, now: () => number): HealthCheck {
  return {
    name: 'backup',
    tags: ['infrastructure'],
    run: async () => {
      const last = await lastBackup();
      if (last === undefined) return { status: 'Healthy', description: 'No backup was made by "mansio backup".' };
      const ageMs = Math.max(0, now() - last.at);
      const data = { lastBackupAt: new Date(last.at).toISOString(), ageHours: Math.floor(ageMs / (DAY_MS / 24)) };
      if (ageMs > OLD_BACKUP_MS) {
        return { status: 'Degraded', description: 'The last backup is more than three days old.', data };
      }
      return { status: 'Healthy', description: 'The last backup is recent.', data };
    },
  };
}
