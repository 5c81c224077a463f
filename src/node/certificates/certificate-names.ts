// The names that certificates are requested for: the deployment's own, and of each hosted domain those by which mail programs and other servers
// ask for its settings, where they lead here. Names that the operator's certificates have are left out.
import type { Dns } from '../../net/dns/resolver.js';
import { DnsFailure } from '../../net/dns/resolver.js';
import type { CertificateSource } from '../../net/tcp/certificate-source.js';

export const DOMAIN_PREFIXES = ['mta-sts', 'autoconfig', 'autodiscover'] as const;

/** RFC 1035 §2.3.4, without the final dot. */
const LONGEST_NAME = 253;

export class CertificateNames {
  readonly #own: readonly string[];
  readonly #dns: Dns;
  readonly #certificates: Pick<CertificateSource, 'covers'>;

  constructor(own: readonly string[], dns: Dns, certificates: Pick<CertificateSource, 'covers'>) {
    this.#own = own;
    this.#dns = dns;
    this.#certificates = certificates;
  }

  /** `domain` undefined: the deployment's own names. Returns undefined when DNS cannot tell now. */
  async of(domain: string | undefined): Promise<readonly string[] | undefined> {
    const isWanted = (name: string) => !this.#certificates.covers(name);
    if (domain === undefined) return this.#own.filter(isWanted);
    const names = DOMAIN_PREFIXES.map((prefix) => `${prefix}.${domain}`);
    try {
      const ours = new Set((await Promise.all(this.#own.map((name) => this.#addresses(name)))).flat());
      const found: string[] = [];
      for (const name of names.filter((each) => each.length <= LONGEST_NAME && isWanted(each))) {
        const addresses = await this.#addresses(name);
        // The authority asks any of the addresses.
        if (addresses.length > 0 && addresses.every((address) => ours.has(address))) found.push(name);
      }
      return found;
    } catch (error) {
      if (error instanceof DnsFailure) return undefined;
      throw error;
    }
  }

  /** @throws DnsFailure that is temporary */
  async #addresses(name: string): Promise<readonly string[]> {
    const absent = (error: unknown): readonly string[] => {
      if (error instanceof DnsFailure && !error.temporary) return [];
      throw error;
    };
    const [v4, v6] = await Promise.all([
      this.#dns.resolve(name, 'A').catch(absent),
      this.#dns.resolve(name, 'AAAA').catch(absent),
    ]);
    return [...v4, ...v6];
  }
}
