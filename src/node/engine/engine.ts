// The engine of a node: its actors and their dependencies. It knows the ports of the store and no gateway; gateways get only `Engine`.

import { randomBytes } from 'node:crypto';
import type { Logger } from 'pino';
import { createAccountApi } from '../../actors/account/account-api.js';
import type { AccountApi } from '../../actors/account/protocol.js';
import { type Consumers, createConsumers } from '../../actors/consumers/consumers.js';
import { OUTBOUND_ROLE } from '../../actors/delivery/delivery-placement.js';
import { type HostedDelivery, hostedDelivery } from '../../actors/delivery/local-transport.js';
import { messageFacts } from '../../actors/delivery/message-facts.js';
import type { DeliveryQueue } from '../../actors/delivery/queue.js';
import { QueueWakeup } from '../../actors/delivery/queue-wakeup.js';
import { startReleases } from '../../actors/delivery/releases.js';
import { createDirectory } from '../../actors/directory/directory.js';
import { KeyUses } from '../../actors/directory/key-uses.js';
import type { Directory, HostedDomains } from '../../actors/directory/protocol.js';
import { type MailboxActors, mailboxActorProtocol } from '../../actors/mailbox/actor-protocol.js';
import { startBodyFiltering } from '../../actors/mailbox/background/body-filters.js';
import { startImportPlacing } from '../../actors/mailbox/background/import-placing.js';
import { startRedelivery } from '../../actors/mailbox/background/redelivery.js';
import { mailboxBehavior } from '../../actors/mailbox/behavior.js';
import { InlineMessages } from '../../actors/mailbox/inline-messages.js';
import { deliverLocally } from '../../actors/mailbox/outbound/local-deliveries.js';
import type { MailboxEvent, Mailboxes } from '../../actors/mailbox/protocol.js';
import type { EmailTexts } from '../../actors/mailbox/search/email-texts.js';
import { warmUp } from '../../actors/mailbox/state/state.js';
import { createEventStreams } from '../../actors/runtime/events/event-streams.js';
import { startHost } from '../../actors/runtime/host.js';
import { createOwnership } from '../../actors/runtime/ownership/leased-ownership.js';
import type { Ownership } from '../../actors/runtime/ownership/ownership.js';
import { createRefs } from '../../actors/runtime/refs.js';
import type { Transport } from '../../actors/runtime/transport/transport.js';
import { localTransport } from '../../actors/runtime/transport/transport-local.js';
import { natsTransport } from '../../actors/runtime/transport/transport-nats.js';
import type { BlobStore } from '../../store/blobs.js';
import { clock } from '../../store/clock.js';
import { CommitWatch } from '../../store/commit-watch.js';
import type { DirectoryStore } from '../../store/directory.js';
import { startFlagSettling } from '../../store/flag-settling.js';
import type { FolderBlobStore, FolderMessageStore } from '../../store/folder-messages.js';
import { newId } from '../../store/ids/new-id.js';
import type { InboundStore } from '../../store/inbound.js';
import type { LocalDelivery } from '../../store/mailboxes.js';
import { postgresConsumers } from '../../store/postgres/accounts/consumers.js';
import { postgresDirectory } from '../../store/postgres/accounts/directory.js';
import { postgresWebhookDeliveries } from '../../store/postgres/accounts/webhook-deliveries.js';
import { postgresFlagOverlays } from '../../store/postgres/commit/flag-overlays.js';
import { postgresLeases } from '../../store/postgres/leases.js';
import { postgresBlobs } from '../../store/postgres/mailbox/blobs.js';
import { postgresEvents } from '../../store/postgres/mailbox/events.js';
import { postgresExports } from '../../store/postgres/mailbox/exports.js';
import { postgresFolderMessages } from '../../store/postgres/mailbox/folder-messages.js';
import { postgresImports } from '../../store/postgres/mailbox/imports.js';
import { postgresInbound } from '../../store/postgres/mailbox/inbound.js';
import { postgresMailboxes } from '../../store/postgres/mailbox/mailboxes.js';
import { postgresOutbound } from '../../store/postgres/outbound/outbound.js';
import { postgresSigningKeys } from '../../store/postgres/outbound/signing-keys.js';
import { postgresStsMaintenance } from '../../store/postgres/outbound/sts-maintenance.js';
import { postgresStsPolicies } from '../../store/postgres/outbound/sts-policies.js';
import { postgresSettings } from '../../store/postgres/settings.js';
import type { SettingStore } from '../../store/settings.js';
import type { Config } from '../config/config.js';
import type { Lifecycle } from '../lifecycle.js';
import type { Observability } from '../observability.js';
import { shareOfMemory } from '../processes/process-share.js';
import type { DatabasePools, Resources } from '../resources.js';
import { version } from '../version.js';
import { type AccountStores, openAccountStores } from './account-stores.js';
import { openQueue, type RemoteTransport } from './delivery-queue.js';
import { type ExportRate, exportRate } from './export-rate.js';
import { startHousekeeping } from './housekeeping.js';
import { startMailSearch } from './mail-search.js';
import { recentBlobs } from './recent-blobs.js';
import type { RemoteTransportStores } from './remote-transport.js';
import { Revocations } from './revocations.js';

export interface Engine {
  readonly mailboxes: Mailboxes;
  readonly directory: Directory & HostedDomains;
  readonly accounts: DirectoryStore;
  readonly accountApi: AccountApi;
  readonly settings: SettingStore;
  readonly inbound: InboundStore;
  readonly inlineMessages: InlineMessages;
  readonly blobs: BlobStore;
  readonly folderMessages: FolderMessageStore & FolderBlobStore;
  readonly exports: ExportRate;
  readonly commits: Pick<CommitWatch, 'failing'>;
  readonly ownership: Ownership;
  readonly revocations: Pick<Revocations, 'period'>;
  readonly accountStores: AccountStores;
  /** The consumers of this node's accounts; not started yet. */
  readonly consumers: Consumers;
  /** The bus for notices and requests between nodes. */
  readonly bus: Pick<Transport, 'publish' | 'subscribe' | 'request' | 'respond'>;
  /** Undefined without the role `outbound`. */
  readonly queue: DeliveryQueue | undefined;
  /** Rejects when this node must not continue. */
  readonly failed: Promise<never>;
}

const MAILBOX_IDLE_MS = 5 * 60_000;
const MAILBOX_SWEEP_MS = 5_000;
const MAILBOX_MEMORY_OCTETS = 256 * 1024 * 1024;
/** The reserve in which accepted commands commit and reply. */
const MAILBOXES_STOP_MS = 500;
/** The reserve for returning leases, because otherwise the next node waits until they run out. */
const LEASES_STOP_MS = 300;
/** Short, because the next start repeats the work. */
const JOB_RESERVE_MS = 50;
/** The most that a part may use of the remaining time, because the store may never answer. */
const STOP_MS = 2_000;
const REDELIVERY_INTERVAL_MS = 2_000;
/** Longer than a gateway waits for the owner. */
const REDELIVERY_AGE_MS = 5_000;
const IMPORT_INTERVAL_MS = 500;
const RELEASE_INTERVAL_MS = 500;

/** Another process uses this node's name. */
class Displaced extends Error {
  override readonly name = 'Displaced';
}

/** The parts of gateways that the engine uses; it creates them when it needs them. */
export interface EngineAdapters {
  texts(blobs: BlobStore): EmailTexts & { close(): Promise<void> };
  /** The transport for mail to remote domains; called only on nodes with the role `outbound`. */
  remoteTransport(stores: RemoteTransportStores): Promise<RemoteTransport>;
}

export async function startEngine(
  config: Config,
  log: Logger,
  lifecycle: Lifecycle,
  node: DatabasePools & Pick<Resources, 'nodeId' | 'processShare' | 'breaker'>,
  { metrics, tracer }: Observability,
  open: EngineAdapters,
): Promise<Engine> {
  const { sql, commitSql, writerSql, searchSql, messagesSql, leaseSql, maintenanceSql, nodeId, processShare, breaker } =
    node;
  const leases = postgresLeases(leaseSql);
  const watched = { tracer, ...(metrics && { meter: metrics.runtime }) };
  const { leaseTtlMs: ttlMs, shards: configured, natsUrl: servers } = config;
  const shards = await leases.shardCount(configured);
  if (shards !== configured) log.warn({ shards, configured }, 'MANSIO_SHARDS is fixed by the store');
  const transport =
    servers === undefined
      ? localTransport({ log })
      : await natsTransport({ servers, clusterId: await leases.clusterId(), nodeId, log });
  lifecycle.add('transport', () => transport.close());
  let displaced = () => {};
  const failed = new Promise<never>((_, reject) => {
    displaced = () => reject(new Displaced(`another process has started under the name of this node, ${nodeId}`));
  });
  failed.catch(() => {});
  const incarnation = newId();
  const ownership = createOwnership({
    store: leases,
    transport,
    node: {
      id: nodeId,
      incarnation,
      version,
      roles: [...config.roles],
      bus: servers === undefined ? 'in-process' : 'nats',
    },
    shards,
    ttlMs,
    log,
    displaced,
    clock: {
      learn(...times) {
        clock.learn(...times);
        breaker.noteAnswer();
      },
    },
    ...watched,
  });

  const events = postgresEvents(sql);
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
  const texts = open.texts(blobs);
  lifecycle.add('texts of emails', () => texts.close(), JOB_RESERVE_MS, STOP_MS);
  const settling = startFlagSettling({
    rows: postgresFlagOverlays(searchSql),
    failed: (accountId, err) => log.warn({ accountId, err }, 'flags are not written to the emails yet'),
  });
  lifecycle.add('settling of flags', () => settling.stop(), JOB_RESERVE_MS, STOP_MS);
  const mailboxMeter = commits.meter('mailboxes', metrics?.commits.mailboxes);
  const mailboxRows = blobs.keptBy(postgresMailboxes(sql, commitSql, mailboxMeter, settling, writerSql, deadline));
  const exports = exportRate(breaker.guard(postgresExports(sql)), config.mboxExportInterval, log);
  const revocations = new Revocations({ transport, ownership, leases: postgresLeases(sql), ttlMs, log });
  const accounts = breaker.guard(postgresDirectory(sql, shards, (keyIds) => revocations.announce(keyIds)));
  for (const name of config.hostedDomains) await accounts.addDomain(name);

  const owns = (accountId: string) => ownership.epochOf(accountId) !== undefined;
  const search = startMailSearch({
    sql: searchSql,
    texts,
    meter: metrics?.searchMerges,
    log,
    job: (name, stop) => lifecycle.add(name, stop, JOB_RESERVE_MS, STOP_MS),
  });
  const inlineMessages = new InlineMessages(owns);
  const bodyFilters = startBodyFiltering({ texts, mailboxes: () => mailboxes, log });
  lifecycle.add('filters that wait for a body', () => bodyFilters.stop(), JOB_RESERVE_MS, STOP_MS);
  const queueWakeup = new QueueWakeup({ transport, ownership });
  let hostedOpened: (delivery: HostedDelivery) => void = () => {};
  const hosted = new Promise<HostedDelivery>((resolve) => {
    hostedOpened = resolve;
  });
  const outbound = {
    retry: {
      maxRetries: config.outboundMaxRetries,
      baseMs: config.outboundBackoffBaseMs,
      capMs: config.outboundBackoffCapMs,
    },
    wakeQueue: (accountId: string, outboundId: string) => queueWakeup.wake(accountId, outboundId),
    reserve: (accountId: string, wanted: number) => queueWakeup.reserve(accountId, wanted),
    queueOf: (accountId: string) => queueWakeup.queueOf(accountId),
    hosted: async (task: Parameters<HostedDelivery>[0]) => (await hosted)(task),
    deliverLocally: (delivery: LocalDelivery) => deliverLocally(mailboxes, delivery, log),
  };
  const consumers = createConsumers({
    store: breaker.guard(postgresConsumers(sql)),
    log: events,
    ownership,
    transport,
    mailboxes: () => mailboxes,
    logger: log,
    tracer,
    ...(metrics && { meter: metrics.consumers }),
  });
  const host = startHost({
    behavior: mailboxBehavior({
      store: mailboxRows,
      texts,
      search,
      bodyFilters,
      inlineMessages,
      blobs,
      outbound,
      log,
    }),
    transport,
    ownership,
    log,
    idleMs: MAILBOX_IDLE_MS,
    maxOctets: shareOfMemory(MAILBOX_MEMORY_OCTETS, processShare?.count ?? 1),
    sweepMs: MAILBOX_SWEEP_MS,
    checked: false,
    published: (packet) => consumers.published(packet),
    ...watched,
  });
  // Registered before the leases are acquired, so that a failed start releases what it holds.
  lifecycle.add('shard leases', () => ownership.leave(), LEASES_STOP_MS, STOP_MS);
  lifecycle.add('mailboxes', () => host.stop(), MAILBOXES_STOP_MS, STOP_MS);
  if (config.roles.has('mailbox')) await warmUp(mailboxRows);
  await ownership.start({
    async acquired(shards) {
      await host.acquired(shards);
      await consumers.acquired(shards);
    },
    async released(shards) {
      await Promise.all([host.released(shards), consumers.released(shards)]);
    },
  });
  const protocolName = mailboxActorProtocol.name;
  const streams = createEventStreams<MailboxEvent>({
    protocolName,
    transport,
    ownership,
    log: events,
    logger: log,
    ...watched,
  });
  const actors: MailboxActors = createRefs({
    protocol: mailboxActorProtocol,
    transport,
    ownership,
    streams,
    host,
    store: breaker,
    ...watched,
  });

  const mailboxes: Mailboxes = actors;

  const keyUses = new KeyUses({ store: accounts, log });
  lifecycle.add('uses of keys', () => keyUses.stop(), JOB_RESERVE_MS, STOP_MS);
  const directory = await createDirectory({
    store: accounts,
    mailboxes,
    unknownRecipients: config.unknownRecipients,
    keyUses,
    revocations,
    ...(config.anonymousAccount === undefined ? {} : { anonymousAccount: config.anonymousAccount }),
    log,
  });
  lifecycle.add('directory', () => directory.close(), JOB_RESERVE_MS, STOP_MS);
  const localDelivery = hostedDelivery({ directory, facts: messageFacts(blobs), hostname: config.hostname, newId });
  hostedOpened(localDelivery);

  const accountStores = openAccountStores(sql, breaker);
  const accountApi = createAccountApi({
    directory: accounts,
    ...accountStores,
    mailboxes,
    consumersChanged: (accountId) => consumers.changed(accountId),
    keyUses,
    random: randomBytes,
  });

  const [intervalMs, minAgeMs] = [REDELIVERY_INTERVAL_MS, REDELIVERY_AGE_MS];
  const redelivery = await startRedelivery({ inbound, mailboxes, ownership, log, intervalMs, minAgeMs, tracer });
  lifecycle.add('redelivery', () => redelivery.stop(), JOB_RESERVE_MS, STOP_MS);
  const placing = startImportPlacing({
    imports: breaker.guard(postgresImports(sql)),
    mailboxes,
    ownership,
    log,
    intervalMs: IMPORT_INTERVAL_MS,
  });
  lifecycle.add('placing of imports', () => placing.stop(), JOB_RESERVE_MS, STOP_MS);
  const outboundStore = postgresOutbound(sql);
  const releases = startReleases({
    store: outboundStore,
    mailboxes: actors,
    ownership,
    log,
    intervalMs: RELEASE_INTERVAL_MS,
  });
  lifecycle.add('releases of held mail', () => releases.stop(), JOB_RESERVE_MS, STOP_MS);
  const housekeeping = startHousekeeping({
    events: postgresEvents(maintenanceSql),
    replies: postgresMailboxes(maintenanceSql, commitSql),
    settling,
    search: search.store,
    blobs: postgresBlobs(maintenanceSql),
    directory: accounts,
    stsPolicies: postgresStsMaintenance(maintenanceSql),
    webhookDeliveries: postgresWebhookDeliveries(maintenanceSql),
    outbound: { store: postgresOutbound(maintenanceSql), keepDays: config.outboundKeepDays },
    mailboxes,
    log,
  });
  lifecycle.add('housekeeping', () => housekeeping.stop(), JOB_RESERVE_MS, STOP_MS);
  const { merging } = search;
  metrics?.watchEngine({ consumers, host, ownership, transport, redelivery, placing, releases, merging });
  const parts = {
    mailboxes: actors,
    hosted: localDelivery,
    blobs,
    ownership,
    queueWakeup,
    incarnation,
    retry: outbound.retry,
  };
  const queue = config.roles.has(OUTBOUND_ROLE)
    ? openQueue(config, log, lifecycle, metrics, {
        ...parts,
        store: outboundStore,
        remote: await open.remoteTransport({
          blobs,
          stsPolicies: postgresStsPolicies(sql),
          signingKeys: postgresSigningKeys(sql),
        }),
      })
    : undefined;
  const settings = breaker.guard(postgresSettings(sql));
  return {
    mailboxes,
    directory,
    accounts,
    accountApi,
    settings,
    inbound,
    inlineMessages,
    blobs,
    folderMessages: breaker.guard(postgresFolderMessages(messagesSql)),
    exports,
    commits,
    ownership,
    revocations,
    accountStores,
    consumers,
    bus: transport,
    queue,
    failed,
  };
}
