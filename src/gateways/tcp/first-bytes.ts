// The first octets of a connection, read before the socket has an owner. Octets that are not used go back, so that the
// next reader finds the socket as if nothing had been read. The wait is bounded here, the octets by the caller's
// function.
import type { Socket } from 'node:net';
import { type Endpoint, parseProxyHeader } from './proxy-header.js';

export interface FirstBytes<T> {
  /** Octets taken off the connection; the others go back. */
  readonly used: number;
  readonly value: T;
}

/** The peer left, or closed its side, before there was enough. */
export class PeerLeft extends Error {
  override readonly name = 'OpeningCut';
}

/**
 * Reads until `judge` knows; it gets all octets so far and says undefined when it needs more. Undefined when `waitMs` are over;
 * nothing is taken then. Errors of the socket are the caller's to listen for. @throws OpeningCut, and what `judge` throws:
 * the socket has to be destroyed then
 */
export function firstBytes<T>(
  socket: Socket,
  waitMs: number,
  judge: (octets: Buffer) => FirstBytes<T> | undefined,
): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    if (socket.destroyed) return reject(new PeerLeft('the connection is over'));
    let octets: Buffer = Buffer.alloc(0);
    const cut = (): void => fail(new PeerLeft('the connection ended before it had begun'));
    const over = setTimeout(() => settle(octets, undefined), waitMs);
    socket.on('readable', read);
    socket.on('end', cut);
    socket.on('close', cut);
    socket.on('error', cut);

    function read(): void {
      const chunk: Buffer | null = socket.read();
      if (chunk === null) return;
      octets = octets.length === 0 ? chunk : Buffer.concat([octets, chunk]);
      try {
        const judged = judge(octets);
        if (judged !== undefined) settle(octets.subarray(judged.used), judged.value);
      } catch (error) {
        fail(error);
      }
    }

    function settle(back: Buffer, value: T | undefined): void {
      release();
      if (back.length > 0) socket.unshift(back);
      resolve(value);
    }

    function fail(error: unknown): void {
      release();
      reject(error);
    }

    function release(): void {
      clearTimeout(over);
      socket.off('readable', read);
      socket.off('end', cut);
      socket.off('close', cut);
      socket.off('error', cut);
    }
  });
}

export interface Proxied {
  /** Undefined: the peer speaks for itself. */
  readonly source: Endpoint | undefined;
}

const HIMSELF: Proxied = { source: undefined };

/**
 * Reads the header of a peer that is trusted to send one, if it does: octets that begin none are its own, and so is its
 * silence for `waitMs`. @throws OpeningCut, ProxyHeaderError
 */
export async function readProxied(socket: Socket, waitMs: number): Promise<Proxied> {
  const read = await firstBytes<Proxied>(socket, waitMs, (octets) => {
    const header = parseProxyHeader(octets);
    if (header.kind === 'more') return undefined;
    if (header.kind === 'none') return { used: 0, value: HIMSELF };
    return { used: header.length, value: { source: header.source } };
  });
  return read ?? HIMSELF;
}
