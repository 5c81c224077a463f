// Counts what outbound mail sees of TLS for the daily reports (RFC 8460).
import type { Logger } from 'pino';
import type { OwnTlsReportStore, TlsCount, TlsResult } from '../../../store/feedback/own-tls-reports.js';
import { ownerDomain } from '../owner-domain.js';
import { CountTally, dayOf } from './count-tally.js';

interface TlsTallyOptions {
  readonly store: Pick<OwnTlsReportStore, 'add'>;
  /** ms since the epoch. */
  now(): number;
  readonly log: Pick<Logger, 'warn'>;
}

export class TlsTally {
  readonly #tally: CountTally<Omit<TlsCount, 'sessions'>>;
  readonly #now: () => number;

  constructor({ store, now, log }: TlsTallyOptions) {
    this.#now = now;
    this.#tally = new CountTally({
      write: (counts) =>
        store.add(
          counts.map(({ result, times }) => ({ ...result, sessions: times, owner: ownerDomain(result.domain) })),
        ),
      lost: 'results of TLS are not counted for reports',
      log,
    });
  }

  /** `domain`: of the recipients. */
  add(domain: string, result: TlsResult): void {
    this.#tally.add({ domain, day: dayOf(this.#now()), result });
  }

  /** Writes what is counted. */
  close(): Promise<void> {
    return this.#tally.close();
  }
}
