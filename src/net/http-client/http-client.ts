// Sends requests to URLs that others chose: push endpoints and webhooks of users, images of mail. The client is guarded, because the server
// sends from within its own network: it connects only to checked addresses and uses no proxies of the environment. Redirects of downloads
// are followed, and checked like the first URL; others are not followed. Time, memory and connections are limited, also per host and per
// account.
import type { IncomingMessage } from 'node:http';
import { FairSemaphore, SemaphoreFull } from '../../concurrency/fair-semaphore.js';
import type { Dns } from '../dns/resolver.js';
import { ConnectionLimiter } from './connection-limiter.js';
import { createConnectionPool } from './connection-pool.js';
import { exchange, readExcerpt, readWhole } from './exchange.js';
import { hostAddresses } from './host-addresses.js';
import { DEFAULT_HTTP_LIMITS, type HttpClientLimits } from './limits.js';
import { type Download, failed, type HttpFailure, type HttpOutcome } from './outcome.js';
import { redirectionOf } from './redirection.js';
import { type AllowPrivate, targetUrlFault, webUrlFault } from './target-url.js';

interface HttpRequestBase {
  readonly url: string;
  /** The account that makes the request; its share of the requests is charged. */
  readonly accountId: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
}

interface HttpPost extends HttpRequestBase {
  readonly body: Uint8Array | string;
  /** Called when the request has waited for its turn; false aborts it. */
  readonly mayBegin?: () => boolean;
}

interface HttpDownload extends HttpRequestBase {
  /** Gets the body of an answer with status 200, piece by piece; false ends the download. */
  readonly take: (octets: Uint8Array) => boolean;
}

export interface HttpClient {
  /** Never rejects because of a peer or the network. */
  post(request: HttpPost): Promise<HttpOutcome>;
  /** GET over http or https, on their usual ports; all of it takes at most `downloadMs` from its turn on. Never rejects because of a peer or the network. */
  download(request: HttpDownload): Promise<Download | HttpFailure>;
  /** Closes idle connections; running requests end by their own signals. */
  close(): void;
}

export interface HttpClientOptions {
  readonly dns: Dns;
  /** Allows private addresses, and what only they need: http, and other ports. */
  readonly allowPrivate: AllowPrivate;
  /** PEM; when it is absent, the authorities of the system are used. */
  readonly ca?: string | undefined;
  readonly limits?: Partial<HttpClientLimits>;
}

type Read<T> = (response: IncomingMessage, limits: HttpClientLimits) => Promise<T>;

/** One request without redirects, as `send` takes it. */
interface Sent<T> extends Omit<HttpRequestBase, 'url'>, Pick<HttpPost, 'mayBegin'> {
  readonly method: 'GET' | 'POST';
  readonly url: URL;
  readonly body?: Uint8Array | string;
  readonly read: Read<T>;
}

class GuardedHttpClient implements HttpClient {
  readonly #dns: Dns;
  readonly #allowPrivate: AllowPrivate;
  readonly #limits: HttpClientLimits;
  readonly #accounts: FairSemaphore;
  readonly #limiter: ConnectionLimiter;
  readonly #pool: ReturnType<typeof createConnectionPool>;

  constructor({ dns, allowPrivate, ca, limits }: HttpClientOptions) {
    this.#dns = dns;
    this.#allowPrivate = allowPrivate;
    this.#limits = { ...DEFAULT_HTTP_LIMITS, ...limits };
    this.#accounts = new FairSemaphore({ total: Number.POSITIVE_INFINITY, share: this.#limits.requestsPerAccount });
    this.#limiter = new ConnectionLimiter(this.#limits);
    this.#pool = createConnectionPool(this.#limits, ca);
  }

  async post({ url, ...request }: HttpPost): Promise<HttpOutcome> {
    const fault = targetUrlFault(url, this.#allowPrivate);
    if (fault !== undefined) return failed('url', `the URL ${fault}`);
    return this.#inShare(request, () =>
      this.#send({ ...request, method: 'POST', url: new URL(url), read: readExcerpt }),
    );
  }

  async download({ url, take, ...request }: HttpDownload): Promise<Download | HttpFailure> {
    const { downloadMs } = this.#limits;
    const late = new AbortController();
    const signal = request.signal === undefined ? late.signal : AbortSignal.any([request.signal, late.signal]);
    let timer: NodeJS.Timeout | undefined;
    // A server is not slow because others had their turn first.
    const mayBegin = () => {
      timer ??= setTimeout(() => late.abort(), downloadMs);
      return true;
    };
    const read: Read<Download> = (response) => readWhole(response, take);
    try {
      const outcome = await this.#inShare({ ...request, signal }, () =>
        this.#followed(url, { ...request, signal, mayBegin, method: 'GET', read }),
      );
      const isLate = 'failure' in outcome && outcome.failure === 'aborted' && late.signal.aborted;
      return isLate ? failed('timeout', `the download took longer than ${downloadMs} ms`) : outcome;
    } finally {
      clearTimeout(timer);
    }
  }

  close(): void {
    this.#pool.close();
  }

  /** Runs the request in the share of its account. */
  async #inShare<T>(
    { accountId, signal }: Pick<HttpRequestBase, 'accountId' | 'signal'>,
    run: () => Promise<T | HttpFailure>,
  ): Promise<T | HttpFailure> {
    try {
      const place = await this.#accounts.acquire(accountId, { signal });
      try {
        return await run();
      } finally {
        place.release();
      }
    } catch (error) {
      if (error instanceof SemaphoreFull) return failed('busy', 'too many requests wait');
      if (signal?.aborted === true) return failed('aborted', 'the request was given up');
      throw error;
    }
  }

  async #followed(text: string, request: Omit<Sent<Download>, 'url'>): Promise<Download | HttpFailure> {
    let next = text;
    for (let redirects = 0; redirects <= this.#limits.redirects; redirects++) {
      const fault = webUrlFault(next, this.#allowPrivate);
      if (fault !== undefined) return failed('url', `the URL ${fault}`);
      const url = new URL(next);
      const outcome = await this.#send({ ...request, url });
      const target = 'failure' in outcome ? undefined : redirectionOf(outcome, url);
      if (target === undefined) return outcome;
      next = target;
    }
    return failed('answer', `more than ${this.#limits.redirects} redirects`);
  }

  /** @throws SemaphoreFull, and the reason of the signal */
  async #send<T extends object>({ mayBegin, ...sent }: Sent<T>): Promise<T | HttpFailure> {
    const { url, accountId, signal } = sent;
    const connection = await this.#limiter.acquire(accountId, url.host, signal);
    try {
      if (mayBegin?.() === false) return failed('aborted', 'the request is wanted no more');
      return await this.#connected(sent);
    } finally {
      connection.release();
    }
  }

  async #connected<T extends object>({ read, ...sent }: Omit<Sent<T>, 'mayBegin'>): Promise<T | HttpFailure> {
    const { url } = sent;
    const deadline = performance.now() + this.#limits.answerMs;
    const looking = hostAddresses(this.#dns, url.hostname, this.#allowPrivate);
    const addresses = await orAborted(looking, sent.signal);
    if ('failure' in addresses) return addresses;
    const agent = this.#pool.agentOf(url);
    for (;;) {
      const outcome = await exchange({ ...sent, addresses, agent, limits: this.#limits, deadline }, read);
      // The server had closed the idle connection when the request was sent; other idle connections may be closed too.
      if (outcome !== 'stale') return outcome;
    }
  }
}

/** Rejects with the reason of the signal when it aborts first; the work continues, and its outcome is dropped. */
function orAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    if (signal.aborted) abort();
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

export function createHttpClient(options: HttpClientOptions): HttpClient {
  return new GuardedHttpClient(options);
}
