// The bodies of a message for showing it, decoded from slices of its blob. Small ones are decoded here, which takes
// about a millisecond; the rest in worker threads with a heap and a time budget, so nothing a peer has written holds
// the event loop or the process. What does not fit the budgets comes back cut, with `partial`.
import { type Bodies, type BodyPart, composeBodies } from '../../mail/decode/bodies.js';
import type { IndexedPart, MessageIndex } from '../../mail/message-index.js';
import { DecodeThread, type ThreadLimits } from './thread.js';

export interface DecoderLimits extends ThreadLimits {
  readonly threads: number;
  /** Jobs waiting for a thread; more are refused with DecoderBusy. */
  readonly queue: number;
  /** Raw octets of all bodies of a message that are decoded without a thread. */
  readonly inlineOctets: number;
  /** Raw octets of all bodies of a message that are read at all. */
  readonly octets: number;
  /** Characters of both bodies together. */
  readonly characters: number;
}

const DEFAULT_LIMITS: DecoderLimits = {
  threads: 1,
  queue: 64,
  inlineOctets: 64 * 1024,
  octets: 8 * 1024 * 1024,
  characters: 5 * 1024 * 1024,
  heapMb: 192,
  jobMs: 2000,
  module: new URL('./worker.js', import.meta.url),
};

/** Too many bodies are waiting to be decoded: the same call may succeed soon. */
export class DecoderBusy extends Error {
  readonly code = 'decoder-busy';
  readonly temporary = true;

  constructor() {
    super('too many messages are waiting to be decoded');
    this.name = 'DecoderBusy';
  }
}

/** Octets [start, end) of the message. */
export type ReadSlice = (start: number, end: number) => Promise<Uint8Array>;

export class BodyDecoder {
  readonly #limits: DecoderLimits;
  readonly #threads: readonly DecodeThread[];
  readonly #free: DecodeThread[];
  readonly #waiting: ((thread: DecodeThread | undefined) => void)[] = [];
  #closed = false;

  constructor(limits: Partial<DecoderLimits> = {}) {
    this.#limits = { ...DEFAULT_LIMITS, ...limits };
    this.#threads = Array.from({ length: this.#limits.threads }, () => new DecodeThread(this.#limits));
    this.#free = [...this.#threads];
  }

  /** Rejects with what `read` rejects with, and with DecoderBusy. */
  async bodies(index: MessageIndex, read: ReadSlice): Promise<Bodies> {
    const chosen = bodyParts(index);
    const raw = chosen.reduce((sum, part) => sum + part.bodyEnd - part.bodyStart, 0);
    const inline = raw <= this.#limits.inlineOctets;
    // Refused before megabytes are read for it.
    if (!inline) this.#refuseWhenFull();
    const parts = await this.#readParts(index, chosen, read);
    const cut = raw > this.#limits.octets || index.truncated.some((limit) => limit !== 'addresses');
    const bodies = inline ? composeBodies(parts, this.#limits.characters) : await this.#decodeElsewhere(parts);
    return cut ? { ...bodies, partial: true } : bodies;
  }

  /** Ends the threads; jobs under way and waiting come back partial. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const resume of this.#waiting.splice(0)) resume(undefined);
    await Promise.all(this.#threads.map((thread) => thread.close()));
  }

  #refuseWhenFull(): void {
    if (this.#free.length === 0 && this.#waiting.length >= this.#limits.queue) throw new DecoderBusy();
  }

  async #readParts(index: MessageIndex, chosen: readonly IndexedPart[], read: ReadSlice): Promise<BodyPart[]> {
    const parts: BodyPart[] = [];
    const text = new Set(index.textSections);
    const html = new Set(index.htmlSections);
    let left = this.#limits.octets;
    for (const part of chosen) {
      const end = Math.min(part.bodyEnd, part.bodyStart + left);
      if (end === part.bodyStart) continue;
      left -= end - part.bodyStart;
      parts.push({
        subtype: part.subtype,
        encoding: part.encoding,
        params: part.params,
        inText: text.has(part.section),
        inHtml: html.has(part.section),
        bytes: exact(await read(part.bodyStart, end)),
      });
    }
    return parts;
  }

  async #decodeElsewhere(parts: readonly BodyPart[]): Promise<Bodies> {
    const thread = await this.#acquire();
    if (thread === undefined) return this.#start(parts);
    const bodies = await thread.run({ parts, limit: this.#limits.characters });
    this.#release(thread);
    return bodies ?? this.#start(parts);
  }

  /** A thread of one's own, in order of arrival; undefined once closed. */
  #acquire(): Promise<DecodeThread | undefined> | DecodeThread | undefined {
    if (this.#closed) return undefined;
    this.#refuseWhenFull();
    return this.#free.pop() ?? new Promise((resolve) => this.#waiting.push(resolve));
  }

  #release(thread: DecodeThread): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free.push(thread);
    else next(thread);
  }

  /** What can be shown of bodies that could not be decoded: their start, read in the plainest way. */
  #start(parts: readonly BodyPart[]): Bodies {
    const starts: BodyPart[] = [];
    let left = this.#limits.inlineOctets;
    for (const part of parts) {
      if (left === 0) break;
      const bytes = part.bytes.subarray(0, left);
      left -= bytes.length;
      starts.push({ ...part, params: {}, bytes });
    }
    return { ...composeBodies(starts, this.#limits.characters), partial: true };
  }
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

/** A view of a larger buffer would be sent to a thread with the whole of it. */
function exact(bytes: Uint8Array): Uint8Array {
  return bytes.byteLength === bytes.buffer.byteLength ? bytes : Uint8Array.prototype.slice.call(bytes);
}
