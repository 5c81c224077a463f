// The MTA-STS policy of a domain (RFC 8461): announced in DNS, fetched when the announcement is new, cached in memory and in the store for
// its `max_age`. A valid policy is kept while DNS or the policy's host does not answer (§5.1). Mail waits for a policy only as long as a
// fetch may take.
import type { Logger } from 'pino';
import { lruCache } from '../../concurrency/lru-cache.js';
import { clock } from '../../store/clock.js';
import type { StsPolicy, StsPolicyStore } from '../../store/sts-policies.js';
import { DnsFailure } from '../dns/resolver.js';
import { fetchStsPolicy, type StsFetchOptions } from './sts-fetch.js';
import { parseStsPolicy, stsId } from './sts-policy.js';
import { policyFault, type TlsResults } from './tls-results.js';

export interface StsOptions extends StsFetchOptions {
  readonly store: StsPolicyStore;
  readonly log: Logger;
  /** Counts policies that are announced and cannot be fetched. */
  readonly results?: TlsResults | undefined;
}

export interface StsPolicies {
  /** Resolves to undefined without a valid policy. Never rejects. */
  policyOf(domain: string): Promise<StsPolicy | undefined>;
}

interface Known {
  readonly policy: StsPolicy | undefined;
}

const REMEMBERED = 20_000;
/** The store is asked again after this time, because another node may have fetched a policy. */
const KNOWN_MS = 600_000;
/** A policy that could not be fetched is fetched again after this time. */
const FAILED_MS = 300_000;
/** A policy that expires sooner is fetched again (§3.3), without delaying mail. */
const RENEW_BEFORE_MS = 86_400_000;
const RENEWED_MS = 3_600_000;

export function createStsPolicies(options: StsOptions): StsPolicies {
  const { dns, store, log, results } = options;
  const known = lruCache<string, Known>(REMEMBERED, { ttl: KNOWN_MS });
  /** The id whose policy was recently requested, keyed by domain. */
  const asked = lruCache<string, string>(REMEMBERED, { ttl: FAILED_MS });
  const renewed = lruCache<string, true>(REMEMBERED, { ttl: RENEWED_MS });
  const underWay = new Map<string, Promise<StsPolicy | undefined>>();

  async function stored(domain: string): Promise<StsPolicy | undefined> {
    const remembered = known.get(domain);
    if (remembered !== undefined) return ifValid(remembered.policy);
    try {
      const policy = await store.policyOf(domain);
      known.set(domain, { policy });
      return ifValid(policy);
    } catch (error) {
      log.warn({ domain, err: error }, 'MTA-STS policy not read');
      return undefined;
    }
  }

  async function announced(domain: string): Promise<string | undefined> {
    try {
      return stsId(await dns.resolve(`_mta-sts.${domain}`, 'TXT'));
    } catch (error) {
      if (error instanceof DnsFailure) return undefined;
      throw error;
    }
  }

  async function fetched(domain: string, id: string): Promise<StsPolicy | undefined> {
    asked.set(domain, id);
    try {
      const fetching = fetchStsPolicy(domain, options).catch((error: NodeJS.ErrnoException) => {
        results?.add(domain, policyFault('sts-policy-fetch-error', error.code));
        throw error;
      });
      const text = parseStsPolicy(await fetching);
      if (text === undefined) {
        results?.add(domain, policyFault('sts-policy-invalid'));
        throw new Error('it cannot be read');
      }
      const { mode, mx, maxAge } = text;
      const policy: StsPolicy = { id, mode, mx, maxAge: maxAge / 1000, expiresAt: clock.now() + maxAge };
      known.set(domain, { policy });
      await store.keep(domain, policy).catch((error: unknown) => {
        log.warn({ domain, err: error }, 'MTA-STS policy not kept');
      });
      log.info({ domain, id, mode }, 'MTA-STS policy fetched');
      return policy;
    } catch (error) {
      log.warn({ domain, id, reason: (error as Error).message }, 'MTA-STS policy not fetched');
      return undefined;
    }
  }

  async function look(domain: string): Promise<StsPolicy | undefined> {
    const [policy, id] = await Promise.all([stored(domain), announced(domain)]);
    if (id === undefined) return policy;
    if (id === policy?.id) {
      if (policy.expiresAt - clock.now() < RENEW_BEFORE_MS && !renewed.has(domain)) {
        renewed.set(domain, true);
        void fetched(domain, id);
      }
      return policy;
    }
    if (asked.get(domain) === id) return policy;
    return (await fetched(domain, id)) ?? policy;
  }

  return {
    policyOf(domain) {
      let looked = underWay.get(domain);
      if (looked === undefined) {
        looked = look(domain)
          .catch((error: unknown) => {
            log.error({ domain, err: error }, 'MTA-STS policy not looked up');
            return undefined;
          })
          .finally(() => underWay.delete(domain));
        underWay.set(domain, looked);
      }
      return looked;
    },
  };
}

function ifValid(policy: StsPolicy | undefined): StsPolicy | undefined {
  return policy !== undefined && policy.expiresAt > clock.now() ? policy : undefined;
}
