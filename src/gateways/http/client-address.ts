// The address of the client: the peer's, or the address that a trusted proxy gives in its PROXY header (read by the proxy
// listener), then in X-Forwarded-For. X-Forwarded-For of any other peer is ignored.
import { isIP } from 'node:net';
import { canonicalAddress } from '../tcp/ip-address.js';
import type { ProxyListener } from '../tcp/proxy-listener.js';
import type { TrustedNetworks } from '../tcp/trusted-networks.js';

/** Of the server's response object. */
interface Addressed {
  getRemoteAddress(): ArrayBuffer;
  getRemoteAddressAsText(): ArrayBuffer;
  getProxiedRemoteAddress(): ArrayBuffer;
}

/** Undefined when the connection is not what it was: its peer has put another PROXY header in. */
export type ReadAddress = (response: Addressed, headers: ReadonlyMap<string, string>) => string | undefined;

export const peerAddress: ReadAddress = (response) => {
  const octets = new Uint8Array(response.getRemoteAddress());
  const mapped = octets.length === 16 && octets.every((octet, i) => i >= 12 || octet === (i < 10 ? 0 : 0xff));
  if (octets.length === 4 || mapped) return octets.subarray(-4).join('.');
  return Buffer.from(response.getRemoteAddressAsText()).toString();
};

/** Of what comes through the proxy listener. */
export function clientAddress(proxyListener: Pick<ProxyListener, 'addressOf'>, trusted: TrustedNetworks): ReadAddress {
  return (response, headers) => {
    const peer = proxyListener.addressOf(new Uint8Array(response.getProxiedRemoteAddress()));
    if (peer === undefined || !trusted.includes(peer)) return peer;
    return forwardedFor(headers.get('x-forwarded-for') ?? '', trusted) ?? peer;
  };
}

/**
 * The last address of the list that is no trusted proxy's own, for each proxy adds whom it got the request from; the first
 * when all are. Undefined when the list is empty or cannot be read as far as it counts.
 */
export function forwardedFor(list: string, trusted: TrustedNetworks): string | undefined {
  let address: string | undefined;
  for (const item of list.split(',').reverse()) {
    address = addressIn(item.trim());
    if (address === undefined || !trusted.includes(address)) break;
  }
  return address;
}

/** Some proxies add the port. */
function addressIn(item: string): string | undefined {
  const [, bracketed, plain] = /^(?:\[([^\]]+)\](?::\d{1,5})?|([\d.]+):\d{1,5})$/.exec(item) ?? [];
  const text = bracketed ?? plain ?? item;
  return isIP(text) === 0 ? undefined : canonicalAddress(text);
}
