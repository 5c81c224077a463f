// The second step of the engine: the stores of a node, over PostgreSQL. Each fails at once while the database does not answer.
import type { EmailTexts } from '../../actors/mailbox/search/email-texts.js';
import type { BlobStore } from '../../store/blobs.js';
import { clock } from '../../store/clock.js';
import { CommitWatch } from '../../store/commit-watch.js';
import type { DirectoryStore } from '../../store/directory.js';
import type { EventLog } from '../../store/events.js';
import type { ArrivedReports } from '../../store/feedback/arrived-reports.js';
import type { OwnReportStore } from '../../store/feedback/own-reports.js';
import type { OwnTlsReportStore } from '../../store/feedback/own-tls-reports.js';
import { type FlagFlushing, startFlagFlushing } from '../../store/flag-flushing.js';
import type { FolderBlobStore, FolderMessageStore } from '../../store/folder-messages.js';
import type { InboundStore } from '../../store/inbound.js';
import type { QuotaStore } from '../../store/limits/quotas.js';
import type { SendingStore } from '../../store/limits/sending.js';
import type { MailboxStore } from '../../store/mailboxes.js';
import type { OutboundStore } from '../../store/outbound.js';
import { postgresDirectory } from '../../store/postgres/accounts/directory.js';
import { postgresQuotas } from '../../store/postgres/accounts/quotas.js';
import { postgresSending } from '../../store/postgres/accounts/sending.js';
import { postgresDeferredFlags } from '../../store/postgres/commit/deferred-flags.js';
import { postgresArrivedReports } from '../../store/postgres/feedback/arrived-reports.js';
import { postgresOwnReports } from '../../store/postgres/feedback/own-reports.js';
import { postgresOwnTlsReports } from '../../store/postgres/feedback/own-tls-reports.js';
import { postgresLeases } from '../../store/postgres/leases.js';
import { postgresBlobs } from '../../store/postgres/mailbox/blobs.js';
import { postgresEvents } from '../../store/postgres/mailbox/events.js';
import { postgresExports } from '../../store/postgres/mailbox/exports.js';
import { postgresFolderMessages } from '../../store/postgres/mailbox/folder-messages.js';
import { postgresInbound } from '../../store/postgres/mailbox/inbound.js';
import { postgresMailboxes } from '../../store/postgres/mailbox/mailboxes.js';
import { postgresOutbound } from '../../store/postgres/outbound/outbound.js';
import { postgresSettings } from '../../store/postgres/settings.js';
import type { SettingStore } from '../../store/settings.js';
import { type AccountStores, openAccountStores } from './account-stores.js';
import type { ClusterAccess } from './cluster.js';
import { addJob, type EngineContext } from './engine-context.js';
import { type ExportRate, exportRate } from './export-rate.js';
import { type MailSearch, startMailSearch } from './mail-search.js';
import { recentBlobs } from './recent-blobs.js';
import { Revocations } from './revocations.js';

export type OpenTexts = (blobs: BlobStore) => EmailTexts & { close(): Promise<void> };

export interface EngineStores {
  readonly events: EventLog;
  readonly commits: CommitWatch;
  readonly inbound: InboundStore;
  readonly blobs: BlobStore;
  readonly texts: EmailTexts;
  readonly flushing: FlagFlushing;
  readonly mailboxRows: MailboxStore;
  readonly folderMessages: FolderMessageStore & FolderBlobStore;
  readonly search: MailSearch;
  readonly outbound: OutboundStore;
  readonly quotas: QuotaStore;
  readonly sending: SendingStore;
  readonly accounts: DirectoryStore;
  readonly accountStores: AccountStores;
  readonly settings: SettingStore;
  readonly exports: ExportRate;
  readonly arrivedReports: ArrivedReports;
  readonly ownReports: OwnReportStore;
  readonly ownTlsReports: OwnTlsReportStore;
  readonly revocations: Revocations;
}

export async function openStores(
  context: EngineContext,
  cluster: Pick<ClusterAccess, 'transport' | 'ownership'>,
  openTexts: OpenTexts,
): Promise<EngineStores> {
  const { config, log, node } = context;
  const { sql, messagesSql, breaker } = node;
  const { transport, ownership } = cluster;
  const mail = openMailStores(context, openTexts);
  const revocations = new Revocations({
    transport,
    ownership,
    leases: postgresLeases(sql),
    ttlMs: config.leaseTtlMs,
    log,
  });
  const announced = (keyIds: readonly string[]) => revocations.announce(keyIds);
  const accounts = breaker.guard(postgresDirectory(sql, ownership.shards, announced));
  for (const name of config.hostedDomains) await accounts.addDomain(name);
  return {
    ...mail,
    folderMessages: breaker.guard(postgresFolderMessages(messagesSql)),
    outbound: postgresOutbound(sql),
    quotas: breaker.guard(postgresQuotas(sql)),
    sending: breaker.guard(postgresSending(sql)),
    accounts,
    accountStores: openAccountStores(sql, breaker, announced),
    settings: breaker.guard(postgresSettings(sql)),
    ownReports: breaker.guard(postgresOwnReports(sql)),
    ownTlsReports: breaker.guard(postgresOwnTlsReports(sql)),
    arrivedReports: breaker.guard(postgresArrivedReports(sql)),
    exports: exportRate(breaker.guard(postgresExports(sql)), config.mboxExportInterval, log),
    revocations,
  };
}

/** What mailboxes read and write, and the jobs that write to it later: flags, and the words of emails. */
function openMailStores(context: EngineContext, openTexts: OpenTexts) {
  const { log, lifecycle, node, observability } = context;
  const { sql, commitSql, writerSql, searchSql, breaker } = node;
  const { metrics } = observability;
  const commits = new CommitWatch();
  const deadline = () => clock.now() + breaker.commitWithinMs();
  const inbound = breaker.guard(
    postgresInbound(sql, writerSql, commits.meter('inbound', metrics?.commits.inbound), deadline),
    [],
    ['spool'],
  );
  const blobs = recentBlobs(
    breaker.guard(postgresBlobs(sql, writerSql, commits.meter('blobs', metrics?.commits.blobs)), ['stream'], ['put']),
  );
  const texts = openTexts(blobs);
  addJob({ lifecycle }, 'texts of emails', () => texts.close());
  const flushing = startFlagFlushing({
    rows: postgresDeferredFlags(searchSql),
    failed: (accountId, err) => log.warn({ accountId, err }, 'flags are not written to the emails yet'),
  });
  addJob({ lifecycle }, 'flushing of flags', () => flushing.stop());
  const meter = commits.meter('mailboxes', metrics?.commits.mailboxes);
  const mailboxRows = blobs.keptBy(postgresMailboxes(sql, commitSql, meter, flushing, writerSql, deadline));
  const search = startMailSearch({
    sql: searchSql,
    texts,
    meter: metrics?.searchMerges,
    log,
    job: (name, stop) => addJob({ lifecycle }, name, stop),
  });
  return { events: postgresEvents(sql), commits, inbound, blobs, texts, flushing, mailboxRows, search };
}
