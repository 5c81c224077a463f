// Gauges of the engine, read at a scrape: actors in memory, leases, the cluster as of the last heartbeat, the bus, mail that waits for its
// placement.
import type { Releases } from '../../actors/delivery/releases.js';
import type { ImportPlacing } from '../../actors/mailbox/background/import-placing.js';
import type { Redelivery } from '../../actors/mailbox/background/redelivery.js';
import type { SearchMerging } from '../../actors/mailbox/search/search-merging.js';
import type { Host } from '../../actors/runtime/host.js';
import type { Ownership } from '../../actors/runtime/ownership/ownership.js';
import type { Transport } from '../../actors/runtime/transport/transport.js';
import type { NodeRow } from '../../store/leases.js';
import type { DailyDoctor, DoctorReport } from '../doctor/daily-doctor.js';
import { type MeasuredConsumers, watchConsumers } from './consumer-metrics.js';
import type { Families, Reading } from './families.js';

export interface EngineParts {
  readonly consumers: MeasuredConsumers;
  readonly host: Pick<Host, 'load'>;
  readonly ownership: Pick<Ownership, 'owned' | 'shards' | 'heartbeatAgeMs' | 'view' | 'unreachable'>;
  readonly transport: Pick<Transport, 'connected$' | 'breaks$'>;
  readonly redelivery: Pick<Redelivery, 'delivered' | 'waiting'>;
  readonly placing: Pick<ImportPlacing, 'placed'>;
  readonly releases: Pick<Releases, 'released'>;
  readonly merging: Pick<SearchMerging, 'waiting'>;
  /** Undefined on nodes that do not run the daily checks. */
  readonly doctor: Pick<DailyDoctor, 'last'> | undefined;
  /** `lastBackupAt`: in ms since the epoch. Both are undefined until they have been read. */
  readonly backupWatch: { readonly lastBackupAt: number | undefined; readonly awaitingRelease: number | undefined };
}

const STATES = ['serving', 'cut off', 'draining', 'silent'] as const;

export function watchEngine(families: Families, parts: EngineParts): void {
  const { host, ownership, transport, redelivery, placing, releases, merging } = parts;
  watchConsumers(families, parts.consumers);
  watchDoctor(families, () => parts.doctor?.last);
  watchBackups(families, parts.backupWatch);
  families.gauge('actors', 'Actors in memory.', () => host.load.actors);
  families.gauge('actor_state_bytes', 'Estimated memory of the states of these actors.', () => host.load.octets);
  families.gauge('actor_commands_waiting', 'Commands in the queues of all actors.', () => host.load.waiting);

  families.gauge('shards', 'Shards of the store, on all nodes.', () => ownership.shards);
  families.gauge('shards_owned', 'Shards this node owns.', () => ownership.owned.length);
  families.gauge(
    'heartbeat_age_seconds',
    'Seconds since this node renewed its leases; beyond MANSIO_LEASE_TTL_MS it owns nothing.',
    () => (Number.isFinite(ownership.heartbeatAgeMs) ? ownership.heartbeatAgeMs / 1000 : undefined),
  );
  families.gauges(
    'cluster_nodes',
    'Nodes as the last heartbeat saw them; state: serving, cut off, draining, or silent when the entry ran out.',
    ['state'],
    () => {
      const { view } = ownership;
      if (view === undefined) return [];
      return STATES.map((state) => [{ state }, view.nodes.filter((node) => stateOf(node) === state).length]);
    },
  );

  families.gauge(
    'peers_unreachable',
    'Nodes that are alive by the store and do not answer on NATS: its servers do not reach each other.',
    () => ownership.unreachable.length,
  );

  let connected = false;
  let breaks = 0;
  transport.connected$.subscribe((now) => {
    connected = now;
  });
  transport.breaks$.subscribe(() => {
    breaks++;
  });
  families.gauge('bus_connected', '1 while NATS is connected; always 1 without NATS.', () => Number(connected));
  families.readCounter(
    'bus_breaks_total',
    'Breaks of the connection to NATS, which may have lost published events.',
    () => breaks,
  );

  families.readCounter(
    'inbound_redelivered_total',
    'Accepted messages that were placed after the reply, counted at each mailbox.',
    () => redelivery.delivered,
  );
  families.gauge(
    'inbound_waiting',
    'Accepted messages for mailboxes of this node that could not be placed at the last attempt, every 2 s; should be 0.',
    () => redelivery.waiting,
  );
  families.readCounter('imported_total', 'Imported messages that were placed.', () => placing.placed);
  families.readCounter(
    'held_released_total',
    'Held emails that were released at their time (undo, sendAt).',
    () => releases.released,
  );
  families.gauge('search_merges_waiting', 'Accounts whose search index waits to be merged.', () => merging.waiting);
}

function stateOf({ expired, state }: NodeRow): (typeof STATES)[number] {
  return expired ? 'silent' : state;
}

function watchDoctor(families: Families, last: () => DoctorReport | undefined): void {
  families.gauges(
    'doctor_findings',
    'Findings of the last daily run of mansio doctor, of whichever node; status: ok, warn or fail.',
    ['check', 'status'],
    () => {
      const counts = new Map<string, number>();
      for (const { check, status } of last()?.findings ?? []) {
        const key = `${check} ${status}`;
        counts.set(key, (counts.get(key) ?? 0) + 1);
      }
      return [...counts].map(([key, count]): Reading<'check' | 'status'> => {
        const [check = '', status = ''] = key.split(' ');
        return [{ check, status }, count];
      });
    },
  );
  families.gauge(
    'doctor_last_run_timestamp_seconds',
    'When the daily run of mansio doctor was last made, in seconds since 1970.',
    () => {
      const report = last();
      return report && report.at / 1000;
    },
  );
}

function watchBackups(families: Families, watch: EngineParts['backupWatch']): void {
  families.gauge(
    'last_backup_timestamp_seconds',
    'When "mansio backup" last saved the store, read every minute; 0 when it never has.',
    () => (watch.lastBackupAt === undefined ? undefined : watch.lastBackupAt / 1000),
  );
  families.gauge(
    'restored_emails_waiting',
    'Restored outbound emails that wait for "mansio queue release", read every minute.',
    () => watch.awaitingRelease,
  );
}
