// The feedback reports on this node: those of other servers are read on the node that owns the first shard.
import { startReportReading } from '../../message-checks/feedback/reading/report-reading.js';
import { createResolver } from '../../net/dns/resolver.js';
import { clock } from '../../store/clock.js';
import type { ClusterAccess } from './cluster.js';
import { addJob, type EngineContext } from './engine-context.js';
import type { EngineStores } from './stores.js';

/** The shard whose owner does the work for the cluster. */
const CHOSEN_SHARD = 0;

export function startFeedback(
  context: EngineContext,
  ownership: Pick<ClusterAccess['ownership'], 'owned'>,
  { accounts, arrivedReports, blobs }: Pick<EngineStores, 'accounts' | 'arrivedReports' | 'blobs'>,
): void {
  const { config, log, observability } = context;
  const over = new AbortController();
  const reading = startReportReading({
    store: arrivedReports,
    blobs,
    dns: createResolver({ servers: config.dns, signal: over.signal }),
    hostedDomains: async () => (await accounts.domains()).map(({ name }) => name),
    isChosen: () => ownership.owned.includes(CHOSEN_SHARD),
    now: () => clock.now(),
    log,
    ...(observability.metrics && { meter: observability.metrics.feedback }),
  });
  addJob(context, 'feedback reports', async () => {
    over.abort();
    await reading.stop();
  });
}
