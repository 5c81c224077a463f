// Lines of more than 998 octets: servers may refuse them (RFC 5321 §4.5.3.1.6), and some cut them, which breaks signatures.
// This finds the long lines of a message and the parts that need another transfer encoding to have none. The decoded content
// of a part stays the same octet for octet. Signed and encrypted parts are not changed (RFC 1847 §2.1).
import { headerLines } from './header-lines.js';
import type { IndexedPart, MessageIndex } from './message-index.js';

/** RFC 5322 §2.1.1, without CRLF. */
const LONGEST_LINE = 998;
const LF = 0x0a;

/** Finds long lines in pieces of any size; lines end in CRLF. */
export class LongLines {
  /** Offsets of their first octets, in order. */
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

  /** Once, after the last octet. */
  finish(): void {
    this.#end(this.#offset);
  }

  #end(end: number): void {
    if (end - this.#line > LONGEST_LINE) this.starts.push(this.#line);
  }
}

/** A part whose body is written in another transfer encoding. Offsets as in the index. */
export interface Reencoding {
  readonly headerStart: number;
  readonly bodyStart: number;
  readonly bodyEnd: number;
  readonly from: string;
  readonly to: 'quoted-printable' | 'base64';
  /** The header of the part is the header of a message: it needs MIME-Version. */
  readonly isMessage: boolean;
}

const ENCODINGS = new Set(['7bit', '8bit', 'binary', 'quoted-printable', 'base64']);

/** In the order of the message; undefined when a long line is not in the body of a part that may be encoded. */
export function reencodings(index: MessageIndex, longLines: readonly number[]): readonly Reencoding[] | undefined {
  if (index.truncated.length > 0) return undefined;
  const found: Reencoding[] = [];
  const leaves = leavesOf(index.root, true);
  for (const start of longLines) {
    while (leaves.length > 0 && leaves[0]!.bodyEnd <= start) leaves.shift();
    const leaf = leaves[0];
    if (leaf === undefined || leaf.bodyStart > start || leaf.to === undefined) return undefined;
    if (found.at(-1)?.bodyStart !== leaf.bodyStart) found.push({ ...leaf, to: leaf.to });
  }
  return found;
}

type Leaf = Omit<Reencoding, 'to'> & { readonly to: Reencoding['to'] | undefined };

function leavesOf(part: IndexedPart, isMessage: boolean, isSealed = false): Leaf[] {
  const { type, subtype, parts, encoding } = part;
  if (parts.length > 0) {
    const seals = isSealed || (type === 'multipart' && (subtype === 'signed' || subtype === 'encrypted'));
    return parts.flatMap((child) => leavesOf(child, type === 'message', seals));
  }
  const { headerStart, bodyStart, bodyEnd } = part;
  const isOpen = !isSealed && type !== 'message' && type !== 'multipart' && ENCODINGS.has(encoding);
  const to = !isOpen ? undefined : encoding === 'base64' || type !== 'text' ? 'base64' : 'quoted-printable';
  return [{ headerStart, bodyStart, bodyEnd, from: encoding, to, isMessage }];
}

const EMPTY_LINE = '\r\n';

/** The header of a part with its new encoding; undefined when the header does not end in an empty line. */
export function reencodedHeader(header: Buffer, { to, isMessage }: Pick<Reencoding, 'to' | 'isMessage'>) {
  const text = header.toString('latin1');
  if (text !== EMPTY_LINE && !text.endsWith(`\r\n${EMPTY_LINE}`)) return undefined;
  const lines = headerLines(header);
  const kept = lines.filter(({ name }) => name !== 'content-transfer-encoding');
  const version = isMessage && !lines.some(({ name }) => name === 'mime-version') ? 'MIME-Version: 1.0\r\n' : '';
  const fields = kept.map(({ start, end }) => text.slice(start, end)).join('');
  return Buffer.from(`${fields}${version}Content-Transfer-Encoding: ${to}\r\n${EMPTY_LINE}`, 'latin1');
}
