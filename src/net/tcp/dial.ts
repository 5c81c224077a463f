// Opens outgoing connections to one address within a time limit. The caller has resolved the name and checked the address.

import { connect, type Socket } from 'node:net';
import { Fault } from '../../concurrency/fault.js';

export type OutgoingSocket = Socket;

export interface DialOptions {
  readonly address: string;
  readonly port: number;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** The connection failed. `code` is that of the system, `ETIMEDOUT` also after `timeoutMs`, or `ABORT_ERR`. */
export class DialFailure extends Fault {
  constructor(code: string, { address, port }: DialOptions) {
    super(code, `no connection to ${address} port ${port}: ${code}`, { temporary: true });
  }
}

/** The caller listens for errors of the socket from then on. @throws DialFailure */
export function dial(options: DialOptions): Promise<OutgoingSocket> {
  const { address, port, timeoutMs, signal } = options;
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(new DialFailure('ABORT_ERR', options));
    const socket = connect({ host: address, port, noDelay: true });
    const fail = (code: string) => {
      settle();
      socket.on('error', () => {});
      socket.destroy();
      reject(new DialFailure(code, options));
    };
    const onError = (error: NodeJS.ErrnoException) => fail(error.code ?? 'EIO');
    const onAbort = () => fail('ABORT_ERR');
    const timer = setTimeout(() => fail('ETIMEDOUT'), timeoutMs);
    const settle = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      socket.removeListener('error', onError);
    };
    socket.once('error', onError);
    signal.addEventListener('abort', onAbort);
    socket.once('connect', () => {
      settle();
      resolve(socket);
    });
  });
}
