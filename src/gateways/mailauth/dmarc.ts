// DMARC (RFC 7489): the record is found and read by mailauth, the verdict is made here. (mailauth's own takes strict
// alignment for relaxed, and a look-up that failed for a signature that is not there.)
import { LRUCache } from 'lru-cache';
import getDmarcRecord from 'mailauth/lib/dmarc/get-dmarc-record.js';
import { getAlignment } from 'mailauth/lib/tools.js';
import type { MethodResult } from '../../mail/authentication-results.js';
import type { Lookups } from './lookups.js';

export interface DmarcResult extends MethodResult {
  /** What the owner of the domain wants to be done with the message; `none` unless it fails. */
  readonly wanted: 'none' | 'quarantine' | 'reject';
}

/** A domain that was authenticated, or could not be because DNS failed. */
export interface Identified {
  readonly method: 'spf' | 'dkim';
  readonly domain: string;
  readonly result: 'pass' | 'temperror';
}

/** Domains of one From field that are looked at: the field has one, but for forgeries. */
const MOST_DOMAINS = 5;

type Record = Exclude<Awaited<ReturnType<typeof getDmarcRecord>>, false>;

type Found = Record | 'none' | 'temperror';
export type DmarcRecords = ReadonlyMap<string, Found | Promise<Found>>;

const REMEMBERED = 5000;
/** As long as the resolver's answers. */
const REMEMBERED_MS = 60_000;

/** Finds the policies of author domains. */
export class Policies {
  readonly #remembered = new LRUCache<string, Record | 'none'>({ max: REMEMBERED, ttl: REMEMBERED_MS });

  /** Asks for them, while the message is still arriving. */
  find(domains: readonly string[], lookups: Lookups): DmarcRecords {
    const known = (domain: string) => this.#remembered.get(domain) ?? this.#ask(domain, lookups);
    return new Map(domains.slice(0, MOST_DOMAINS).map((domain) => [domain, known(domain)]));
  }

  async #ask(domain: string, lookups: Lookups): Promise<Found> {
    try {
      const record = (await getDmarcRecord(domain, lookups.resolve)) || 'none';
      this.#remembered.set(domain, record);
      return record;
    } catch {
      return 'temperror';
    }
  }
}

/** One result a domain of From, each held against its own policy. `dice`: [0, 1), for policies of a part of the mail. */
export async function judge(
  domains: readonly string[],
  records: DmarcRecords,
  identified: readonly Identified[],
  dice: () => number,
): Promise<readonly DmarcResult[]> {
  if (domains.length === 0)
    return [{ method: 'dmarc', result: 'permerror', comment: 'no author domain', wanted: 'none' }];
  const results: DmarcResult[] = [];
  for (const [domain, record] of records) results.push(verdict(domain, await record, identified, dice));
  if (domains.length > MOST_DOMAINS)
    results.push({ method: 'dmarc', result: 'permerror', comment: 'too many author domains', wanted: 'quarantine' });
  return results;
}

function verdict(domain: string, record: Found, identified: readonly Identified[], dice: () => number): DmarcResult {
  const about = { method: 'dmarc', properties: [['header.from', domain]], wanted: 'none' } as const;
  if (record === 'none' || record === 'temperror') return { ...about, result: record };
  const policy = policyOf(record);
  const comment = `p=${policy}`;
  const aligned = identified.filter(({ method, domain: other }) =>
    (method === 'dkim' ? record.adkim : record.aspf) === 's' ? other === domain : isRelated(domain, other),
  );
  if (aligned.some(({ result }) => result === 'pass')) return { ...about, result: 'pass', comment };
  // It might have passed.
  if (aligned.length > 0) return { ...about, result: 'temperror', comment };
  return { ...about, result: 'fail', comment, wanted: sampled(policy, record, dice) };
}

function isRelated(domain: string, other: string): boolean {
  return domain === other || getAlignment(domain, [other], false) !== false;
}

function policyOf({ p, sp, isOrgRecord }: Record): DmarcResult['wanted'] {
  const policy = `${(isOrgRecord && sp) || p}`.trim().toLowerCase();
  return policy === 'quarantine' || policy === 'reject' ? policy : 'none';
}

/** RFC 7489 §6.6.4: of what is not sampled, the next weaker thing is done. */
function sampled(policy: DmarcResult['wanted'], { rr }: Record, dice: () => number): DmarcResult['wanted'] {
  const percent = /;\s*pct\s*=\s*(\d{1,3})\s*(?:;|$)/i.exec(rr)?.[1];
  if (percent === undefined || dice() * 100 < Number(percent)) return policy;
  return policy === 'reject' ? 'quarantine' : 'none';
}
