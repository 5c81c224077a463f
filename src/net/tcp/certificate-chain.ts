// Reads a chain of certificates as a handshake will, every certificate of it.
import { createSecureContext } from 'node:tls';

/** `chain`: PEM, the leaf first. @throws Error when TLS cannot read it */
export function readChain(chain: string): void {
  if (chain.includes('\0')) throw new Error('the chain has a NUL');
  createSecureContext({ cert: chain });
}
