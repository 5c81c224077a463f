// Sends the DMARC reports of past days, on the node that owns the first shard. Message-ID and command of a report come from its domain, day
// and recipient: after a crash the report is found in the queue, or its command is carried out once.
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Logger } from 'pino';
import { type Timing, WorkQueue } from '../../../concurrency/work-queue.js';
import type { Dns } from '../../../net/dns/resolver.js';
import type { DueOwnReport, OwnReportStore } from '../../../store/feedback/own-reports.js';
import { writeDmarcXml } from './dmarc-xml.js';
import { reportMessageId, writeReportMail } from './report-mail.js';
import { planReport, type ReportPlan } from './report-targets.js';

/** The account that sends reports, and its address at a hosted domain. */
export interface ReportSender {
  readonly accountId: string;
  readonly address: string;
  readonly domain: string;
}

interface ReportSendingOptions {
  readonly store: Pick<OwnReportStore, 'due' | 'counts' | 'settle' | 'isQueued'>;
  readonly dns: Dns;
  readonly hostname: string;
  /** Undefined while no account has `postmaster@` a hosted domain. */
  sender(): Promise<ReportSender | undefined>;
  send(
    accountId: string,
    mail: { readonly message: Uint8Array; readonly to: string; readonly id: string },
  ): Promise<void>;
  /** Whether this node is the one that sends. */
  isChosen(): boolean;
  /** ms since the epoch. */
  now(): number;
  readonly log: Pick<Logger, 'info' | 'warn'>;
  readonly timing?: Timing;
}

const LOOK_MS = 10_000;
/** After midnight: every node has written its counts, and clocks may differ. */
const SETTLED_MS = 600_000;
/** Looks at a time; the reports of a day leave within hours at most. */
const REPORTS_A_LOOK = 50;
const RETRY_MS = 600_000;
const LONGEST_RETRY_MS = 7_200_000;
const DAY_S = 86_400;
const JOB = ' look';

const pack = promisify(gzip);

export function startReportSending(options: ReportSendingOptions): { stop(): Promise<void> } {
  const { store, isChosen, now, log, timing } = options;
  const queue: WorkQueue = new WorkQueue({
    async work(key, { signal }) {
      if (!isChosen()) return key === JOB ? LOOK_MS : undefined;
      if (key !== JOB) {
        const [domain = '', day = ''] = key.split(' ');
        await sendReport(options, { domain, day }, signal);
        return undefined;
      }
      const today = new Date(now() - SETTLED_MS).toISOString().slice(0, 10);
      // Those that back off are among them: they wait on.
      for (const { domain, day } of await store.due(today, REPORTS_A_LOOK + queue.keys.length))
        queue.add(`${domain} ${day}`);
      return LOOK_MS;
    },
    failed: (key, err) => log.warn({ err, report: key }, 'a report about DMARC is not sent yet'),
    workers: 2,
    most: 10_000,
    backoff: { firstMs: RETRY_MS, longestMs: LONGEST_RETRY_MS },
    ...(timing && { timing }),
  });
  queue.addAfter(JOB, LOOK_MS);
  return { stop: () => queue.stop() };
}

/** @throws StoreFault, ActorFault, DnsFailure: the report is tried again */
async function sendReport(options: ReportSendingOptions, due: DueOwnReport, signal: AbortSignal): Promise<void> {
  const { store, dns, log } = options;
  const counts = await store.counts(due);
  const plan = counts.length === 0 ? undefined : await planReport(dns, due.domain);
  if (plan !== undefined) {
    const sender = await options.sender();
    if (sender === undefined) throw new Error('no account has postmaster@ a hosted domain');
    for (const target of plan.targets) {
      signal.throwIfAborted();
      const isSent = await sendTo(options, { due, counts, plan, sender }, target);
      log.info({ ...due, results: counts.length, to: target.address, isSent }, 'a report about DMARC');
    }
  }
  await store.settle(due);
}

interface Report {
  readonly due: DueOwnReport;
  readonly counts: Awaited<ReturnType<OwnReportStore['counts']>>;
  readonly plan: ReportPlan;
  readonly sender: ReportSender;
}

/** Returns false when the message is larger than the recipient takes. */
async function sendTo(
  { store, hostname, send, now }: ReportSendingOptions,
  { due: { domain, day }, counts, plan, sender }: Report,
  { address: to, most }: ReportPlan['targets'][number],
): Promise<boolean> {
  const id = idOf(`${domain} ${day} ${to}`);
  if (await store.isQueued(sender.accountId, reportMessageId({ id, hostname }))) return true;
  const begin = Date.parse(day) / 1000;
  const end = begin + DAY_S - 1;
  const { policy = 'none', ofSubdomains = policy, isStrict } = plan.record;
  const alignment = (is: boolean) => (is ? 's' : 'r');
  const published = {
    domain,
    adkim: alignment(isStrict.dkim),
    aspf: alignment(isStrict.spf),
    p: policy,
    sp: ofSubdomains,
  } as const;
  const head = { organization: sender.domain, email: sender.address, reportId: id, begin, end, policy: published };
  const file = await pack(writeDmarcXml(head, counts));
  const about = { domain, submitter: sender.domain, from: sender.address, to, hostname, id, now: now() };
  const message = writeReportMail({ ...about, begin, end, file });
  if (most !== undefined && message.length > most) return false;
  await send(sender.accountId, { message, to, id });
  return true;
}

/** A UUID of version 8 (RFC 9562 §5.8). */
function idOf(text: string): string {
  const hex = createHash('sha256').update(`dmarc report ${text}`).digest('hex');
  const variant = ((Number.parseInt(hex[16]!, 16) & 3) | 8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
