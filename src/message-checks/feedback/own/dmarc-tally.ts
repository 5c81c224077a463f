// Counts the results of DMARC at MX for the daily reports (RFC 7489 §7.2).
import type { Logger } from 'pino';
import { networkOf } from '../../../net/tcp/ip-address.js';
import type { ArrivedCount, OwnReportStore } from '../../../store/feedback/own-reports.js';
import type { DmarcCounts } from '../../dmarc-check.js';
import { CountTally, dayOf } from './count-tally.js';

interface DmarcTallyOptions {
  readonly store: Pick<OwnReportStore, 'add'>;
  /** ms since the epoch. */
  now(): number;
  readonly log: Pick<Logger, 'warn'>;
}

export class DmarcTally implements DmarcCounts {
  readonly #tally: CountTally<Omit<ArrivedCount, 'messages'>>;
  readonly #now: () => number;

  constructor({ store, now, log }: DmarcTallyOptions) {
    this.#now = now;
    this.#tally = new CountTally({
      write: (counts) => store.add(counts.map(({ result, times }) => ({ ...result, messages: times }))),
      lost: 'results of DMARC are not counted for reports',
      log,
    });
  }

  add(...[evaluation, disposition, remoteAddress]: Parameters<DmarcCounts['add']>): void {
    const { policyDomain: domain, author, dkim, spf, results } = evaluation;
    const source = remoteAddress.replace(/^::ffff:(?=\d+\.)/i, '');
    const result = { source, disposition, dkim, spf, author, results };
    this.#tally.add({ domain, day: dayOf(this.#now()), network: networkOf(source), result });
  }

  /** Writes what is counted. */
  close(): Promise<void> {
    return this.#tally.close();
  }
}
