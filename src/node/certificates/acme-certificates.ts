// The certificates of the store on this node: serves them, answers the authority, says how they are, and has them requested when one is due
// (certificate-requests, on one node at a time). A node looks at the store every two seconds, as it looks at files of certificates.
import type { Logger } from 'pino';
import { CoalescedReads } from '../../concurrency/coalesced-reads.js';
import { WorkQueue } from '../../concurrency/work-queue.js';
import type { CertificateSource } from '../../net/tcp/certificate-source.js';
import type { CertificateLook, CertificateStore, ServedCertificate } from '../../store/certificates.js';

export interface AcmeCertificatesOptions {
  readonly store: Pick<CertificateStore, 'look' | 'changed' | 'authorizations'>;
  readonly certificates: Pick<CertificateSource, 'acquire'>;
  /** Requests what is due; `stop` ends it. */
  readonly request: (stop: AbortSignal) => Promise<void>;
  readonly log: Pick<Logger, 'warn'>;
  /** ms since the epoch, by the clock of the database. */
  readonly now: () => number;
  readonly pollMs?: number;
}

export type AcmeStatus = Pick<CertificateLook, 'failing' | 'ownFailure' | 'domainsEnd'>;

const POLL_MS = 2_000;
/** The authority does not answer, or refuses this account. */
const RETRY_MS = 60_000;
const LOOK = 'look at certificates';
const REQUEST = 'request of certificates';

export class AcmeCertificates {
  readonly #options: AcmeCertificatesOptions;
  readonly #served = new Map<string | undefined, ServedCertificate>();
  /** One read at a time for all requests with a token: anybody may send them. */
  readonly #authorizations: CoalescedReads<ReadonlyMap<string, string>>;
  readonly #queue: WorkQueue;
  #revision = 0;
  #status: AcmeStatus = { failing: 0, ownFailure: undefined, domainsEnd: undefined };
  #isRequesting = false;

  constructor(options: AcmeCertificatesOptions) {
    this.#options = options;
    const { store, log, pollMs = POLL_MS } = options;
    this.#authorizations = new CoalescedReads(() => store.authorizations());
    this.#queue = new WorkQueue({
      work: async (key, { signal }) => {
        if (key === REQUEST) {
          await options.request(signal);
          return undefined;
        }
        if ((await this.look()) && this.#isRequesting) this.#queue.add(REQUEST);
        return pollMs;
      },
      failed: (job, err) => log.warn({ err, job }, 'certificates are not looked after'),
      workers: 2,
      most: 2,
      backoff: { firstMs: pollMs, longestMs: RETRY_MS },
    });
  }

  get status(): AcmeStatus {
    return this.#status;
  }

  /** Serves the certificates of the store; from now on later ones are served too. */
  async open(): Promise<void> {
    await this.look();
    this.#queue.addAfter(LOOK, this.#options.pollMs ?? POLL_MS);
  }

  /** Certificates may be requested now, because this node answers the authority. */
  startRequests(): void {
    this.#isRequesting = true;
    this.lookSoon();
  }

  lookSoon(): void {
    this.#queue.add(LOOK);
  }

  stop(): Promise<void> {
    return this.#queue.stop();
  }

  /** What the authority expects for the token; undefined for a token that is not open. */
  async authorizationOf(token: string): Promise<string | undefined> {
    return (await this.#authorizations.of('')).get(token);
  }

  /** Serves what has changed, and returns whether a certificate is due. */
  async look(): Promise<boolean> {
    const { store, now } = this.#options;
    const { revision, isDue, ...status } = await store.look(now());
    this.#status = status;
    if (revision !== this.#revision) await this.#load(revision);
    return isDue;
  }

  async #load(revision: number): Promise<void> {
    const { store, certificates } = this.#options;
    // A store that was restored may be behind.
    const after = revision < this.#revision ? 0 : this.#revision;
    for (const certificate of await store.changed(after)) this.#served.set(certificate.domain, certificate);
    certificates.acquire(
      [...this.#served.values()].map(({ domain, names, chain, privateKey }) => ({
        names,
        pair: { cert: chain, key: privateKey },
        isDefault: domain === undefined,
      })),
    );
    this.#revision = revision;
  }
}
