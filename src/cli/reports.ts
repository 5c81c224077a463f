// `mansio reports`: what other servers report about the hosted domains, as sums by source. DMARC reports tell who sends in their name, TLS
// reports whether mail to them is encrypted.
import { type Command, InvalidArgumentError } from 'commander';
import type { ReportSums } from '../store/feedback/arrived-reports.js';
import { postgresReportReader } from '../store/postgres/feedback/arrived-reports.js';
import { domainName } from './arguments.js';
import { CommandError, reporting, textOf } from './output.js';
import { withStore } from './store.js';

const DAYS = 30;
const MOST_DAYS = 400;
/** Sources, and results of TLS. */
const MOST_ROWS = 1_000;

interface Options {
  readonly domain?: string;
  readonly days: number;
}

export function registerReports(program: Command): void {
  const command = program
    .command('reports')
    .description(
      `show what other servers report about the hosted domains in the last ${DAYS} days (see --days), as sums by source: who sends as them, with SPF and DKIM as those servers evaluated them (DMARC reports), and whether mail to them is encrypted (TLS-RPT), from the reports that have arrived at the MX`,
    )
    .option('--domain <domain>', 'of this hosted domain alone')
    .option('--days <number>', 'of this many last days', daysNamed, DAYS);
  reporting(command, ({ domain, days }: Options) => readSums(domain, days), inWords);
}

async function readSums(text: string | undefined, days: number): Promise<ReportSums> {
  const domain = text === undefined ? undefined : domainName(text);
  return withStore(async ({ sql, directory }) => {
    if (domain !== undefined && !(await directory.domains()).some(({ name }) => name === domain))
      throw new CommandError(`not a hosted domain: ${domain}`);
    return postgresReportReader(sql).sums(domain, days, MOST_ROWS);
  });
}

function daysNamed(text: string): number {
  const days = Number(text);
  if (!/^\d+$/.test(text) || days < 1 || days > MOST_DAYS)
    throw new InvalidArgumentError(`it takes a whole number from 1 to ${MOST_DAYS}.`);
  return days;
}

function inWords({ dmarc, tls }: ReportSums): string {
  const sources = dmarc.map(({ messages, spfPass, dkimPass, dmarcPass, quarantined, rejected, ...row }) => ({
    domain: row.domain,
    source: row.source,
    messages,
    spf: spfPass,
    dkim: dkimPass,
    fail: messages - dmarcPass,
    quarantined,
    rejected,
    reporters: phrase(row.reporters),
  }));
  const sessions = tls.map(({ domain, policyType, host, result, sessions, reporters }) => ({
    domain,
    policy: policyType,
    host: host || null,
    result,
    sessions,
    reporters: phrase(reporters),
  }));
  return `DMARC: messages by source\n${textOf(sources)}\n\nTLS: sessions by result\n${textOf(sessions)}`;
}

const SHOWN_REPORTERS = 3;

function phrase(reporters: readonly string[]): string {
  const others = reporters.length - SHOWN_REPORTERS;
  const shown = reporters.slice(0, SHOWN_REPORTERS).join(' ');
  return others > 0 ? `${shown} and ${others} more` : shown;
}
