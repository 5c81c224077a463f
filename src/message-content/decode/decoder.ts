// Decodes the bodies of a message from slices of its blob, to show and search them. Worker threads with a limited heap and time
// run mailparser, so no message blocks the event loop or ends the process. Short messages have their own thread and never wait
// for long ones. When a job exceeds its budget, our own decoders repeat it: for a short message in the caller's thread, for a
// long one in a new worker. If that fails too, the result is the start of the bodies, marked `partial`. Bodies that need no
// decoding need no thread. Accounts take turns, and a job ends when its client has gone.

import { FairSemaphore, SemaphoreFull } from '../../concurrency/fair-semaphore.js';
import { Fault } from '../../concurrency/fault.js';
import type { Reservation } from '../../concurrency/keyed-limiter.js';
import { type Bodies, type BodyPart, composeBodies } from '../../mail-format/decode/bodies.js';
import type { MessageIndex } from '../../mail-format/message-index.js';
import type { TextSource } from '../../mail-format/parts.js';
import { areVerbatim, bodyParts, octetsOf, type ReadRanges, readParts } from './body-parts.js';
import { type PoolLimits, ThreadPool } from './thread-pool.js';

export { bodyOctets, type ReadRanges } from './body-parts.js';

/** `threads`, `queue` and `queueAnAccount` apply to short and to long messages separately. */
export interface DecoderLimits extends PoolLimits {
  /** Raw octets of messages that are being shown, from reading them until the reply is sent: of all accounts and per account. */
  readonly shownOctets: number;
  readonly shownOctetsAnAccount: number;
  /** A message is short when all its bodies together have at most this many raw octets. */
  readonly shortOctets: number;
  /** At most this many raw octets of the bodies of a message are read. */
  readonly octets: number;
  /** Characters of both bodies together. */
  readonly characters: number;
  /** Time in the thread: for a short message, and for each of the two attempts at a long one. */
  readonly shortJobMs: number;
  readonly jobMs: number;
}

const DEFAULT_LIMITS: DecoderLimits = {
  threads: 1,
  queue: 128,
  queueAnAccount: 16,
  shownOctets: 32 * 1024 * 1024,
  shownOctetsAnAccount: 16 * 1024 * 1024,
  shortOctets: 64 * 1024,
  octets: 8 * 1024 * 1024,
  characters: 5 * 1024 * 1024,
  heapMb: 128,
  startMs: 10_000,
  shortJobMs: 500,
  jobMs: 1000,
  module: new URL('./worker.js', import.meta.url),
};

/** Too many bodies are waiting to be decoded. */
export class DecoderBusy extends Fault<'decoder-busy'> {
  constructor() {
    super('decoder-busy', 'too many messages are waiting to be decoded', { temporary: true });
  }
}

/** The client has gone or has waited too long. */
export class DecodingAbandoned extends Fault<'decoding-abandoned'> {
  constructor() {
    super('decoding-abandoned', 'nobody waits for the decoded message any more', { temporary: true });
  }
}

/** The account and client for which bodies are decoded. */
export interface Viewer {
  readonly accountId: string;
  /** Aborts when nobody waits for the result any more. */
  readonly signal?: AbortSignal;
  /** Our own decoders decode a short message in the caller's thread, because a delivery waits for its text. */
  readonly atOnce?: boolean;
}

interface Job {
  readonly index: MessageIndex;
  readonly chosen: readonly TextSource[];
  readonly read: ReadRanges;
  readonly viewer: Viewer;
}

export class BodyDecoder {
  readonly #limits: DecoderLimits;
  readonly #short: ThreadPool;
  readonly #long: ThreadPool;
  readonly #shown: FairSemaphore;
  #isClosed = false;

  constructor(limits: Partial<DecoderLimits> = {}) {
    this.#limits = { ...DEFAULT_LIMITS, ...limits };
    const { queue, queueAnAccount, shownOctets, shownOctetsAnAccount } = this.#limits;
    this.#short = new ThreadPool(this.#limits);
    this.#long = new ThreadPool(this.#limits);
    const waits = { waiting: queue, waitingShare: queueAnAccount };
    this.#shown = new FairSemaphore({ total: shownOctets, share: shownOctetsAnAccount, ...waits });
  }

  /**
   * Reserves memory to show messages whose bodies have this many raw octets; the caller releases it once the reply is sent. Short
   * messages need none. @throws DecoderBusy, DecodingAbandoned
   */
  async room(octets: number, { accountId, signal }: Viewer): Promise<() => void> {
    if (octets <= this.#limits.shortOctets) return () => {};
    const weight = Math.min(octets, this.#limits.octets);
    const memory = await this.#shown.acquire(accountId, { weight, signal }).catch(refused);
    return () => memory.release();
  }

  /** Rejects with the error of `read`, and with DecoderBusy and DecodingAbandoned. */
  async bodies(index: MessageIndex, read: ReadRanges, viewer: Viewer): Promise<Bodies> {
    const chosen = bodyParts(index);
    const raw = octetsOf(chosen);
    const cut = raw > this.#limits.octets || index.truncated.some((limit) => limit !== 'addresses');
    const job = { index, chosen, read, viewer };
    const bodies = raw <= this.#limits.shortOctets ? await this.#decodeShort(job) : await this.#decodeLong(job);
    return cut ? { ...bodies, partial: true } : bodies;
  }

  /** Ends the threads; running and waiting jobs of long messages return partial bodies. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([this.#short.close(), this.#long.close()]);
  }

  async #decodeShort(job: Job): Promise<Bodies> {
    if (job.viewer.atOnce === true || areVerbatim(job.index, job.chosen)) return this.#decodeHere(job);
    const { accountId, signal } = job.viewer;
    let permit: Reservation;
    try {
      permit = await this.#short.acquire(accountId, signal);
    } catch (error) {
      // A short message is never refused: our own decoders take about a millisecond for it.
      if (error instanceof SemaphoreFull) return this.#decodeHere(job);
      throw new DecodingAbandoned();
    }
    try {
      const parts = await this.#read(job);
      const options = { ms: this.#limits.shortJobMs, movesOctets: false };
      const bodies = await this.#run(this.#short, parts, true, options, signal);
      return bodies ?? composeBodies(parts, this.#limits.characters);
    } finally {
      permit.release();
    }
  }

  /** Decodes with our own decoders in the caller's thread. */
  async #decodeHere(job: Job): Promise<Bodies> {
    return composeBodies(await this.#read(job), this.#limits.characters);
  }

  async #decodeLong(job: Job): Promise<Bodies> {
    const { accountId, signal } = job.viewer;
    const permit = await this.#long.acquire(accountId, signal).catch(refused);
    const options = { ms: this.#limits.jobMs, movesOctets: true };
    const decode = async (withMailparser: boolean) =>
      this.#run(this.#long, await this.#read(job), withMailparser, options, signal);
    try {
      return (await decode(true)) ?? (await decode(false)) ?? (await this.#start(job));
    } finally {
      permit.release();
    }
  }

  /** Returns undefined when the job exceeds its budget and when the decoder is closed. */
  async #run(
    pool: ThreadPool,
    parts: readonly BodyPart[],
    withMailparser: boolean,
    options: { readonly ms: number; readonly movesOctets: boolean },
    signal: AbortSignal | undefined,
  ): Promise<Bodies | undefined> {
    if (this.#isClosed) return undefined;
    const bodies = await pool.run({ parts, limit: this.#limits.characters, withMailparser }, { ...options, signal });
    if (signal?.aborted === true) throw new DecodingAbandoned();
    return bodies;
  }

  /** Decodes only the start of bodies that cannot be decoded, and ignores their charsets. */
  async #start(job: Job): Promise<Bodies> {
    const parts = (await this.#read(job, this.#limits.shortOctets)).map((part) => ({ ...part, params: {} }));
    return { ...composeBodies(parts, this.#limits.characters), partial: true, isUndecoded: true };
  }

  #read({ index, chosen, read, viewer }: Job, octets = this.#limits.octets): Promise<BodyPart[]> {
    return readParts(index, chosen, octets, read, viewer.signal);
  }
}

function refused(error: unknown): never {
  throw error instanceof SemaphoreFull ? new DecoderBusy() : new DecodingAbandoned();
}
