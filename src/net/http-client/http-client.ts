// Sends POST requests to URLs that users gave (push endpoints, webhooks). The client is guarded, because the server sends from within its
// own network: it connects only to checked addresses, follows no redirects and uses no proxies of the environment. Time, memory and
// connections are limited, also per host and per account.
import { FairSemaphore, SemaphoreFull } from '../../concurrency/fair-semaphore.js';
import type { Dns } from '../dns/resolver.js';
import { ConnectionLimiter } from './connection-limiter.js';
import { createConnectionPool } from './connection-pool.js';
import { exchange } from './exchange.js';
import { hostAddresses } from './host-addresses.js';
import { DEFAULT_HTTP_LIMITS, type HttpClientLimits } from './limits.js';
import { failed, type HttpOutcome } from './outcome.js';
import { targetUrlFault } from './target-url.js';

interface HttpPost {
  readonly url: string;
  /** The account that makes the request; its share of the requests is charged. */
  readonly accountId: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | string;
  readonly signal?: AbortSignal | undefined;
  /** Called when the request has waited for its turn; false aborts it. */
  readonly mayBegin?: () => boolean;
}

export interface HttpClient {
  /** Never rejects because of a peer or the network. */
  post(request: HttpPost): Promise<HttpOutcome>;
  /** Closes idle connections; running requests end by their own signals. */
  close(): void;
}

export interface HttpClientOptions {
  readonly dns: Dns;
  /** Allows private addresses and http. */
  readonly allowPrivate: boolean;
  /** PEM; when it is absent, the authorities of the system are used. */
  readonly ca?: string | undefined;
  readonly limits?: Partial<HttpClientLimits>;
}

export function createHttpClient({ dns, allowPrivate, ca, limits: chosen }: HttpClientOptions): HttpClient {
  const limits: HttpClientLimits = { ...DEFAULT_HTTP_LIMITS, ...chosen };
  const accounts = new FairSemaphore({ total: Number.POSITIVE_INFINITY, share: limits.requestsPerAccount });
  const limiter = new ConnectionLimiter(limits);
  const pool = createConnectionPool(limits, ca);

  async function connected(url: URL, request: HttpPost): Promise<HttpOutcome> {
    const deadline = performance.now() + limits.answerMs;
    const addresses = await hostAddresses(dns, url.hostname, allowPrivate);
    if ('failure' in addresses) return addresses;
    const agent = pool.agentOf(url);
    for (;;) {
      const outcome = await exchange({ ...request, url, addresses, agent, limits, deadline });
      // The server had closed the idle connection when the request was sent; other idle connections may be closed too.
      if (outcome !== 'stale') return outcome;
    }
  }

  return {
    async post(request) {
      const { accountId, signal } = request;
      const fault = targetUrlFault(request.url, allowPrivate);
      if (fault !== undefined) return failed('url', `the URL ${fault}`);
      const url = new URL(request.url);
      try {
        const place = await accounts.acquire(accountId, { signal });
        try {
          const connection = await limiter.acquire(accountId, url.host, signal);
          try {
            if (request.mayBegin?.() === false) return failed('aborted', 'the request is wanted no more');
            return await connected(url, request);
          } finally {
            connection.release();
          }
        } finally {
          place.release();
        }
      } catch (error) {
        if (error instanceof SemaphoreFull) return failed('busy', `too many requests wait for ${url.host}`);
        if (signal?.aborted === true) return failed('aborted', 'the request was given up');
        throw error;
      }
    },

    close: () => pool.close(),
  };
}
