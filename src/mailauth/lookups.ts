// DNS for the checks of one message: so many look-ups and so much time, whatever records a peer publishes. What is over is
// a temporary failure of the look-up. What was asked stays answered, so that a peer that sends the rest of its message late
// does not turn an answer into a failure. Errors bear the codes of Node's that mailauth knows.
import { type Dns, DnsFailure, type RecordType } from '../dns/resolver.js';

export interface LookupLimits {
  /** ms from the header's arrival on. */
  readonly deadlineMs: number;
  /** Look-ups of one message. */
  readonly lookups: number;
}

/** Characters of a TXT record: the key of an RSA modulus of 16384 bits has 2,800. */
const LONGEST_TEXT = 8192;

export class Lookups {
  readonly #dns: Dns;
  readonly #remoteAddress: string;
  readonly #deadline: number;
  /** From the first look-up on. */
  #expired: Promise<never> | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** By type and name. */
  readonly #asked = new Map<string, Promise<unknown>>();
  #left: number;

  /** `remoteAddress`: whose names a reverse look-up asks for. */
  constructor(dns: Dns, remoteAddress: string, limits: LookupLimits) {
    this.#dns = dns;
    this.#remoteAddress = remoteAddress;
    this.#left = limits.lookups;
    this.#deadline = performance.now() + limits.deadlineMs;
  }

  /** As `dns.promises.resolve`, in copies. @throws DnsFailure with ENOTFOUND, ENODATA, or a temporary code */
  readonly resolve = async (name: string, type: string): Promise<unknown> => {
    const key = `${type} ${name.toLowerCase()}`;
    let asked = this.#asked.get(key);
    if (asked === undefined) {
      asked = this.#ask(name, type);
      this.#asked.set(key, asked);
    }
    return [...((await asked) as unknown[])];
  };

  /** Asks now for what is needed later. */
  prefetch(name: string, type: RecordType): void {
    this.resolve(name, type).catch(() => undefined);
  }

  close(): void {
    clearTimeout(this.#timer);
  }

  async #ask(name: string, type: string): Promise<unknown> {
    if (!isName(name)) throw new DnsFailure('ENOTFOUND', name, type);
    if (this.#left-- <= 0) throw new DnsFailure('ETIMEOUT', name, type);
    try {
      // The resolver makes the name of the address itself.
      const asked = type === 'PTR' ? this.#remoteAddress : name;
      const found = await Promise.race([this.#dns.resolve(asked, type as RecordType), this.#expiry()]);
      return type === 'TXT' ? (found as string[][]).filter((texts) => lengthOf(texts) <= LONGEST_TEXT) : found;
    } catch (error) {
      const isKnown = !(error instanceof DnsFailure) || error.temporary || /^E(?:NOTFOUND|NODATA)$/.test(error.code);
      throw isKnown ? error : new DnsFailure('ENOTFOUND', name, type);
    }
  }

  #expiry(): Promise<never> {
    this.#expired ??= new Promise((_, reject) => {
      const expire = () => reject(new DnsFailure('ETIMEOUT', '*', '*'));
      this.#timer = setTimeout(expire, Math.max(0, this.#deadline - performance.now())).unref();
    });
    return this.#expired;
  }
}

/** With a dot in it: nothing that mail asks for lies at the top. */
function isName(name: string): boolean {
  return name.length <= 253 && /^[\x21-\x2d\x2f-\x7e]{1,63}(?:\.[\x21-\x2d\x2f-\x7e]{1,63})+$/.test(name);
}

function lengthOf(texts: readonly string[]): number {
  return texts.reduce((length, text) => length + text.length, 0);
}
