// The daily report about DMARC to the owner of a policy (RFC 7489 §7.2). Message-ID and command of a report come from its domain, day and
// recipient: after a crash the report is found in the queue, or its command is carried out once.
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Logger } from 'pino';
import type { Dns } from '../../../net/dns/resolver.js';
import type { DueOwnReport, OwnReportStore } from '../../../store/feedback/own-reports.js';
import { writeDmarcXml } from './dmarc-xml.js';
import { reportMessageId, writeReportMail } from './report-mail.js';
import { type DailyReports, idOf, periodOf, type ReportMailing, type ReportSender } from './report-sending.js';
import { planReport, type ReportPlan } from './report-targets.js';

interface DmarcReportOptions extends ReportMailing {
  readonly store: Pick<OwnReportStore, 'due' | 'counts' | 'settle' | 'isQueued'>;
  readonly dns: Dns;
  readonly log: Pick<Logger, 'info'>;
}

const pack = promisify(gzip);

export function dmarcReports(options: DmarcReportOptions): DailyReports {
  return {
    about: 'DMARC',
    due: (before, limit) => options.store.due(before, limit),
    send: (due, signal) => sendReport(options, due, signal),
  };
}

/** @throws StoreFault, ActorFault, DnsFailure: the report is tried again */
async function sendReport(options: DmarcReportOptions, due: DueOwnReport, signal: AbortSignal): Promise<void> {
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
  { store, hostname, send, now }: DmarcReportOptions,
  { due, counts, plan, sender }: Report,
  { address: to, most }: ReportPlan['targets'][number],
): Promise<boolean> {
  const { domain, day } = due;
  const id = idOf(`dmarc report ${domain} ${day} ${to}`);
  if (await store.isQueued(sender.accountId, reportMessageId({ id, hostname }))) return true;
  const period = periodOf(due);
  const { policy = 'none', ofSubdomains = policy, isStrict } = plan.record;
  const alignment = (is: boolean) => (is ? 's' : 'r');
  const published = {
    domain,
    adkim: alignment(isStrict.dkim),
    aspf: alignment(isStrict.spf),
    p: policy,
    sp: ofSubdomains,
  } as const;
  const head = { organization: sender.domain, email: sender.address, reportId: id, ...period, policy: published };
  const file = await pack(writeDmarcXml(head, counts));
  const about = { domain, submitter: sender.domain, from: sender.address, to, hostname, id, reportId: id, now: now() };
  const message = writeReportMail({ kind: 'dmarc', ...about, ...period, file });
  if (most !== undefined && message.length > most) return false;
  await send(sender.accountId, { message, to, id });
  return true;
}
