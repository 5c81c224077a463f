// The hosts that mail may be sent to: not this node itself, which would be a mail loop (RFC 5321 §5.1), and no host with a private address,
// unless the operator allows it. The address of the connection decides.
import { networkInterfaces } from 'node:os';
import { isPublicAddress } from '../tcp/address-scope.js';
import { canonicalAddress } from '../tcp/ip-address.js';

export interface OwnHost {
  /** The name of this node, which attempts have. */
  readonly nodeId?: string;
  /** MANSIO_HOSTNAME. */
  readonly hostname: string;
  /** The address that the node listens on. */
  readonly bind: string;
  /** The port of its MX listener; undefined while there is none. */
  mxPort(): number | undefined;
}

export interface HostRules {
  isOwnName(host: string): boolean;
  isOwnAddress(address: string, port: number): boolean;
  isAllowed(address: string): boolean;
}

export function hostRules(own: OwnHost, allowPrivate: boolean): HostRules {
  const name = own.hostname.toLowerCase();
  const bind = canonicalAddress(own.bind);
  const isWildcard = bind === '0.0.0.0' || bind === '::';
  return {
    isOwnName: (host) => host === name,
    isOwnAddress(address, port) {
      if (own.mxPort() !== port) return false;
      if (address === bind || address === '0.0.0.0' || address === '::') return true;
      if (isWildcard && (address.startsWith('127.') || address === '::1')) return true;
      const interfaces = Object.values(networkInterfaces()).flatMap((entries) => entries ?? []);
      return interfaces.some((entry) => canonicalAddress(entry.address) === address);
    },
    isAllowed: (address) => allowPrivate || isPublicAddress(address),
  };
}
