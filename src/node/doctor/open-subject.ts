// Makes what the checks look at from a connection to the store: for the command, and for the daily run of a node.
import { readFileSync } from 'node:fs';
import { inTime } from '../../concurrency/time-bounds.js';
import { readDkimKey } from '../../mail-format/authentication/dkim-key.js';
import { type Pace, pacedDns } from '../../net/dns/paced-dns.js';
import type { Dns } from '../../net/dns/resolver.js';
import { postgresDirectory } from '../../store/postgres/accounts/directory.js';
import { postgresUnclaimed } from '../../store/postgres/accounts/unclaimed.js';
import { lastBackup } from '../../store/postgres/backup/last-backup.js';
import { postgresCertificates } from '../../store/postgres/certificates.js';
import type { Sql } from '../../store/postgres/driver/client.js';
import { readDatabaseClock, readDatabaseCondition } from '../../store/postgres/driver/database-condition.js';
import { postgresLeases } from '../../store/postgres/leases.js';
import { postgresBacklog } from '../../store/postgres/mailbox/backlog.js';
import { postgresOutbound } from '../../store/postgres/outbound/outbound.js';
import { postgresRelays } from '../../store/postgres/outbound/relays.js';
import { postgresSigningKeys } from '../../store/postgres/outbound/signing-keys.js';
import type { Config } from '../config/config.js';
import type { RecordSettings } from '../domains/domain-records.js';
import { publicEndpoints } from '../domains/public-endpoints.js';
import { version } from '../version.js';
import type { DoctorStore, DoctorSubject, StoredFacts } from './subject.js';

export interface SubjectOptions {
  readonly config: Config;
  readonly sql: Sql;
  readonly nodeId: string | undefined;
  readonly pid: number | undefined;
  readonly dns: Dns;
  readonly blockLists?: readonly string[];
}

/** The time for the first answer of the store. */
const FACTS_MS = 3_500;
const DIAL_MS = 3_500;
const LOOKUPS_MS = 4_000;
const HTTPS_PORT = 443;
/** A run over 50 domains asks for 1,500 names. */
export const DOCTOR_PACE: Pace = { most: 50, countsMs: 200 };

/** Never rejects: a store that does not answer is a finding. */
export async function openSubject(options: SubjectOptions): Promise<DoctorSubject> {
  const { config, sql, nodeId, pid, dns, blockLists = [] } = options;
  const facts = await inTime(readStored(sql), FACTS_MS, 'the store').catch(() => undefined);
  const endpoints = publicEndpoints(config, facts?.view.nodes ?? []);
  return {
    config,
    version,
    nodeId,
    pid,
    store: storeOf(sql, config),
    facts,
    records: { endpoints, fallback: defaultKey(config) },
    dns: pacedDns(dns, DOCTOR_PACE),
    blockLists,
    policyPort: HTTPS_PORT,
    dialMs: DIAL_MS,
    lookupsMs: LOOKUPS_MS,
  };
}

async function readStored(sql: Sql): Promise<StoredFacts> {
  const view = await postgresLeases(sql).view();
  const domains = await postgresDirectory(sql, view.leases.length).domains();
  const keys = await postgresSigningKeys(sql).all();
  const relays = await postgresRelays(sql).all();
  return { view, domains: domains.map(({ name }) => name), keys, relays };
}

function storeOf(sql: Sql, { acmeDirectory }: Config): DoctorStore {
  return {
    condition: () => readDatabaseCondition(sql),
    clock: () => readDatabaseClock(sql),
    async overdueMs() {
      const { leases } = await postgresLeases(sql).view();
      return postgresOutbound(sql).overdueMs(leases.map(({ shard }) => shard));
    },
    inboundOldestMs: async () => (await postgresBacklog(sql).inbound()).oldestMs,
    unclaimed: () => postgresUnclaimed(sql).list(),
    certificates: async () => (acmeDirectory === undefined ? [] : postgresCertificates(sql, acmeDirectory).states()),
    lastBackup: () => lastBackup(sql),
    awaitingRelease: () => postgresOutbound(sql).awaitingRelease(),
  };
}

/** The key of MANSIO_DKIM_KEY; undefined when its file cannot be read here: then the domains that need it have no key. */
function defaultKey({ dkim }: Config): RecordSettings['fallback'] {
  if (dkim === undefined) return undefined;
  try {
    return { selector: dkim.selector, ...readDkimKey(readFileSync(dkim.key, 'utf8')) };
  } catch {
    return undefined;
  }
}
