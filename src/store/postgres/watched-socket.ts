// The sockets of the connection pools. One that has been written to and hears nothing for the patience of its pool is
// destroyed, because a connection that dies silently would otherwise hold its statements until TCP gives up. One that waits
// for notifications owes no answer and is left alone. Given a socket, the driver leaves to it what is done here besides:
// connecting, by TCP without Nagle's delay or by Unix socket, and trying the hosts of the address in turn.
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { SecuredSocket, type Security } from './secured-socket.js';

/** What the driver made of the address; it reads `host` again whenever a connection fails. */
export interface SocketDestination {
  host: string[];
  readonly port: readonly number[];
  /** Of a Unix socket. */
  readonly path: string | false;
}

export interface SocketOptions {
  /** Without it they wait for ever. */
  readonly patienceMs: number | undefined;
  /** For TLS, which is then not in the options of the driver. */
  readonly security: Security | undefined;
  /** For the question whether the database answers: left alone during a stall. */
  readonly isProbe: boolean;
}

/** Checks within one patience. They are counted, not the time: a process that was paused has heard nothing either. */
const CHECKS = 4;
/** A connection that ended by itself at this age had found the right host. */
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
    // Shown several hosts, the driver tries on and on without a pause, and reports nothing when none of them answers.
    destination.host = failed + 1 < count ? [...hosts] : hosts.slice(0, 1);
    const socket = new WatchedSocket((wasSettled) => {
      failed = socket.bytesRead > 0 ? 0 : (failed + 1) % count;
      if (next === mine && !wasSettled) next = (next + 1) % count;
    });
    const host = hosts[mine]!;
    const port = destination.port[mine]!;
    const { path } = destination;
    // The driver listens to the socket only once it has it; failing before would end the process.
    queueMicrotask(() => socket.open(path === false ? { host, port } : { path }));
    const given = security === undefined ? socket : new SecuredSocket(socket, host, security);
    if (patienceMs !== undefined) watch(given, patienceMs, isProbe);
    // For the driver's errors.
    return Object.assign(given, path === false ? { host, port } : {});
  };
}

export interface Watchable extends Duplex {
  readonly bytesRead: number;
  /** By `performance.now()`. */
  readonly heardAt: number;
  /** What `bytesRead` was when something was written last; -1 before. */
  readonly readAtWrite: number;
}

/** All that are watched, of all pools: most of what ends one connection silently ends the others with it. */
export const watched = new Set<Watchable>();
const probes = new WeakSet<Watchable>();

/**
 * Each that is idle would cost a statement the patience of its pool, and one that listens would miss what it waits for. A
 * statement under way may be a long one, so its connection is left to its own watch.
 */
function dropIdle(silentSince: number): void {
  for (const socket of watched) {
    const isIdle = socket.bytesRead > 0 && socket.bytesRead !== socket.readAtWrite;
    if (isIdle && socket.heardAt < silentSince) socket.destroy();
  }
}

/** Whatever waits for an answer on them fails. */
export function cutWatched(): void {
  for (const socket of watched) if (!probes.has(socket)) socket.destroy(unanswered('the database does not answer'));
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
      // The driver writes a statement in pieces; the last one would wait for the acknowledgement of those before.
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
    super._destroy(error, callback);
  }

  /**
   * When the driver gets an error before the end, it drops at the end the statements that it got in between: a statement that
   * is tried again at once would hang for ever.
   */
  override emit(event: string | symbol, ...args: unknown[]): boolean {
    return event === 'close' ? super.emit(event, false) : super.emit(event, ...args);
  }
}
