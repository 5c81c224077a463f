// Reads the first octets of a connection before the socket has an owner. Unused octets are put back, so that the next reader finds the
// socket as if nothing had been read. This file limits the wait; the caller's function limits the octets.
import type { Socket } from 'node:net';
import { type Endpoint, parseProxyHeader } from './proxy-header.js';

export interface FirstBytes<T> {
  /** The number of octets taken off the connection; the others are put back. */
  readonly used: number;
  readonly value: T;
}

/** The peer left, or closed its side, before there were enough octets. */
export class PeerLeft extends Error {
  override readonly name = 'PeerLeft';
}

/**
 * Reads until `judge` decides: it gets all octets so far and returns undefined when it needs more. Resolves to undefined after `waitMs`;
 * then nothing is taken. The caller listens for errors of the socket. @throws PeerLeft, and what `judge` throws; the caller must destroy
 * the socket then
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
  /** Undefined: the peer itself is the client. */
  readonly source: Endpoint | undefined;
}

const HIMSELF: Proxied = { source: undefined };

/**
 * Reads the PROXY header of a trusted peer, if it sends one. The peer itself is the client when its octets begin no header, or when it is
 * silent for `waitMs`. @throws PeerLeft, ProxyHeaderError
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
