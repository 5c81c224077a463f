// DNS for the checks of one message, with a limited number of look-ups and a limited time, whatever records a peer publishes. A look-up
// beyond a limit fails temporarily. Answers are kept, so that a peer that sends the rest of its message late does not turn an answer into a
// failure. Errors have Node's codes, which mailauth knows.
import { type Dns, DnsFailure, type RecordType } from '../../net/dns/resolver.js';

export interface LookupLimits {
  /** The time limit in ms, which begins with the arrival of the header. */
  readonly deadlineMs: number;
  /** The most look-ups for one message. */
  readonly lookups: number;
}

/** The most characters of a TXT record: the key of an RSA modulus of 16384 bits has 2,800. */
const LONGEST_TEXT = 8192;

export class Lookups {
  readonly #dns: Dns;
  readonly #remoteAddress: string;
  readonly #deadline: number;
  /** Set from the first look-up on. */
  #expired: Promise<never> | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** The look-ups by type and name. */
  readonly #asked = new Map<string, Promise<unknown>>();
  #left: number;

  /** A reverse look-up asks for the names of `remoteAddress`. */
  constructor(dns: Dns, remoteAddress: string, limits: LookupLimits) {
    this.#dns = dns;
    this.#remoteAddress = remoteAddress;
    this.#left = limits.lookups;
    this.#deadline = performance.now() + limits.deadlineMs;
  }

  /** Works like `dns.promises.resolve`, and returns copies. @throws DnsFailure with ENOTFOUND, ENODATA, or a temporary code */
  readonly resolve = async (name: string, type: string): Promise<unknown> => {
    const key = `${type} ${name.toLowerCase()}`;
    let asked = this.#asked.get(key);
    if (asked === undefined) {
      asked = this.#ask(name, type);
      this.#asked.set(key, asked);
    }
    return [...((await asked) as unknown[])];
  };

  /** Starts a look-up that is needed later. */
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
      // The resolver itself makes the reverse name from the address.
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

/** Returns true for a name with a dot: mail asks for no top-level names. */
function isName(name: string): boolean {
  return name.length <= 253 && /^[\x21-\x2d\x2f-\x7e]{1,63}(?:\.[\x21-\x2d\x2f-\x7e]{1,63})+$/.test(name);
}

function lengthOf(texts: readonly string[]): number {
  return texts.reduce((length, text) => length + text.length, 0);
}
