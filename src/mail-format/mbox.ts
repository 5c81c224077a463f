// The mboxrd form of a mailbox file (RFC 4155, in the variant that quotes reversibly): a `From ` line, the message with line ends of one
// line feed and with one more `>` before each line that starts with any number of `>` and `From `, and an empty line.

const CR = 0x0d;
const LF = 0x0a;
const GT = 0x3e;
const FROM = Buffer.from('From ');
const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** Returns `From sender Thu Jan  1 00:00:00 1970`, in UTC. `receivedAt` is in ms since the epoch. */
export function fromLine(sender: string, receivedAt: number): string {
  const date = new Date(receivedAt);
  const two = (value: number) => String(value).padStart(2, '0');
  const time = `${two(date.getUTCHours())}:${two(date.getUTCMinutes())}:${two(date.getUTCSeconds())}`;
  const day = String(date.getUTCDate()).padStart(2);
  const address = sender.replace(/[^\x21-\x7e\u{a1}-\u{10ffff}]/gu, '') || 'MAILER-DAEMON';
  const year = String(date.getUTCFullYear()).padStart(4, '0');
  return `From ${address} ${DAYS[date.getUTCDay()]} ${MONTHS[date.getUTCMonth()]} ${day} ${time} ${year}\n`;
}

/** Quotes one message piece by piece; it holds back only the start of `From ` and a carriage return. */
export class MboxQuoter {
  /** True while the line has only `>` and the first `#matched` octets of `From `. */
  #isLineStart = true;
  #matched = 0;
  #hasCr = false;
  #last = LF;

  push(piece: Uint8Array): Buffer {
    // A quote adds one octet to at least five; the octets that were held back are added to this.
    const out = Buffer.allocUnsafe(Math.ceil(piece.length * 1.25) + FROM.length + 2);
    let at = 0;
    for (let i = 0; i < piece.length; ) {
      const octet = piece[i]!;
      if (this.#hasCr) {
        this.#hasCr = false;
        if (octet !== LF) out[at++] = CR;
      }
      if (this.#isLineStart) {
        if (octet === GT && this.#matched === 0) {
          out[at++] = GT;
          i++;
          continue;
        }
        const isMore = octet === FROM[this.#matched];
        if (isMore) {
          i++;
          if (++this.#matched < FROM.length) continue;
          out[at++] = GT;
        }
        at += FROM.copy(out, at, 0, this.#matched);
        this.#matched = 0;
        this.#isLineStart = false;
        if (isMore) continue;
      }
      // The rest of the line is copied at once.
      const feed = piece.indexOf(LF, i);
      const end = feed < 0 ? piece.length : feed;
      const hasCr = end > i && piece[end - 1] === CR;
      const stop = hasCr ? end - 1 : end;
      out.set(piece.subarray(i, stop), at);
      at += stop - i;
      if (feed < 0) {
        this.#hasCr = hasCr;
        i = piece.length;
      } else {
        out[at++] = LF;
        i = feed + 1;
        this.#isLineStart = true;
      }
    }
    if (at > 0) this.#last = out[at - 1]!;
    return out.subarray(0, at);
  }

  /** Returns the end of the message: the octets held back, a line end if it lacks one, and the empty line. */
  end(): Buffer {
    const rest = FROM.toString('latin1', 0, this.#matched) + (this.#hasCr ? '\r' : '');
    return Buffer.from(`${rest}${rest === '' && this.#last === LF ? '' : '\n'}\n`, 'latin1');
  }
}
