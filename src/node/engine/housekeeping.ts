// Periodic jobs: prune event logs, forget replies to old commands, flush deferred flags of ended nodes, collect blobs without references,
// prune the greylist, empty unclaimed mailboxes that nobody claimed in time, delete expired policies of other domains, prune deliveries of
// webhooks, delete old outbound emails and sums of feedback reports, revoked keys, and what interrupted merges of the search index have
// left. Several nodes may run each job at the same time. Retention times: docs/operations.md, "What is kept".
import type { Logger } from 'pino';
import type { Mailboxes } from '../../actors/mailbox/protocol.js';
import { firstMinuteOf } from '../../actors/sending/recipient-limits.js';
import { WorkQueue } from '../../concurrency/work-queue.js';
import type { BlobStore } from '../../store/blobs.js';
import { clock } from '../../store/clock.js';
import type { DirectoryStore } from '../../store/directory.js';
import { EVENT_LOG_AGE_MS, EVENT_LOG_LENGTH, type EventLog } from '../../store/events.js';
import type { ArrivedReports } from '../../store/feedback/arrived-reports.js';
import type { OwnReportStore } from '../../store/feedback/own-reports.js';
import type { OwnTlsReportStore } from '../../store/feedback/own-tls-reports.js';
import type { FlagFlushing } from '../../store/flag-flushing.js';
import { MOST_KNOWN_RECIPIENTS, type SendingStore } from '../../store/limits/sending.js';
import type { MailboxStore } from '../../store/mailboxes.js';
import type { OutboundStore } from '../../store/outbound.js';
import type { SearchStore } from '../../store/search.js';
import type { SessionStore } from '../../store/sessions.js';
import type { PasskeyStore } from '../../store/sign-in/passkeys.js';
import type { StsPolicyMaintenance } from '../../store/sts-policies.js';
import type { GreylistStore } from '../../store/traces/greylist.js';
import { MOST_REFUSALS, REFUSAL_AGE_MS, type RefusalStore } from '../../store/traces/refused-mail.js';
import type { WebhookDeliveryStore } from '../../store/webhooks.js';
import { expireOutbound } from './outbound-expiry.js';

const FIRST_PASS_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Longer than any ask waits for its reply, even when clocks differ. */
const REPLY_AGE_MS = 10 * 60_000;
/** Many, because each message between nodes leaves one; few enough for a statement that takes less than a second. */
const REPLIES_A_PASS = 20_000;
/** The pause after a pass that has left some of its work. */
const AGAIN_MS = 1_000;
const BLOB_GRACE_MS = HOUR_MS;
const BLOBS_A_PASS = 1_000;
const UNCLAIMED_AGE_MS = 30 * DAY_MS;
const UNCLAIMED_A_PASS = 200;
const DELIVERY_AGE_MS = 30 * DAY_MS;
const DELIVERIES_OF_WEBHOOK = 1_000;
/** A year, and the month that is compared with. */
const REPORT_DAYS = 400;
/** A report that could not be sent for so long is given up. */
const OWN_REPORT_DAYS = 5;
const COUNTS_A_PASS = 20_000;
/** An address counts as a stranger again, once, this long after the account has written to it first, or when it has as many others. */
const KNOWN_DAYS = 2 * 365;
const REVOKED_KEY_AGE_MS = 30 * DAY_MS;

export interface HousekeepingOptions {
  readonly events: EventLog;
  readonly replies: Pick<MailboxStore, 'forget'>;
  readonly flushing: Pick<FlagFlushing, 'sweep'>;
  readonly search: Pick<SearchStore, 'clear'>;
  readonly blobs: BlobStore;
  readonly directory: DirectoryStore;
  readonly sessions: Pick<SessionStore, 'dropEnded'>;
  readonly passkeys: Pick<PasskeyStore, 'dropChallenges'>;
  readonly stsPolicies: StsPolicyMaintenance;
  readonly webhookDeliveries: Pick<WebhookDeliveryStore, 'prune'>;
  readonly refusals: Pick<RefusalStore, 'prune'>;
  readonly reports: Pick<ArrivedReports, 'prune'>;
  readonly greylist: Pick<GreylistStore, 'prune'>;
  readonly ownReports: Pick<OwnReportStore, 'prune'>;
  readonly ownTlsReports: Pick<OwnTlsReportStore, 'prune'>;
  readonly sending: Pick<SendingStore, 'forget' | 'forgetKnown'>;
  /** `keepDays`: 0 keeps all emails. */
  readonly outbound: { readonly store: Pick<OutboundStore, 'expired'>; readonly keepDays: number };
  readonly mailboxes: Mailboxes;
  readonly log: Logger;
}

/** One job: its name in the log, its interval, and a pass that returns how much it did. */
interface Job {
  readonly name: string;
  readonly everyMs: number;
  /** The most that a pass does. After such a pass the next one comes soon. */
  readonly most?: number;
  pass(signal: AbortSignal): Promise<number>;
}

export function startHousekeeping(options: HousekeepingOptions): { stop(): Promise<void> } {
  const { events, replies, flushing, blobs, directory, stsPolicies, webhookDeliveries, refusals, mailboxes, log } =
    options;
  const { search, outbound, sessions, passkeys, reports, ownReports, sending } = options;

  /** Deletes unclaimed mail older than 30 days, and an unclaimed mailbox of that age when it is empty. */
  async function expireUnclaimed(): Promise<number> {
    const before = clock.now() - UNCLAIMED_AGE_MS;
    let removed = 0;
    for (const accountId of await directory.expiredUnclaimed(before, UNCLAIMED_A_PASS)) {
      const expired = await mailboxes.of(accountId).ask('expire', { receivedBefore: before });
      removed += expired.reply?.removed ?? 0;
      await directory.deleteUnclaimed(accountId, before);
    }
    return removed;
  }

  let unfinished: ReadonlySet<number> = new Set();
  /** Deletes what interrupted merges have left, also of accounts that have no further merges. */
  async function clearMerges(signal: AbortSignal): Promise<number> {
    unfinished = await search.clear(unfinished, signal);
    return 0;
  }

  const jobs: Job[] = [
    { name: 'events pruned', everyMs: HOUR_MS, pass: () => events.prune(EVENT_LOG_AGE_MS, EVENT_LOG_LENGTH) },
    {
      name: 'replies forgotten',
      everyMs: REPLY_AGE_MS,
      most: REPLIES_A_PASS,
      pass: () => replies.forget(REPLY_AGE_MS, REPLIES_A_PASS),
    },
    { name: 'accounts whose deferred flags were written', everyMs: HOUR_MS / 6, pass: () => flushing.sweep() },
    {
      name: 'blobs looked at for collection',
      everyMs: HOUR_MS / 6,
      most: BLOBS_A_PASS,
      pass: () => blobs.collect(BLOB_GRACE_MS, BLOBS_A_PASS),
    },
    { name: 'refusals pruned', everyMs: HOUR_MS, pass: () => refusals.prune(REFUSAL_AGE_MS, MOST_REFUSALS) },
    { name: 'sums of feedback reports pruned', everyMs: DAY_MS, pass: () => reports.prune(REPORT_DAYS) },
    { name: 'greylist pruned', everyMs: HOUR_MS / 6, pass: () => options.greylist.prune() },
    { name: 'results for reports pruned', everyMs: DAY_MS, pass: () => ownReports.prune(OWN_REPORT_DAYS) },
    { name: 'results of TLS pruned', everyMs: DAY_MS, pass: () => options.ownTlsReports.prune(OWN_REPORT_DAYS) },
    {
      name: 'counts of recipients deleted',
      everyMs: HOUR_MS,
      most: COUNTS_A_PASS,
      pass: () => sending.forget(firstMinuteOf('day', clock.now() - HOUR_MS), COUNTS_A_PASS),
    },
    {
      name: 'known recipients forgotten',
      everyMs: DAY_MS,
      most: COUNTS_A_PASS,
      pass: () => sending.forgetKnown(KNOWN_DAYS, MOST_KNOWN_RECIPIENTS, COUNTS_A_PASS),
    },
    { name: 'MTA-STS policies dropped', everyMs: DAY_MS, pass: () => stsPolicies.dropExpired() },
    {
      name: 'deliveries of webhooks pruned',
      everyMs: HOUR_MS / 6,
      pass: () => webhookDeliveries.prune(DELIVERY_AGE_MS, DELIVERIES_OF_WEBHOOK),
    },
    { name: 'unclaimed emails expired', everyMs: HOUR_MS, pass: expireUnclaimed },
    {
      name: 'outbound emails expired',
      everyMs: HOUR_MS / 6,
      pass: (signal) =>
        expireOutbound(
          { outbound: outbound.store, mailboxes, isStopped: () => signal.aborted },
          outbound.keepDays,
          clock.now(),
        ),
    },
    { name: 'remains of merges deleted', everyMs: HOUR_MS, pass: clearMerges },
    { name: 'revoked keys deleted', everyMs: DAY_MS, pass: () => directory.dropRevokedKeys(REVOKED_KEY_AGE_MS) },
    { name: 'spent challenges deleted', everyMs: DAY_MS, pass: () => passkeys.dropChallenges() },
    { name: 'ended sessions deleted', everyMs: DAY_MS, pass: () => sessions.dropEnded(REVOKED_KEY_AGE_MS) },
  ];

  const byName = new Map(jobs.map((job) => [job.name, job]));
  const failed = (job: string, err: unknown) => log.warn({ err, job }, 'housekeeping failed');
  const queue = new WorkQueue({
    async work(name, { signal }) {
      const { everyMs, most = Number.POSITIVE_INFINITY, pass } = byName.get(name)!;
      try {
        const count = await pass(signal);
        if (count > 0) log.info({ count }, name);
        if (count >= most) return AGAIN_MS;
      } catch (error) {
        if (!signal.aborted) failed(name, error);
      }
      return everyMs;
    },
    failed,
    workers: jobs.length,
    most: jobs.length,
    backoff: { firstMs: HOUR_MS },
  });
  // The jobs also run soon after the start: a node that is started often must clean up too.
  for (const { name } of jobs) queue.addAfter(name, FIRST_PASS_MS);
  return { stop: () => queue.stop() };
}
