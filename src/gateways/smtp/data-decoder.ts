// The octets after DATA (RFC 5321 §4.5.2): removes the dots of transparency, finds the end of the message, and reports
// lines that do not end in CRLF. It is pure: it has no stream and no socket. smtp-server's own decoder ends DATA at the right place,
// but does not report bare CR and LF, keeps the dot of an unstuffed `.x` line, and yields to the event loop at every
// stuffed line. So data-parser uses this one.
//
// Only CR LF . CR LF ends the message, and only CR LF begins a line. A relay before us may take other octets for a
// line end; this decoder does not, so no second message can appear (SMTP smuggling).

const CR = 13;
const LF = 10;
const DOT = 46;

// Masks over the four octets of a word.
const HIGH_BITS = 0xf0f0f0f0 | 0;
const ONES = 0x10101010;
const TOP_BITS = 0x80808080 | 0;

// States: after CRLF or before the first octet; a dot at the start of a line is held back; that dot and a CR are held back; within
// a line; within a line after a CR that was passed on.
const LINE_START = 0;
const PENDING_DOT = 1;
const PENDING_DOT_CR = 2;
const TEXT = 3;
const AFTER_CR = 4;

export class DataDecoder {
  /** Whether a CR without LF or an LF without CR was seen; the decoded content must not be kept then. */
  malformed = false;
  /** The number of octets at the start of the decoded chunk that are content. */
  contentLength = 0;
  #state = LINE_START;

  /**
   * Decodes a chunk in place: content moves to the start of the chunk (see `contentLength`); octets after the end of the message
   * stay in place. Returns the index after the final CRLF.CRLF, or -1 when the message goes on.
   */
  decode(chunk: Buffer): number {
    const length = chunk.length;
    const start = chunk.byteOffset;
    const words = new Int32Array(chunk.buffer, 0, (start + length) >> 2);
    let state = this.#state;
    let malformed = this.malformed;
    /** `to` is where content is written; `from` is where the pending run begins. */
    let to = 0;
    let from = 0;
    let i = 0;
    while (i < length) {
      let octet = chunk[i]!;
      if (state === TEXT) {
        while (octet !== CR && octet !== LF && ++i < length) {
          if (((start + i) & 3) === 0) {
            // Skips whole words that have no octet below 16.
            let word = (start + i) >> 2;
            while (word < words.length && !hasZero(words[word]! & HIGH_BITS)) word++;
            i = word * 4 - start;
            if (i === length) break;
          }
          octet = chunk[i]!;
        }
        if (i === length) break;
        if (octet === CR) state = AFTER_CR;
        else malformed = true;
      } else if (state === AFTER_CR) {
        if (octet === LF) state = LINE_START;
        else {
          malformed = true;
          if (octet !== CR) state = TEXT;
        }
      } else if (state === LINE_START) {
        if (octet === DOT) {
          state = PENDING_DOT;
          to = move(chunk, to, from, i);
          from = i + 1;
        } else if (octet === CR) state = AFTER_CR;
        else {
          if (octet === LF) malformed = true;
          state = TEXT;
        }
      } else if (state === PENDING_DOT) {
        if (octet === CR) {
          state = PENDING_DOT_CR;
          from = i + 1;
        } else {
          if (octet === LF) malformed = true;
          state = TEXT;
        }
      } else {
        if (octet === LF) {
          this.#state = LINE_START;
          this.malformed = malformed;
          this.contentLength = to;
          return i + 1;
        }
        // The CR that was held back is lost, so nothing of a malformed message may be kept.
        malformed = true;
        state = octet === CR ? AFTER_CR : TEXT;
      }
      i++;
    }
    this.contentLength = move(chunk, to, from, length);
    this.#state = state;
    this.malformed = malformed;
    return -1;
  }
}

/** Tells whether one of the four octets is zero (Warren, Hacker's Delight, 6-1). */
function hasZero(word: number): boolean {
  return ((word - ONES) & ~word & TOP_BITS) !== 0;
}

/** Moves [from, end) down to `to` and returns its new end. */
function move(chunk: Buffer, to: number, from: number, end: number): number {
  if (to !== from && from < end) chunk.copyWithin(to, from, end);
  return to + (end - from);
}
