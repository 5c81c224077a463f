// Makes the tables of docs/metrics.md from the declarations in src/node/metrics. Nothing is measured.
import { NEVER } from 'rxjs';
import type { Declared } from '../../src/node/metrics/families.js';
import { createMetrics, type MeteredNode, type Metrics } from '../../src/node/metrics/metrics.js';
import { createProcessMetrics } from '../../src/node/metrics/process-metrics.js';
import { code, table } from './markdown.js';

export const METRICS_PAGE = 'docs/metrics.md';

/** Returns every family that some node exports, in the order of declaration. */
export function declaredMetrics(): readonly Declared[] {
  return allFamilies({ version: '0.0.0', roles: new Set() }).declared;
}

/** Returns the metrics of a node that watches all of its parts; their values are those of an idle node. */
export function allFamilies(node: MeteredNode): Metrics {
  const metrics = createMetrics(node);
  for (const gateway of ['smtp', 'submission', 'imap', 'pop3', 'sieve', 'hub', 'event_stream'] as const)
    metrics.watchConnections(gateway, () => 0);
  metrics.watchQueue({ inFlight: 0, overdueMs: 0, lookAgeMs: 0, shards: 0 });
  metrics.watchDisk('.');
  metrics.watchCertificates({ presented: () => ({ names: [], expiresAt: new Date() }), acme: () => undefined });
  metrics.watchEngine({
    consumers: { accounts: 0, active: 0, waiting: 0, resting: 0 },
    host: { load: { actors: 0, octets: 0, waiting: 0 } },
    ownership: { owned: [], shards: 0, heartbeatAgeMs: 0, unreachable: [], view: undefined },
    transport: { connected$: NEVER, breaks$: NEVER },
    redelivery: { delivered: 0, waiting: 0 },
    placing: { placed: 0 },
    releases: { released: 0 },
    merging: { waiting: 0 },
    doctor: undefined,
    backupWatch: { lastBackupAt: 0, awaitingRelease: 0 },
  });
  return metrics;
}

/** Returns the families that a parent of several processes exports in addition. */
export function declaredByParents(): readonly Declared[] {
  return createProcessMetrics({ processes: () => [], texts: async () => [] }).declared;
}

const SECTIONS: readonly (readonly [title: string, holds: (family: Declared) => boolean])[] = [
  ['Nodes with the role `mx`', ({ role }) => role === 'mx'],
  ['Nodes with the role `submission`', ({ role }) => role === 'submission'],
  ['Nodes with the role `imap`', ({ role }) => role === 'imap'],
  ['Nodes with the role `pop3`', ({ role }) => role === 'pop3'],
  ['Nodes with the role `api`', ({ role }) => role === 'api'],
  ['Nodes with the role `outbound`', ({ role }) => role === 'outbound'],
  ['Every node', ({ role, name }) => role === undefined && !isLibrary(name)],
  ['Every node: the process', ({ name }) => isLibrary(name)],
];

const isLibrary = (name: string) => /^mansio_(process|nodejs)_/.test(name);

export function metricsTables(): string {
  const declared = declaredMetrics();
  const section = (title: string, families: readonly Declared[]) => {
    const rows = families.map(({ name, type, labels, help }) => [code(name), type, labels.map(code).join(', '), help]);
    return `### ${title}\n\n${table(['Name', 'Type', 'Labels', 'Meaning'], rows)}`;
  };
  const ofNodes = SECTIONS.map(([title, holds]) => section(title, declared.filter(holds)));
  return [
    ...ofNodes,
    section('Parents of [several processes](cluster.md#several-processes-on-one-machine)', declaredByParents()),
  ].join('\n');
}
