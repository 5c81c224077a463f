// SPF (RFC 7208): mailauth evaluates the records; this file limits their look-ups (§4.6.4) and decides what a failed look-up means. A peer
// writes the records: terms whose macros would grow too long are refused before they are expanded.
import { spfVerify } from 'mailauth/lib/spf/spf-verify.js';
import { lruCache } from '../../concurrency/lru-cache.js';
import { parseSender } from '../../mail-format/address.js';
import type { Origin } from '../../mail-format/authentication/authentication.js';
import type { MethodResult } from '../../mail-format/authentication/authentication-results.js';
import { DnsFailure } from '../../net/dns/resolver.js';
import type { Lookups } from './lookups.js';

export interface SpfResult extends MethodResult {
  readonly method: 'spf';
  /** The domain of the reverse-path, or of HELO for the null one. */
  readonly domain: string;
}

/** `terms`: those that needed look-ups; at most 10 are allowed. */
interface CountedSpf {
  readonly result: SpfResult['result'];
  readonly terms: number;
}

/** RFC 7208 §4.6.4. */
const MOST_TERMS = 10;
const MOST_VOIDS = 2;
/** The look-ups of one evaluation, including the hosts of `mx` and `ptr`: the rest of the message's look-ups is for the other checks. */
const MOST_LOOKUPS = 60;
// The limits of a record and of a term in characters, and of the macros in a term; names have 253 characters.
const LONGEST_RECORD = 4096;
const LONGEST_TERM = 300;
const MOST_MACROS = 12;

const REMEMBERED = 5000;
/** The resolver keeps its answers for the same time. */
const REMEMBERED_MS = 60_000;

const QUALIFIED = { '+': 'pass', '-': 'fail', '~': 'softfail', '?': 'neutral' } as const;

class SpfFailure extends Error {
  readonly spfResult: { error: 'permerror' | 'temperror'; text: string };

  constructor(error: 'permerror' | 'temperror', text: string) {
    super(text);
    this.spfResult = { error, text };
  }
}

export class Spf {
  readonly #host: string;
  readonly #remembered = lruCache<string, SpfResult['result']>(REMEMBERED, { ttl: REMEMBERED_MS });

  /** `host` is the name of this server, which macros may contain. */
  constructor(host: string) {
    this.#host = host;
  }

  /** Never rejects. */
  async check({ remoteAddress, helo, sender }: Origin, lookups: Lookups): Promise<SpfResult> {
    const ip = remoteAddress.replace(/^::ffff:(?=\d+\.)/i, '');
    const address = parseSender(sender === '' ? `postmaster@${helo}` : sender);
    // An address literal has no records.
    const domain = address === undefined || address.domain.startsWith('[') ? '' : address.domain;
    const mailbox = `${address?.localPart}@${domain}`;
    const key = `${ip} ${helo} ${mailbox}`;
    let result = domain === '' ? 'none' : this.#remembered.get(key);
    if (result === undefined) {
      const identity = { sender: mailbox, ip, helo: helo.slice(0, 255), mta: this.#host };
      result = await this.#evaluate(domain, identity, lookups);
      if (result !== 'temperror') this.#remembered.set(key, result);
    }
    const property =
      sender === ''
        ? (['smtp.helo', domain || helo] as const)
        : (['smtp.mailfrom', domain === '' ? sender : mailbox] as const);
    return { method: 'spf', result, domain, properties: [property] };
  }

  /** Says whether a host may send for a domain, and how many of the ten terms with look-ups that takes. Never rejects. */
  mayPass(
    domain: string,
    host: { readonly address: string; readonly name: string },
    lookups: Lookups,
  ): Promise<CountedSpf> {
    const identity = { sender: `postmaster@${domain}`, ip: host.address, helo: host.name, mta: this.#host };
    return this.#count(domain, identity, lookups);
  }

  async #evaluate(
    domain: string,
    identity: { sender: string; ip: string; helo: string; mta: string },
    lookups: Lookups,
  ): Promise<SpfResult['result']> {
    return (await this.#count(domain, identity, lookups)).result;
  }

  async #count(
    domain: string,
    identity: { sender: string; ip: string; helo: string; mta: string },
    lookups: Lookups,
  ): Promise<CountedSpf> {
    const budget = { left: MOST_LOOKUPS };
    const resolver = counted(lookups, budget, true);
    const counting = (result: SpfResult['result']): CountedSpf => ({
      result,
      terms: Math.max(0, resolver.getResolveCount()),
    });
    try {
      const result = await spfVerify(domain, {
        ...identity,
        resolver,
        createSubResolver: () => counted(lookups, budget, false),
      });
      if (result === false) return counting('neutral');
      return counting(result.error ?? QUALIFIED[result.qualifier ?? '?']);
    } catch (error) {
      // mailauth throws errors without a result for malformed records.
      return counting(
        (error as Partial<SpfFailure & { spfResult: { error: SpfResult['result'] } }>).spfResult?.error ?? 'permerror',
      );
    }
  }
}

/** Returns a resolver within the limits of one evaluation, or within those of the names that one `mx` or `ptr` has. */
function counted(lookups: Lookups, budget: { left: number }, firstIsFree: boolean) {
  let terms = firstIsFree ? -1 : 0;
  let voids = 0;
  const resolve = async (name: string, type: string): Promise<unknown> => {
    if (++terms > MOST_TERMS || budget.left-- <= 0) throw new SpfFailure('permerror', 'too many look-ups');
    try {
      const found = await lookups.resolve(name, type);
      if (type === 'TXT') for (const texts of found as string[][]) judgeRecord(texts.join(''));
      return found;
    } catch (error) {
      if (!(error instanceof DnsFailure)) throw error;
      if (error.temporary) throw new SpfFailure('temperror', 'a look-up failed');
      // A host that has only addresses of the other family exists.
      if ((error.code === 'ENOTFOUND' || (type !== 'A' && type !== 'AAAA')) && terms > 0 && ++voids > MOST_VOIDS)
        throw new SpfFailure('permerror', 'too many look-ups without an answer');
      return [];
    }
  };
  return Object.assign(resolve, { getResolveCount: () => terms, getVoidCount: () => voids });
}

function judgeRecord(record: string): void {
  if (!/^v=spf1(?: |$)/i.test(record)) return;
  const isBounded = (term: string) => term.length <= LONGEST_TERM && term.split('%').length - 1 <= MOST_MACROS;
  if (record.length > LONGEST_RECORD || !record.split(' ').every(isBounded))
    throw new SpfFailure('permerror', 'the record is too long');
}
