// The third step of the engine: the mailboxes. Refs of the actors come first, then what the actors ask through them, then the behavior of
// the actors; at last the node acquires shards, and the actors are asked.
import { type Consumers, createConsumers } from '../../actors/consumers/consumers.js';
import { type HostedTransport, hostedDelivery } from '../../actors/delivery/local-transport.js';
import { messageFacts } from '../../actors/delivery/message-facts.js';
import { QueueWakeup } from '../../actors/delivery/queue-wakeup.js';
import { createDirectory } from '../../actors/directory/directory.js';
import { KeyUses } from '../../actors/directory/key-uses.js';
import type { Directory, HostedDomains, Postmasters, Senders } from '../../actors/directory/protocol.js';
import { type MailboxActors, mailboxActorProtocol } from '../../actors/mailbox/actor-protocol.js';
import { startBodyFiltering } from '../../actors/mailbox/background/body-filters.js';
import { startFilterRunning } from '../../actors/mailbox/background/filter-running.js';
import { mailboxBehavior } from '../../actors/mailbox/behavior.js';
import { deliverLocally } from '../../actors/mailbox/outbound/local-deliveries.js';
import type { MailboxEvent } from '../../actors/mailbox/protocol.js';
import { warmUp } from '../../actors/mailbox/state/warm-up.js';
import { quotaNotices } from '../../actors/quotas/quota-notices.js';
import { Quotas } from '../../actors/quotas/quotas.js';
import { createEventStreams } from '../../actors/runtime/events/event-streams.js';
import { createHost, type Host } from '../../actors/runtime/host.js';
import { createRefs } from '../../actors/runtime/refs.js';
import { NO_SENDING_METER } from '../../actors/sending/meter.js';
import { SendingLimits } from '../../actors/sending/sending-limits.js';
import { sendingNotices } from '../../actors/sending/sending-notices.js';
import type { RetryPolicy } from '../../machines/outbound-email/retry.js';
import type { SenderRewriting } from '../../mail-format/srs.js';
import { clock } from '../../store/clock.js';
import { newId } from '../../store/ids/new-id.js';
import { InlineMessages } from '../../store/inline/inline-messages.js';
import type { LocalDelivery } from '../../store/mailboxes.js';
import { postgresConsumers } from '../../store/postgres/accounts/consumers.js';
import { shardOf } from '../../store/shard.js';
import type { Config } from '../config/config.js';
import { shareOfMemory } from '../processes/process-share.js';
import { senderRewriting, startArrivalMail } from './arrival-mail.js';
import type { ClusterAccess } from './cluster.js';
import { addJob, type EngineContext, STOP_MS, watched } from './engine-context.js';
import { startJunkFilter } from './junk-filter.js';
import type { EngineStores } from './stores.js';

export interface EngineMailboxes {
  readonly host: Host;
  readonly mailboxes: MailboxActors;
  readonly directory: Directory & HostedDomains & Postmasters & Senders;
  readonly keyUses: KeyUses;
  readonly inlineMessages: InlineMessages;
  /** The consumers of this node's accounts; not started yet. */
  readonly consumers: Consumers;
  readonly hosted: HostedTransport;
  readonly quotas: Quotas;
  readonly sending: SendingLimits;
  readonly queueWakeup: QueueWakeup;
}

const IDLE_MS = 5 * 60_000;
const SWEEP_MS = 5_000;
const MEMORY_OCTETS = 256 * 1024 * 1024;
/** The reserve in which accepted commands commit and reply. */
const MAILBOXES_STOP_MS = 500;
/** The reserve for returning leases, because otherwise the next node waits until they run out. */
const LEASES_STOP_MS = 300;

export async function startMailboxes(
  context: EngineContext,
  cluster: ClusterAccess,
  stores: EngineStores,
): Promise<EngineMailboxes> {
  const { config, log } = context;
  const { transport, ownership } = cluster;
  const { host, mailboxes } = openRefs(context, cluster, stores);
  const rewriting = await senderRewriting(stores.settings);
  const { directory, keyUses } = await openDirectory(context, stores, mailboxes, rewriting);
  const postmasterOf = operatorOf(directory, stores);
  const quotas = await openQuotas(context, stores, mailboxes, postmasterOf);
  const sending = await openSendingLimits(context, stores, mailboxes, postmasterOf);
  const facts = messageFacts(stores.blobs);
  const hosted = hostedDelivery({ directory, facts, quotas, hostname: config.hostname, newId });
  const queueWakeup = new QueueWakeup({ transport, ownership });
  const inlineMessages = new InlineMessages(
    (accountId) => ownership.epochOf(accountId) !== undefined,
    (accountId) => ownership.view?.leases[shardOf(accountId, ownership.shards)]?.nodeId ?? undefined,
  );
  const consumers = openConsumers(context, cluster, stores, mailboxes);
  const bodyFilters = startBodyFiltering({ texts: stores.texts, mailboxes, log });
  addJob(context, 'filters that wait for a body', () => bodyFilters.stop());
  const filterRuns = startFilterRunning({ texts: stores.texts, mailboxes, log });
  addJob(context, 'runs of filters', () => filterRuns.stop());
  const automaticMail = startArrivalMail(context, stores, { directory, rewriting, mailboxes, ownership });
  const junk = await startJunkFilter(context, stores, ownership);
  const behavior = mailboxBehavior({
    store: stores.mailboxRows,
    texts: stores.texts,
    search: stores.search,
    bodyFilters,
    filterRuns,
    automaticMail,
    junk,
    inlineMessages,
    blobs: stores.blobs,
    outbound: {
      retry: retryOf(config),
      wakeQueue: (accountId: string, outboundId: string) => queueWakeup.wake(accountId, outboundId),
      reserve: (accountId: string, wanted: number) => queueWakeup.reserve(accountId, wanted),
      queueOf: (accountId: string) => queueWakeup.queueOf(accountId),
      hosted,
      deliverLocally: (delivery: LocalDelivery) => deliverLocally(mailboxes, delivery, log),
    },
    quotas,
    sending,
    log,
  });
  host.start(behavior, (packet) => consumers.published(packet));
  await acquireShards(context, cluster, stores, host, consumers);
  return { host, mailboxes, directory, keyUses, inlineMessages, consumers, hosted, quotas, sending, queueWakeup };
}

export function retryOf(config: Config): RetryPolicy {
  return {
    maxRetries: config.outboundMaxRetries,
    baseMs: config.outboundBackoffBaseMs,
    capMs: config.outboundBackoffCapMs,
  };
}

/** The refs of all mailboxes, and the host of those that this node owns. */
function openRefs(
  context: EngineContext,
  { transport, ownership }: ClusterAccess,
  { events }: EngineStores,
): Pick<EngineMailboxes, 'host' | 'mailboxes'> {
  const { log, node } = context;
  const protocol = mailboxActorProtocol;
  const host = createHost({
    protocol,
    transport,
    ownership,
    log,
    idleMs: IDLE_MS,
    maxOctets: shareOfMemory(MEMORY_OCTETS, node.processShare?.count ?? 1),
    sweepMs: SWEEP_MS,
    checked: false,
    ...watched(context),
  });
  const streams = createEventStreams<MailboxEvent>({
    protocolName: protocol.name,
    transport,
    ownership,
    log: events,
    logger: log,
    ...watched(context),
  });
  const store = node.breaker;
  return { host, mailboxes: createRefs({ protocol, transport, ownership, streams, host, store, ...watched(context) }) };
}

/** The directory ends after the mailboxes, which ask it for hosted recipients. */
async function openDirectory(
  context: EngineContext,
  { accounts, revocations }: EngineStores,
  mailboxes: MailboxActors,
  rewriting: SenderRewriting,
): Promise<Pick<EngineMailboxes, 'directory' | 'keyUses'>> {
  const { config, log } = context;
  const keyUses = new KeyUses({ store: accounts, log });
  addJob(context, 'uses of keys', () => keyUses.stop());
  const directory = await createDirectory({
    store: accounts,
    mailboxes,
    unknownRecipients: config.unknownRecipients,
    keyUses,
    revocations,
    rewriting,
    ...(config.anonymousAccount === undefined ? {} : { anonymousAccount: config.anonymousAccount }),
    log,
  });
  addJob(context, 'directory', () => directory.close());
  return { directory, keyUses };
}

/** The account that the operator of a domain reads: it, or the unclaimed mailbox, gets the mail for the postmaster. */
function operatorOf(directory: Postmasters, { accounts }: Pick<EngineStores, 'accounts'>): Postmasters['postmasterOf'] {
  return async (domain) =>
    (await directory.postmasterOf(domain)) ?? (await accounts.ownerOf(`postmaster@${domain}`))?.accountId;
}

async function openQuotas(
  context: EngineContext,
  { accounts, blobs, quotas: store }: EngineStores,
  mailboxes: MailboxActors,
  postmasterOf: Postmasters['postmasterOf'],
): Promise<Quotas> {
  const { config, log } = context;
  const { quotaBytes: bytes, quotaMessages: messages, hostname } = config;
  const now = () => clock.now();
  const quotas = new Quotas({
    store,
    defaults: { bytes: bytes || null, messages: messages || null },
    ...quotaNotices({ store, postmasterOf, blobs, mailboxes, hostname, newId, now, log }),
    log,
    now,
  });
  // Watch before the first read, so that a change between the two is read again.
  const unwatch = await accounts.watch((change) => quotas.changed(change));
  addJob(context, 'quotas', async () => {
    await unwatch();
    await quotas.stop();
  });
  await quotas.start();
  return quotas;
}

async function openSendingLimits(
  { config, log, lifecycle, observability }: EngineContext,
  { accounts, blobs, sending: store }: EngineStores,
  mailboxes: MailboxActors,
  postmasterOf: Postmasters['postmasterOf'],
): Promise<SendingLimits> {
  const now = () => clock.now();
  const sending = new SendingLimits({
    store,
    defaults: {
      account: { hour: config.limitHour, day: config.limitDay },
      domain: { hour: config.domainLimitHour, day: config.domainLimitDay },
    },
    rule: { strangers: config.suspendStrangers, refused: config.suspendRefused },
    notices: sendingNotices({ postmasterOf, blobs, mailboxes, hostname: config.hostname, newId, now, log }),
    meter: observability.metrics?.sending ?? NO_SENDING_METER,
    log,
    now,
  });
  const unwatch = await accounts.watch((change) => sending.changed(change));
  addJob({ lifecycle }, 'limits of recipients', async () => {
    await unwatch();
    await sending.stop();
  });
  return sending;
}

function openConsumers(
  { log, node, observability }: EngineContext,
  { transport, ownership }: ClusterAccess,
  { events }: EngineStores,
  mailboxes: MailboxActors,
): Consumers {
  const { metrics, tracer } = observability;
  return createConsumers({
    store: node.breaker.guard(postgresConsumers(node.sql)),
    log: events,
    ownership,
    transport,
    mailboxes,
    logger: log,
    tracer,
    ...(metrics && { meter: metrics.consumers }),
  });
}

/** Leases and mailboxes are registered before the first lease is acquired, so that a failed start releases what it holds. */
async function acquireShards(
  { config, lifecycle }: EngineContext,
  { ownership }: ClusterAccess,
  { mailboxRows }: EngineStores,
  host: Host,
  consumers: Consumers,
): Promise<void> {
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
}
