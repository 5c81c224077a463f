// The networks of the operator's own balancers and proxies. Only their PROXY headers and X-Forwarded-For are believed.
import { BlockList, isIPv6 } from 'node:net';
import { canonicalAddress } from './ip-address.js';

export class TrustedNetworks {
  readonly isEmpty: boolean;
  readonly #networks = new BlockList();

  /** `networks` in CIDR notation. */
  constructor(networks: readonly string[]) {
    this.isEmpty = networks.length === 0;
    for (const network of networks) {
      const [address = '', bits] = network.split('/');
      const plain = canonicalAddress(address) ?? '';
      // ::ffff:10.0.0.0/104 is 10.0.0.0/8.
      const mapped = isIPv6(address) && !isIPv6(plain) && Number(bits) >= 96;
      if (mapped) this.#networks.addSubnet(plain, Number(bits) - 96, 'ipv4');
      else this.#networks.addSubnet(address, Number(bits), isIPv6(address) ? 'ipv6' : 'ipv4');
    }
  }

  /** False for text that is not an address. */
  includes(address: string): boolean {
    if (this.isEmpty) return false;
    const plain = canonicalAddress(address);
    return plain !== undefined && this.#networks.check(plain, isIPv6(plain) ? 'ipv6' : 'ipv4');
  }
}
