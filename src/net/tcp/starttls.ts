// Starts TLS on a connected socket as the server: for STARTTLS, and for listeners with TLS from the first octet.
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { CertificateSource } from './certificate-source.js';

/** The peer did not complete the handshake. */
export class HandshakeFailed extends Error {
  override readonly name = 'HandshakeFailed';
}

/**
 * Octets that were read from the socket and not used must be discarded before, or they would be read as the handshake. No write may be
 * pending. @throws HandshakeFailed; the socket is destroyed then
 */
export function secure(socket: Socket, tls: CertificateSource, handshakeMs: number): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const secured = new TLSSocket(socket, tls.socketOptions);
    const fail = (cause?: unknown): void => {
      clearTimeout(late);
      secured.destroy();
      socket.destroy();
      reject(new HandshakeFailed('no TLS handshake', { cause }));
    };
    const late = setTimeout(fail, handshakeMs);
    const cut = () => fail();
    // The new owner handles later errors.
    secured.on('error', fail);
    secured.once('_tlsError', fail);
    secured.once('close', cut);
    secured.once('secure', () => {
      clearTimeout(late);
      secured.off('close', cut);
      secured.off('_tlsError', fail);
      secured.on('error', ignore);
      secured.off('error', fail);
      resolve(secured);
    });
  });
}

function ignore(): void {}
