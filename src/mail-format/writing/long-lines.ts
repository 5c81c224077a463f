// Finds the lines of a message that have more than 998 octets: servers may refuse them (RFC 5321 §4.5.3.1.6), and some cut them, which
// breaks signatures. The edits that remove them fold lines of headers and give bodies of parts another transfer encoding. Signed parts are
// not changed (RFC 1847 §2.1).
import { LONGEST_LINE } from '../header/header-folding.js';
import type { MessageIndex } from '../message-index.js';
import { encodingFor, type PartEdit, partRegions } from './part-edits.js';

const LF = 0x0a;

/** Finds long lines in pieces of any size; lines end in CRLF. */
export class LongLines {
  /** The offsets of the long lines' first octets, in order. */
  readonly starts: number[] = [];
  #line = 0;
  #offset = 0;

  push(octets: Uint8Array): void {
    for (let at = 0; at < octets.length; ) {
      const lineFeed = octets.indexOf(LF, at);
      if (lineFeed < 0) break;
      this.#end(this.#offset + lineFeed - 1);
      this.#line = this.#offset + lineFeed + 1;
      at = lineFeed + 1;
    }
    this.#offset += octets.length;
  }

  /** Called once, after the last octet. */
  finish(): void {
    this.#end(this.#offset);
  }

  #end(end: number): void {
    if (end - this.#line > LONGEST_LINE) this.starts.push(this.#line);
  }
}

/** Returns the edits in the order of the message; undefined when a long line is in no part that may be changed. */
export function longLineEdits(index: MessageIndex, starts: readonly number[]): readonly PartEdit[] | undefined {
  const edits = new Map<object, PartEdit>();
  const regions = partRegions(index);
  let region = regions.shift();
  for (const start of starts) {
    while (region !== undefined && region.end <= start) region = regions.shift();
    if (region === undefined || region.start > start || region.isSigned) return undefined;
    const { part, isMessage, kind } = region;
    const to = kind === 'body' ? encodingFor(part) : undefined;
    if (kind === 'body' && to === undefined) return undefined;
    const known = edits.get(part);
    edits.set(part, { ...(known ?? { part, isMessage }), ...(kind === 'body' ? { to } : { isFolded: true }) });
  }
  return [...edits.values()];
}
