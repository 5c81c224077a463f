// The bodies of a message for showing it, decoded from slices of its blob. Small ones are decoded here, which takes
// about a millisecond; the rest in worker threads with a heap and a time budget, so nothing a peer has written holds
// the event loop or the process. What does not fit the budgets comes back cut, with `partial`. Accounts take turns, and
// nothing is read for those who wait; a job whose client has gone ends.

import { FairSemaphore, type Release, SemaphoreFull } from '../bounds/fair-semaphore.js';
import { Fault } from '../errors/fault.js';
import { type Bodies, type BodyPart, composeBodies } from '../mail/decode/bodies.js';
import type { IndexedPart, MessageIndex, OctetRange } from '../mail/message-index.js';
import { DecodeThread, type ThreadLimits } from './thread.js';

export interface DecoderLimits extends ThreadLimits {
  readonly threads: number;
  /** Jobs that wait, of all accounts together and of one; more are refused with DecoderBusy. */
  readonly queue: number;
  readonly queueAnAccount: number;
  /** Raw octets of messages that are being shown, from their reading until the reply has left: of all and of one account. */
  readonly shownOctets: number;
  readonly shownOctetsAnAccount: number;
  /** Raw octets of all bodies of a message that are decoded without a thread. */
  readonly inlineOctets: number;
  /** Raw octets of all bodies of a message that are read at all. */
  readonly octets: number;
  /** Characters of both bodies together. */
  readonly characters: number;
}

const DEFAULT_LIMITS: DecoderLimits = {
  threads: 1,
  queue: 128,
  queueAnAccount: 16,
  shownOctets: 32 * 1024 * 1024,
  shownOctetsAnAccount: 16 * 1024 * 1024,
  inlineOctets: 64 * 1024,
  octets: 8 * 1024 * 1024,
  characters: 5 * 1024 * 1024,
  heapMb: 128,
  jobMs: 2000,
  module: new URL('./worker.js', import.meta.url),
};

/** Too many bodies are waiting to be decoded. */
export class DecoderBusy extends Fault<'decoder-busy'> {
  constructor() {
    super('decoder-busy', 'too many messages are waiting to be decoded', { temporary: true });
  }
}

/** Whoever asked has gone or has waited too long. */
export class DecodingAbandoned extends Fault<'decoding-abandoned'> {
  constructor() {
    super('decoding-abandoned', 'nobody waits for the decoded message any more', { temporary: true });
  }
}

/** Octets of the message, each range in a buffer of its own that is the caller's. */
export type ReadRanges = (ranges: readonly OctetRange[], signal?: AbortSignal) => Promise<readonly Uint8Array[]>;

/** For whom bodies are decoded. */
export interface Viewer {
  readonly accountId: string;
  /** Aborts when nobody waits any more. */
  readonly signal?: AbortSignal;
}

export class BodyDecoder {
  readonly #limits: DecoderLimits;
  readonly #threads: readonly DecodeThread[];
  readonly #free: DecodeThread[];
  readonly #turns: FairSemaphore;
  readonly #shown: FairSemaphore;
  readonly #closing = new AbortController();

  constructor(limits: Partial<DecoderLimits> = {}) {
    this.#limits = { ...DEFAULT_LIMITS, ...limits };
    const { threads, queue, queueAnAccount, shownOctets, shownOctetsAnAccount } = this.#limits;
    this.#threads = Array.from({ length: threads }, () => new DecodeThread(this.#limits));
    this.#free = [...this.#threads];
    const waits = { waiting: queue, waitingShare: queueAnAccount };
    this.#turns = new FairSemaphore({ total: threads, ...waits });
    this.#shown = new FairSemaphore({ total: shownOctets, share: shownOctetsAnAccount, ...waits });
  }

  /**
   * Memory for showing messages whose bodies have so many raw octets: to be given back once the reply has left. Small ones
   * need none. @throws DecoderBusy, DecodingAbandoned
   */
  async room(octets: number, viewer: Viewer): Promise<Release> {
    if (octets <= this.#limits.inlineOctets) return () => {};
    return this.#wait(this.#shown, viewer, Math.min(octets, this.#limits.octets));
  }

  /** Rejects with what `read` rejects with, and with DecoderBusy and DecodingAbandoned. */
  async bodies(index: MessageIndex, read: ReadRanges, viewer: Viewer): Promise<Bodies> {
    const chosen = bodyParts(index);
    const raw = octetsOf(chosen);
    const cut = raw > this.#limits.octets || index.truncated.some((limit) => limit !== 'addresses');
    const bodies =
      raw <= this.#limits.inlineOctets
        ? composeBodies(await this.#readParts(index, chosen, read, viewer), this.#limits.characters)
        : await this.#decodeElsewhere(index, chosen, read, viewer);
    return cut ? { ...bodies, partial: true } : bodies;
  }

  /** Ends the threads; jobs under way and waiting come back partial. */
  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all(this.#threads.map((thread) => thread.close()));
  }

  async #wait(semaphore: FairSemaphore, { accountId, signal }: Viewer, weight: number): Promise<Release> {
    try {
      return await semaphore.acquire(accountId, { weight, signal });
    } catch (error) {
      throw error instanceof SemaphoreFull ? new DecoderBusy() : new DecodingAbandoned();
    }
  }

  async #readParts(
    index: MessageIndex,
    chosen: readonly IndexedPart[],
    read: ReadRanges,
    { signal }: Viewer,
  ): Promise<BodyPart[]> {
    const text = new Set(index.textSections);
    const html = new Set(index.htmlSections);
    const parts: { readonly part: IndexedPart; readonly range: OctetRange }[] = [];
    let left = this.#limits.octets;
    for (const part of chosen) {
      const { bodyStart: start } = part;
      const end = Math.min(part.bodyEnd, start + left);
      if (end === start) continue;
      left -= end - start;
      parts.push({ part, range: { start, end } });
    }
    const ranges = parts.map(({ range }) => range);
    const bytes = ranges.length === 0 ? [] : await read(ranges, signal);
    return parts.map(({ part }, i) => ({
      subtype: part.subtype,
      encoding: part.encoding,
      params: part.params,
      inText: text.has(part.section),
      inHtml: html.has(part.section),
      bytes: bytes[i]!,
    }));
  }

  async #decodeElsewhere(
    index: MessageIndex,
    chosen: readonly IndexedPart[],
    read: ReadRanges,
    viewer: Viewer,
  ): Promise<Bodies> {
    const { signal } = viewer;
    const done = await this.#wait(this.#turns, viewer, 1);
    try {
      const parts = await this.#readParts(index, chosen, read, viewer);
      const start = this.#startOf(parts);
      if (this.#closing.signal.aborted) return this.#plainly(start);
      const bodies = await this.#run(parts, signal);
      if (signal?.aborted === true) throw new DecodingAbandoned();
      return bodies ?? this.#plainly(start);
    } finally {
      done();
    }
  }

  /** There is a free thread for everyone whose turn has come. */
  async #run(parts: readonly BodyPart[], signal: AbortSignal | undefined): Promise<Bodies | undefined> {
    const thread = this.#free.pop()!;
    try {
      return await thread.run({ parts, limit: this.#limits.characters }, signal);
    } finally {
      this.#free.push(thread);
    }
  }

  /** What is shown of bodies that cannot be decoded; copied, since the thread takes the octets. */
  #startOf(parts: readonly BodyPart[]): BodyPart[] {
    const starts: BodyPart[] = [];
    let left = this.#limits.inlineOctets;
    for (const part of parts) {
      if (left === 0) break;
      const bytes = Uint8Array.prototype.slice.call(part.bytes, 0, left);
      left -= bytes.length;
      starts.push({ ...part, params: {}, bytes });
    }
    return starts;
  }

  /** Without a character set. */
  #plainly(starts: readonly BodyPart[]): Bodies {
    return { ...composeBodies(starts, this.#limits.characters), partial: true, isUndecoded: true };
  }
}

/** Raw octets of the bodies of a message. */
export function bodyOctets(index: MessageIndex): number {
  return octetsOf(bodyParts(index));
}

function octetsOf(parts: readonly IndexedPart[]): number {
  return parts.reduce((sum, part) => sum + part.bodyEnd - part.bodyStart, 0);
}

/** The parts of either body in the order of the message. */
function bodyParts(index: MessageIndex): IndexedPart[] {
  const sections = new Set([...index.textSections, ...index.htmlSections]);
  const found: IndexedPart[] = [];
  // Embedded messages are attachments: nothing in them is of the body.
  const walk = (part: IndexedPart): void => {
    if (part.type === 'multipart') for (const child of part.parts) walk(child);
    else if (sections.has(part.section)) found.push(part);
  };
  walk(index.root);
  return found;
}
