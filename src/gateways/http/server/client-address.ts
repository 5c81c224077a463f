// The address of the client: the peer's, or the address that a trusted proxy gives in its PROXY header (read by the proxy
// listener), then in X-Forwarded-For. The scheme: that of the socket, or what a trusted proxy says in X-Forwarded-Proto. These fields of any
// other peer are ignored.
import { isIP } from 'node:net';
import { canonicalAddress } from '../../../net/tcp/ip-address.js';
import type { ProxyListener } from '../../../net/tcp/proxy-listener.js';
import type { TrustedNetworks } from '../../../net/tcp/trusted-networks.js';

/** The part of the server's response object that tells addresses. */
interface Addressed {
  getRemoteAddress(): ArrayBuffer;
  getRemoteAddressAsText(): ArrayBuffer;
  getProxiedRemoteAddress(): ArrayBuffer;
}

/** Returns undefined when the address cannot be trusted any more: the peer has sent another PROXY header on the connection. */
export type ReadAddress = (response: Addressed, headers: ReadonlyMap<string, string>) => string | undefined;

export const peerAddress: ReadAddress = (response) => {
  const octets = new Uint8Array(response.getRemoteAddress());
  const mapped = octets.length === 16 && octets.every((octet, i) => i >= 12 || octet === (i < 10 ? 0 : 0xff));
  if (octets.length === 4 || mapped) return octets.subarray(-4).join('.');
  return Buffer.from(response.getRemoteAddressAsText()).toString();
};

/** Reads the address of a client that connects through the proxy listener. */
export function clientAddress(
  proxyListeners: readonly Pick<ProxyListener, 'addressOf'>[],
  trusted: TrustedNetworks,
): ReadAddress {
  return (response, headers) => {
    const token = new Uint8Array(response.getProxiedRemoteAddress());
    let peer: string | undefined;
    for (const listener of proxyListeners) peer ??= listener.addressOf(token);
    // A client of the server's own port; the address is empty on the Unix socket, which no client reaches without a token.
    if (peer === undefined) return peerAddress(response, headers) || undefined;
    if (!trusted.includes(peer)) return peer;
    return forwardedFor(headers.get('x-forwarded-for') ?? '', trusted) ?? peer;
  };
}

/** Whether the request came to a listener with TLS, or a trusted proxy says that the client came over https. */
export type ReadSecurity = (response: Addressed, headers: ReadonlyMap<string, string>) => boolean;

/** `secured`: the listener with TLS, one of the listeners. */
export function clientSecurity(
  proxyListeners: readonly Pick<ProxyListener, 'addressOf'>[],
  secured: Pick<ProxyListener, 'addressOf'> | undefined,
  trusted: TrustedNetworks,
): ReadSecurity {
  return (response, headers) => {
    const token = new Uint8Array(response.getProxiedRemoteAddress());
    const isSecured = secured?.addressOf(token) !== undefined;
    let peer: string | undefined;
    for (const listener of proxyListeners) peer ??= listener.addressOf(token);
    const forwarded = headers.get('x-forwarded-proto');
    if (peer === undefined || forwarded === undefined || !trusted.includes(peer)) return isSecured;
    // The first item is of the proxy that the client reached. Some proxies name the scheme of a WebSocket.
    return /^(?:https|wss)$/i.test(forwarded.split(',')[0]!.trim());
  };
}

/**
 * Returns the last address of the list that is not a trusted proxy's, because each proxy appends the peer of its request; the first address
 * when all are trusted. Undefined when the list is empty or an item that counts is unreadable.
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
