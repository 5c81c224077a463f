// POST to URLs that users gave (push endpoints, webhooks): guarded, because the server sends from within its own network. The
// address that was judged is the one that is connected to, redirects are not followed, the environment's proxies are not used,
// and time, memory and connections have bounds, also for each host and each account.
import { FairSemaphore, SemaphoreFull } from '../bounds/fair-semaphore.js';
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
  /** The account on whose behalf the request is made: its share of the requests. */
  readonly accountId: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | string;
  readonly signal?: AbortSignal | undefined;
  /** Asked when the request has waited for its turn; on false it is aborted. */
  readonly mayBegin?: () => boolean;
}

export interface HttpClient {
  /** Never rejects for what a peer or the network does. */
  post(request: HttpPost): Promise<HttpOutcome>;
  /** Idle connections are closed; requests under way end by their own signals. */
  close(): void;
}

export interface HttpClientOptions {
  readonly dns: Dns;
  /** Private addresses, and http. */
  readonly allowPrivate: boolean;
  /** PEM; the system's authorities when absent. */
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
      // The server closed a connection that was idle when the request came: there may be more of these.
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
        const leave = await accounts.acquire(accountId, { signal });
        try {
          const disconnect = await limiter.acquire(accountId, url.host, signal);
          try {
            if (request.mayBegin?.() === false) return failed('aborted', 'the request is wanted no more');
            return await connected(url, request);
          } finally {
            disconnect();
          }
        } finally {
          leave();
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
