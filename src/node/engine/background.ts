// The fourth step of the engine: work that no client waits for. Each job goes by the shards that this node owns, or may run on several nodes
// at the same time.
import { type Releases, startReleases } from '../../actors/delivery/releases.js';
import { type ImportPlacing, startImportPlacing } from '../../actors/mailbox/background/import-placing.js';
import { type Redelivery, startRedelivery } from '../../actors/mailbox/background/redelivery.js';
import { postgresSending } from '../../store/postgres/accounts/sending.js';
import { postgresWebhookDeliveries } from '../../store/postgres/accounts/webhook-deliveries.js';
import { lastBackup } from '../../store/postgres/backup/last-backup.js';
import { postgresArrivedReports } from '../../store/postgres/feedback/arrived-reports.js';
import { postgresOwnReports } from '../../store/postgres/feedback/own-reports.js';
import { postgresOwnTlsReports } from '../../store/postgres/feedback/own-tls-reports.js';
import { postgresBlobs } from '../../store/postgres/mailbox/blobs.js';
import { postgresEvents } from '../../store/postgres/mailbox/events.js';
import { postgresGreylist } from '../../store/postgres/mailbox/greylist.js';
import { postgresImports } from '../../store/postgres/mailbox/imports.js';
import { postgresMailboxes } from '../../store/postgres/mailbox/mailboxes.js';
import { postgresRefusals } from '../../store/postgres/mailbox/refusals.js';
import { postgresOutbound } from '../../store/postgres/outbound/outbound.js';
import { postgresStsMaintenance } from '../../store/postgres/outbound/sts-maintenance.js';
import type { DailyDoctor } from '../doctor/daily-doctor.js';
import { type BackupWatch, startBackupWatch } from './backup-watch.js';
import type { ClusterAccess } from './cluster.js';
import { startDoctor } from './doctor.js';
import { addJob, type EngineContext } from './engine-context.js';
import { startFeedback } from './feedback.js';
import { startHousekeeping } from './housekeeping.js';
import type { EngineMailboxes } from './mailboxes.js';
import type { EngineStores } from './stores.js';

interface BackgroundWork {
  readonly redelivery: Redelivery;
  readonly placing: ImportPlacing;
  readonly releases: Releases;
  /** Undefined where another process of the parent runs it, and in the demo. */
  readonly doctor: DailyDoctor | undefined;
  readonly backupWatch: BackupWatch;
}

const REDELIVERY_INTERVAL_MS = 2_000;
/** Longer than a gateway waits for the owner. */
const REDELIVERY_AGE_MS = 5_000;
const IMPORT_INTERVAL_MS = 500;
const RELEASE_INTERVAL_MS = 500;

export async function startBackground(
  context: EngineContext,
  { ownership }: ClusterAccess,
  stores: EngineStores,
  actors: EngineMailboxes,
): Promise<BackgroundWork> {
  const { mailboxes } = actors;
  const { log, node, observability } = context;
  const redelivery = await startRedelivery({
    inbound: stores.inbound,
    mailboxes,
    ownership,
    log,
    intervalMs: REDELIVERY_INTERVAL_MS,
    minAgeMs: REDELIVERY_AGE_MS,
    tracer: observability.tracer,
  });
  addJob(context, 'redelivery', () => redelivery.stop());
  const placing = startImportPlacing({
    imports: node.breaker.guard(postgresImports(node.sql)),
    mailboxes,
    ownership,
    log,
    intervalMs: IMPORT_INTERVAL_MS,
  });
  addJob(context, 'placing of imports', () => placing.stop());
  const releases = startReleases({
    store: stores.outbound,
    mailboxes,
    ownership,
    log,
    intervalMs: RELEASE_INTERVAL_MS,
  });
  addJob(context, 'releases of held mail', () => releases.stop());
  const backupWatch = startBackupWatch({
    lastBackup: () => lastBackup(node.maintenanceSql),
    outbound: postgresOutbound(node.maintenanceSql),
    log,
  });
  addJob(context, 'watch of backups', () => backupWatch.stop());
  keepHouse(context, stores, mailboxes);
  startFeedback(context, ownership, stores, actors);
  const doctor = startDoctor(context, ownership);
  return { redelivery, placing, releases, backupWatch, doctor };
}

/** Housekeeping has a pool of its own, so that it never delays mail. */
function keepHouse(
  context: EngineContext,
  { flushing, search, accounts, accountStores }: EngineStores,
  mailboxes: EngineMailboxes['mailboxes'],
): void {
  const { config, log, node } = context;
  const { maintenanceSql, commitSql } = node;
  const housekeeping = startHousekeeping({
    events: postgresEvents(maintenanceSql),
    replies: postgresMailboxes(maintenanceSql, commitSql),
    flushing,
    search: search.store,
    blobs: postgresBlobs(maintenanceSql),
    directory: accounts,
    sessions: accountStores.sessions,
    passkeys: accountStores.passkeys,
    stsPolicies: postgresStsMaintenance(maintenanceSql),
    webhookDeliveries: postgresWebhookDeliveries(maintenanceSql),
    refusals: postgresRefusals(maintenanceSql),
    reports: postgresArrivedReports(maintenanceSql),
    greylist: postgresGreylist(maintenanceSql),
    ownReports: postgresOwnReports(maintenanceSql),
    ownTlsReports: postgresOwnTlsReports(maintenanceSql),
    sending: postgresSending(maintenanceSql),
    outbound: { store: postgresOutbound(maintenanceSql), keepDays: config.outboundKeepDays },
    mailboxes,
    log,
  });
  addJob(context, 'housekeeping', () => housekeeping.stop());
}
