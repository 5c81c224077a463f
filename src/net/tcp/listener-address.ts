// The address of a listener in the form of the ready line and log lines.
import type { Server } from 'node:net';

/** `ip:port` of a listening server; IPv6 in brackets. */
export function listenerAddress(server: Server): string {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('not a TCP listener');
  return address.family === 'IPv6' ? `[${address.address}]:${address.port}` : `${address.address}:${address.port}`;
}
