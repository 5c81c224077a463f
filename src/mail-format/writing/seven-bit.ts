// The edits of a message for a server that accepts no 8-bit octets (RFC 6152 §3): bodies and headers with such octets are encoded, and no
// part is labelled as 8-bit afterwards. Signed parts are not changed (RFC 1847 §2.1).
import type { MessageIndex } from '../message-index.js';
import { type EncodedAs, encodingFor, type PartEdit, type PartRegion, partRegions } from './part-edits.js';

/** Counts the octets above 127 of each region of a message, in pieces of any size. */
export class EightBitRegions {
  readonly regions: readonly PartRegion[];
  /** One count per region, in the order of the regions. */
  readonly #counts: number[];
  #region = 0;
  #offset = 0;

  constructor(index: MessageIndex) {
    this.regions = partRegions(index);
    this.#counts = this.regions.map(() => 0);
  }

  push(octets: Uint8Array): void {
    for (let at = 0; at < octets.length && this.#region < this.regions.length; ) {
      const { start, end } = this.regions[this.#region]!;
      const to = Math.min(octets.length, end - this.#offset);
      let count = 0;
      for (let i = Math.max(at, start - this.#offset); i < to; i++) if (octets[i]! > 0x7f) count++;
      this.#counts[this.#region]! += count;
      at = Math.max(at, to);
      if (to < octets.length || this.#offset + octets.length === end) this.#region++;
    }
    this.#offset += octets.length;
  }

  /** Returns the number of octets above 127 in a region. */
  countOf(region: number): number {
    return this.#counts[region]!;
  }
}

/** The reason why a message has no 7-bit form. */
export type SevenBitObstacle = 'signed' | 'fixed' | 'header' | 'unread';

/**
 * Returns the edits in the order of the message, or an obstacle. `signed`: a signed part has 8-bit octets. `fixed`: such a part may not be
 * encoded (RFC 2045 §6.4) or has an unknown encoding. `unread`: the message has more parts than the index. The code that writes the headers
 * finds `header`: one has an address or a boundary that is not ASCII.
 */
export function sevenBitEdits(index: MessageIndex, counted: EightBitRegions): readonly PartEdit[] | SevenBitObstacle {
  if (index.truncated.some((limit) => limit !== 'addresses')) return 'unread';
  const edits: PartEdit[] = [];
  for (const [at, region] of counted.regions.entries()) {
    const { kind, part, isMessage, isSigned } = region;
    const count = counted.countOf(at);
    if (isSigned && count > 0) return 'signed';
    if (isSigned) continue;
    if (kind === 'header') {
      const isLabelled = part.encoding === '8bit' || part.encoding === 'binary';
      if (count > 0 || isLabelled) {
        edits.push({ part, isMessage, ...(count > 0 && { isAscii: true }), ...(isLabelled && { to: '7bit' }) });
      }
    } else if (count > 0) {
      const to = encodingFor(part);
      if (to === undefined) return 'fixed';
      const header = edits.at(-1)?.part === part ? edits.pop() : undefined;
      edits.push({ ...(header ?? { part, isMessage }), to: shorter(to, count, region) });
    }
  }
  return edits;
}

/** An octet above 127 takes three characters in quoted-printable; base64 adds a third to all octets. */
const shorter = (to: EncodedAs, count: number, { start, end }: PartRegion): EncodedAs =>
  to === 'quoted-printable' && count * 6 > end - start ? 'base64' : to;
