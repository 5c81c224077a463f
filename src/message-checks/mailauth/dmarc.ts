// DMARC (RFC 9989): the policy of the author's domain, and whether the message is entitled to that domain. Policies are looked up while the
// message arrives. A message without a recognisable author fails, as in RFC 7489 §6.6.1; otherwise a sender could avoid every policy by
// omitting From. If a message names nobody at all, clients show the envelope sender: unless the operator rejects failures, the policy of
// that sender's domain decides.
import { lruCache } from '../../concurrency/lru-cache.js';
import type { MethodResult } from '../../mail-format/authentication/authentication-results.js';
import type { AuthorFault, Authors } from '../../mail-format/authentication/author-domains.js';
import { DnsFailure } from '../../net/dns/resolver.js';
import type { DmarcRecord, Policy } from './dmarc-record.js';
import type { Lookups } from './lookups.js';
import { discoverPolicy, organizationalDomain, type Walk, walkTree } from './tree-walk.js';

export interface DmarcResult extends MethodResult {
  /** The action that the owner of the domain wants; `none` unless the message fails. */
  readonly wanted: Policy;
}

/** A domain that is authenticated, or that could not be because DNS failed. */
export interface Identified {
  readonly method: 'spf' | 'dkim';
  readonly domain: string;
  readonly result: 'pass' | 'temperror';
}

/** The most domains of one From field that are checked: a genuine field usually has one. */
const MOST_DOMAINS = 5;

const REMEMBERED = 5000;
/** The resolver keeps its answers for the same time. */
const REMEMBERED_MS = 60_000;

const FAULTS: Readonly<Record<AuthorFault, string>> = {
  missing: 'no From field',
  multiple: 'several From fields',
  malformed: 'malformed From field',
};

/** Remembers the walks of earlier messages for the next ones. */
export class Walks {
  readonly #remembered = lruCache<string, Walk>(REMEMBERED, { ttl: REMEMBERED_MS });

  async of(domain: string, lookups: Lookups): Promise<Walk> {
    const known = this.#remembered.get(domain);
    if (known !== undefined) return known;
    const walk = await walkTree(domain, lookups);
    if (!walk.isCut) this.#remembered.set(domain, walk);
    return walk;
  }
}

/** The DMARC check of one message. */
export class Dmarc {
  readonly #authors: Authors;
  readonly #checks: readonly AuthorCheck[];

  /** Starts the look-ups of the policies. `shown` is the domain of the sender who is shown instead of an author, if its policy decides. */
  constructor(authors: Authors, walks: Walks, lookups: Lookups, shown?: string) {
    this.#authors = authors;
    const replaced = shown === undefined ? [] : [shown];
    const domains = authors.fault === undefined ? authors.domains.slice(0, MOST_DOMAINS) : replaced;
    this.#checks = domains.map((domain) => new AuthorCheck(domain, walks, lookups));
  }

  /** Starts the look-ups that are needed if this domain is authenticated. */
  expect(identity: string): void {
    for (const check of this.#checks) check.expect(identity);
  }

  /** Returns one result per domain of From, each by its own policy. */
  async judge(identified: readonly Identified[]): Promise<readonly DmarcResult[]> {
    const { domains, fault } = this.#authors;
    if (fault !== undefined) {
      const properties = domains.slice(0, 1).map((domain) => ['header.from', domain] as const);
      const [shown] = this.#checks;
      const wanted = shown === undefined ? 'reject' : (await shown.judge(identified)).wanted;
      return [{ method: 'dmarc', result: 'fail', comment: FAULTS[fault], properties, wanted }];
    }
    const results: DmarcResult[] = [];
    for (const check of this.#checks) results.push(await check.judge(identified));
    if (domains.length > MOST_DOMAINS)
      results.push({ method: 'dmarc', result: 'permerror', comment: 'too many author domains', wanted: 'quarantine' });
    return results;
  }

  /** Returns undefined unless the message has one author, whose policy wants reports. */
  async evaluation(identified: readonly Identified[]): Promise<PolicyEvaluation | undefined> {
    const [check, ...others] = this.#checks;
    if (this.#authors.fault !== undefined || check === undefined || others.length > 0) return undefined;
    return check.evaluation(identified);
  }
}

/** What the owner of a policy learns about a message. */
interface PolicyEvaluation {
  /** The domain that has the policy. */
  readonly policyDomain: string;
  readonly author: string;
  /** Whether the method passes for a domain that is aligned with the author's. */
  readonly dkim: boolean;
  readonly spf: boolean;
}

type Alignment = 'aligned' | 'apart' | 'unknown';

class AuthorCheck {
  readonly #domain: string;
  readonly #walks: Walks;
  readonly #lookups: Lookups;
  readonly #walk: Promise<Walk>;
  readonly #isMissing: Promise<boolean | 'unknown'>;
  readonly #organizations = new Map<string, Promise<Alignment>>();

  constructor(domain: string, walks: Walks, lookups: Lookups) {
    this.#domain = domain;
    this.#walks = walks;
    this.#lookups = lookups;
    this.#walk = walks.of(domain, lookups);
    this.#isMissing = this.#findMissing();
  }

  expect(identity: string): void {
    void this.#relation(identity);
  }

  async judge(identified: readonly Identified[]): Promise<DmarcResult> {
    const walk = await this.#walk;
    const found = discoverPolicy(walk);
    if (found === 'none') return this.#resultOf('none');
    if (found === 'unknown') return this.#resultOf('temperror');
    const { record, isOwn } = found;
    if (record.policy === undefined) return this.#resultOf('permerror', 'invalid policy record');
    const isMissing = isOwn ? false : await this.#isMissing;
    if (isMissing === 'unknown') return this.#resultOf('temperror');
    const policy = policyOf(record, isOwn, isMissing);
    const comment = `p=${policy}${record.isTest ? ' t=y' : ''}`;
    let mayHavePassed = false;
    for (const { method, domain, result } of identified) {
      const alignment = record.isStrict[method] ? this.#equality(domain) : await this.#relation(domain);
      if (alignment === 'aligned' && result === 'pass') return this.#resultOf('pass', comment);
      mayHavePassed ||= alignment !== 'apart';
    }
    if (mayHavePassed) return this.#resultOf('temperror', comment);
    return this.#resultOf('fail', comment, record.isTest ? weaker(policy) : policy);
  }

  async evaluation(identified: readonly Identified[]): Promise<PolicyEvaluation | undefined> {
    const found = discoverPolicy(await this.#walk);
    if (typeof found === 'string' || !found.record.wantsReports || found.record.policy === undefined) return undefined;
    const { name: policyDomain, record } = found;
    const passes = { dkim: false, spf: false };
    for (const { method, domain, result } of identified) {
      if (result !== 'pass' || passes[method]) continue;
      const alignment = record.isStrict[method] ? this.#equality(domain) : await this.#relation(domain);
      passes[method] = alignment === 'aligned';
    }
    return { policyDomain, author: this.#domain, ...passes };
  }

  #resultOf(result: DmarcResult['result'], comment?: string, wanted: Policy = 'none'): DmarcResult {
    const properties = [['header.from', this.#domain] as const];
    if (comment === undefined) return { method: 'dmarc', result, properties, wanted };
    return { method: 'dmarc', result, comment, properties, wanted };
  }

  #equality(identity: string): Alignment {
    return identity === this.#domain ? 'aligned' : 'apart';
  }

  /** Checks relaxed alignment (§4.4): both domains have the same organizational domain. */
  #relation(identity: string): Promise<Alignment> {
    let relation = this.#organizations.get(identity);
    if (relation === undefined) {
      relation = this.#compare(identity);
      this.#organizations.set(identity, relation);
    }
    return relation;
  }

  async #compare(identity: string): Promise<Alignment> {
    if (identity === this.#domain) return 'aligned';
    const top = (name: string) => name.slice(name.lastIndexOf('.') + 1);
    if (top(identity) !== top(this.#domain)) return 'apart';
    const walk = await this.#walk;
    if (walk.isCut) return 'unknown';
    const organization = organizationalDomain(walk);
    // Domains outside the organization are not looked up: a peer chooses them.
    if (identity !== organization && !identity.endsWith(`.${organization}`)) return 'apart';
    const other = await this.#walks.of(identity, this.#lookups);
    if (other.isCut) return 'unknown';
    return organizationalDomain(other) === organization ? 'aligned' : 'apart';
  }

  /** Finds out whether the domain does not exist (RFC 8020); asked only when a policy depends on it. */
  async #findMissing(): Promise<boolean | 'unknown'> {
    const found = discoverPolicy(await this.#walk);
    if (found === 'none' || found === 'unknown' || found.isOwn || found.record.ofMissing === undefined) return false;
    try {
      await this.#lookups.resolve(this.#domain, 'A');
      return false;
    } catch (error) {
      if (!(error instanceof DnsFailure) || error.temporary) return 'unknown';
      return error.code === 'ENOTFOUND';
    }
  }
}

function policyOf(record: DmarcRecord, isOwn: boolean, isMissing: boolean): Policy {
  const { policy = 'none', ofSubdomains, ofMissing } = record;
  if (isOwn) return policy;
  return (isMissing ? ofMissing : undefined) ?? ofSubdomains ?? policy;
}

/** §4.7, `t`: returns the policy one step weaker. */
function weaker(policy: Policy): Policy {
  return policy === 'reject' ? 'quarantine' : 'none';
}
