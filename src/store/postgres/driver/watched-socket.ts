// The sockets of the connection pools. A socket that has been written to and hears nothing for the patience of its pool is
// destroyed, because a connection that dies silently would otherwise hold its statements until TCP gives up. A socket that waits
// for notifications owes no answer and is left alone. When the driver gets a socket, it leaves the rest to it: to connect, by TCP
// without Nagle's delay or by Unix socket, and to try the hosts of the address in turn.
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { SecuredSocket, type Security } from './secured-socket.js';

/** The address as the driver has parsed it; it reads `host` again whenever a connection fails. */
export interface SocketDestination {
  host: string[];
  readonly port: readonly number[];
  /** Path of a Unix socket. */
  readonly path: string | false;
}

export interface SocketOptions {
  /** Undefined: sockets wait without a limit. */
  readonly patienceMs: number | undefined;
  /** Settings of TLS, which are then not in the options of the driver. */
  readonly security: Security | undefined;
  /** The sockets are for the probe of the circuit breaker: they are left alone during a stall. */
  readonly isProbe: boolean;
}

/** Checks within one patience. Checks are counted instead of time, because a process that was paused has heard nothing either. */
const CHECKS = 4;
/** A connection that ended by itself after this time had found the right host. */
const SETTLED_MS = 60_000;

type WriteCallback = (error?: Error | null) => void;

/** Makes the sockets of one pool. */
export function watchedSockets({
  patienceMs,
  security,
  isProbe,
}: SocketOptions): (destination: SocketDestination) => Duplex {
  let hosts: readonly string[] | undefined;
  let next = 0;
  let failed = 0;
  return (destination) => {
    hosts ??= destination.host;
    const count = hosts.length;
    const mine = next;
    // With several hosts, the driver retries endlessly without a pause, and reports nothing when none of them answers.
    destination.host = failed + 1 < count ? [...hosts] : hosts.slice(0, 1);
    const socket = new WatchedSocket((wasSettled) => {
      failed = socket.bytesRead > 0 ? 0 : (failed + 1) % count;
      if (next === mine && !wasSettled) next = (next + 1) % count;
    });
    const host = hosts[mine]!;
    const port = destination.port[mine]!;
    const { path } = destination;
    // The driver adds its listeners only after it gets the socket; an earlier failure would end the process.
    queueMicrotask(() => socket.open(path === false ? { host, port } : { path }));
    const given = security === undefined ? socket : new SecuredSocket(socket, host, security);
    if (patienceMs !== undefined) watch(given, patienceMs, isProbe);
    // The driver's error messages show these.
    return Object.assign(given, path === false ? { host, port } : {});
  };
}

export interface Watchable extends Duplex {
  readonly bytesRead: number;
  /** Time of the last octets, by `performance.now()`. */
  readonly heardAt: number;
  /** The value of `bytesRead` at the last write; -1 before the first. */
  readonly readAtWrite: number;
}

/** All watched sockets of all pools: the cause that ends one connection silently mostly ends the others too. */
export const watched = new Set<Watchable>();
const probes = new WeakSet<Watchable>();

/**
 * Destroys silent idle sockets: each would cost a statement the patience of its pool, or miss notifications. A running statement
 * may be a long one, so its socket has only its own watch.
 */
function dropIdle(silentSince: number): void {
  for (const socket of watched) {
    const isIdle = socket.bytesRead > 0 && socket.bytesRead !== socket.readAtWrite;
    if (isIdle && socket.heardAt < silentSince) socket.destroy();
  }
}

/** Destroys all watched sockets except probes; statements that wait for an answer fail with `reason`. */
export function cutWatched(reason: string): void {
  for (const socket of watched) if (!probes.has(socket)) socket.destroy(unanswered(reason));
}

function unanswered(message: string): Error {
  return Object.assign(new Error(message), { code: 'ETIMEDOUT' });
}

function watch(socket: Watchable, patienceMs: number, isProbe: boolean): void {
  if (isProbe) probes.add(socket);
  let readAtCheck = 0;
  let silentChecks = 0;
  const check = () => {
    const read = socket.bytesRead;
    if (read !== readAtCheck || read !== socket.readAtWrite) silentChecks = 0;
    else silentChecks++;
    readAtCheck = read;
    if (silentChecks <= CHECKS) return;
    socket.destroy(unanswered(`no answer from the database within ${patienceMs} ms`));
    if (read > 0) dropIdle(performance.now() - patienceMs);
  };
  const timer = setInterval(() => {
    if (!socket.destroyed) return check();
    clearInterval(timer);
    watched.delete(socket);
  }, patienceMs / CHECKS).unref();
  watched.add(socket);
}

function closedUnheard(): Error {
  return Object.assign(new Error('the database server has closed the connection without a word'), {
    code: 'ECONNRESET',
  });
}

class WatchedSocket extends Socket {
  readAtWrite = -1;
  heardAt = 0;
  readonly #gone: (wasSettled: boolean) => void;
  readonly #openedAt = performance.now();

  constructor(gone: (wasSettled: boolean) => void) {
    super();
    this.#gone = gone;
  }

  open(to: { readonly host: string; readonly port: number } | { readonly path: string }): void {
    try {
      // The driver writes a statement in pieces; Nagle's delay would hold the last one until the others are acknowledged.
      this.setNoDelay(true);
      this.connect(to);
    } catch (error) {
      this.destroy(error as Error);
    }
  }

  override _write(chunk: unknown, encoding: BufferEncoding, callback: WriteCallback): void {
    this.readAtWrite = this.bytesRead;
    super._write(chunk, encoding, callback);
  }

  override _writev(chunks: { chunk: unknown; encoding: BufferEncoding }[], callback: WriteCallback): void {
    this.readAtWrite = this.bytesRead;
    super._writev!(chunks, callback);
  }

  override push(chunk: unknown, encoding?: BufferEncoding): boolean {
    this.heardAt = performance.now();
    return super.push(chunk, encoding);
  }

  override _destroy(error: Error | null, callback: WriteCallback): void {
    this.#gone(error === null && performance.now() - this.#openedAt > SETTLED_MS);
    // A balancer without a server accepts and closes. Without an error, the driver would connect again at once, and go on for ever.
    super._destroy(error ?? (this.bytesRead === 0 ? closedUnheard() : null), callback);
  }

  /**
   * When the driver gets an error before the `close`, it drops the statements that it received in between: a statement that is
   * retried at once would hang forever.
   */
  override emit(event: string | symbol, ...args: unknown[]): boolean {
    return event === 'close' ? super.emit(event, false) : super.emit(event, ...args);
  }
}
