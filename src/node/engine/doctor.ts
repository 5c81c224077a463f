// The daily run of the checks of `mansio doctor` on this node. The checks are loaded with the first run: they are large.
import { createResolver } from '../../net/dns/resolver.js';
import { postgresReports } from '../../store/postgres/settings.js';
import { type DailyDoctor, startDailyDoctor } from '../doctor/daily-doctor.js';
import type { Finding } from '../doctor/finding.js';
import type { ClusterAccess } from './cluster.js';
import { addJob, type EngineContext } from './engine-context.js';

/** The shard whose owner runs the checks for the cluster. */
const CHOSEN_SHARD = 0;

/** Undefined in the demo, whose domain does not exist, and in all processes of a parent but the first. */
export function startDoctor(
  context: EngineContext,
  ownership: Pick<ClusterAccess['ownership'], 'owned'>,
): DailyDoctor | undefined {
  const { config, log, node } = context;
  if (config.demo || (node.processShare !== undefined && node.processShare.number !== 1)) return undefined;
  const doctor = startDailyDoctor({
    reports: node.breaker.guard(postgresReports(node.maintenanceSql)),
    isChosen: () => ownership.owned.includes(CHOSEN_SHARD),
    examine: () => examineHere(context),
    now: Date.now,
    log,
  });
  addJob(context, 'daily checks', () => doctor.stop());
  return doctor;
}

async function examineHere({ config, node }: EngineContext): Promise<readonly Finding[]> {
  const [{ examine }, { openSubject }] = await Promise.all([
    import('../doctor/doctor.js'),
    import('../doctor/open-subject.js'),
  ]);
  const over = new AbortController();
  try {
    const dns = createResolver({ servers: config.dns, signal: over.signal });
    const subject = await openSubject({ config, sql: node.sql, nodeId: node.nodeId, pid: process.pid, dns });
    return await examine(subject, subject.facts?.domains ?? []);
  } finally {
    over.abort();
  }
}
