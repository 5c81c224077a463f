// The daily report about TLS to a domain that mail went to (RFC 8460 §5), by mail and to https targets. Mail leaves once: its Message-ID and
// its command come from domain, day and recipient. An https target that has the report is noted; after a crash between its answer and the
// note it gets the same report again, with the same id.
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Logger } from 'pino';
import { parseAddress } from '../../../mail-format/address.js';
import { type Dns, DnsFailure } from '../../../net/dns/resolver.js';
import type { HttpClient } from '../../../net/http-client/http-client.js';
import type { DueOwnReport, OwnReportStore } from '../../../store/feedback/own-reports.js';
import type { OwnTlsReportStore } from '../../../store/feedback/own-tls-reports.js';
import { type ReportTarget, reportAddresses } from '../report-addresses.js';
import { reportMessageId, writeReportMail } from './report-mail.js';
import { type DailyReports, idOf, periodOf, type ReportMailing, type ReportSender } from './report-sending.js';
import { writeTlsJson } from './tls-report-json.js';

interface TlsReportOptions extends ReportMailing {
  readonly store: Pick<OwnTlsReportStore, 'due' | 'counts' | 'posted' | 'targetsOf' | 'settle'>;
  readonly queue: Pick<OwnReportStore, 'isQueued'>;
  readonly dns: Dns;
  readonly http: Pick<HttpClient, 'post'>;
  readonly log: Pick<Logger, 'info' | 'warn'>;
}

interface Report {
  readonly due: DueOwnReport;
  readonly sender: ReportSender;
  readonly reportId: string;
  /** The report, as gzip. */
  readonly file: Uint8Array;
}

const MOST_TARGETS = 5;
/** A target that does not take the report is tried for about a day (RFC 8460 §5.5). */
const TRIED_MS = 2 * 86_400_000;

const pack = promisify(gzip);

export function tlsReports(options: TlsReportOptions): DailyReports {
  return {
    about: 'TLS',
    due: (before, limit) => options.store.due(before, limit),
    send: (due, signal) => sendReport(options, due, signal),
  };
}

/** @throws StoreFault, ActorFault, DnsFailure, and Error for a target that does not take it: the report is tried again */
async function sendReport(options: TlsReportOptions, due: DueOwnReport, signal: AbortSignal): Promise<void> {
  const { store, dns } = options;
  const counts = await store.counts(due);
  const targets = counts.length === 0 ? [] : await targetsOf(dns, due.domain);
  if (targets.length > 0) {
    const sender = await options.sender();
    if (sender === undefined) throw new Error('no account has postmaster@ a hosted domain');
    const reportId = idOf(`tls report ${due.domain} ${due.day}`);
    const head = { organization: sender.domain, contact: sender.address, reportId, ...periodOf(due) };
    const file = await pack(writeTlsJson(head, due.domain, counts));
    await sendToAll(options, { due, sender, reportId, file }, targets, signal);
  }
  await store.settle(due);
}

/** Where the domain wants its reports (RFC 8460 §3). @throws DnsFailure when DNS cannot say now */
async function targetsOf(dns: Dns, domain: string): Promise<readonly ReportTarget[]> {
  try {
    const texts = (await dns.resolve(`_smtp._tls.${domain}`, 'TXT')).map((strings) => strings.join(''));
    return reportAddresses(texts).filter(isUsable).slice(0, MOST_TARGETS);
  } catch (error) {
    if (error instanceof DnsFailure && !error.temporary) return [];
    throw error;
  }
}

function isUsable({ uri, address }: ReportTarget): boolean {
  if (address === undefined) return /^https:/i.test(uri);
  const parsed = parseAddress(address);
  return parsed !== undefined && !parsed.domain.startsWith('[');
}

/** One target that fails does not keep the others from the report. */
async function sendToAll(
  options: TlsReportOptions,
  report: Report,
  targets: readonly ReportTarget[],
  signal: AbortSignal,
): Promise<void> {
  const { store, log, now } = options;
  const { due } = report;
  const posted = await store.targetsOf(due);
  const failures: string[] = [];
  for (const { uri, address } of targets) {
    signal.throwIfAborted();
    if (address !== undefined) await mailTo(options, report, address);
    else if (!posted.includes(uri)) {
      const failure = await postTo(options, report, uri, signal);
      if (failure !== undefined) {
        failures.push(`${uri}: ${failure}`);
        continue;
      }
      await store.posted(due, uri);
    }
    log.info({ ...due, to: address ?? uri }, 'a report about TLS');
  }
  if (failures.length === 0) return;
  if (now() < Date.parse(due.day) + TRIED_MS) throw new Error(`not taken: ${failures.join(', ')}`);
  log.warn({ ...due, failures }, 'a report about TLS is given up');
}

async function mailTo(options: TlsReportOptions, report: Report, to: string): Promise<void> {
  const { queue, hostname, send, now } = options;
  const { due, sender, reportId, file } = report;
  const { domain, day } = due;
  const id = idOf(`tls report ${domain} ${day} ${to}`);
  if (await queue.isQueued(sender.accountId, reportMessageId({ id, hostname }))) return;
  const about = { domain, submitter: sender.domain, from: sender.address, to, hostname, id, reportId, now: now() };
  const message = writeReportMail({ kind: 'tls', ...about, ...periodOf(due), file });
  await send(sender.accountId, { message, to, id });
}

/** Undefined once the target has taken the report, otherwise the reason. */
async function postTo(
  { http }: TlsReportOptions,
  { sender, file }: Report,
  url: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const headers = { 'content-type': 'application/tlsrpt+gzip' };
  const outcome = await http.post({ url, accountId: sender.accountId, headers, body: file, signal });
  if ('failure' in outcome) return outcome.detail;
  return outcome.status >= 200 && outcome.status < 300 ? undefined : `status ${outcome.status}`;
}
