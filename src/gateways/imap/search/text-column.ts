// A text of each message of a folder, joined: a search looks through few long strings instead of many short ones.

/** Characters after which another string begins: what is searched between two looks at the clock. */
const PIECE = 16 * 1024;
/** Of a text beside its characters, and of a piece. */
const START_OCTETS = 8;
const PIECE_OCTETS = 60;
/** A string with such a character takes two octets for each. */
const WIDE = /[^\0-\xff]/;

interface Piece {
  text: string;
  /** UIDs of the texts that are not empty, and where each begins. */
  readonly uids: number[];
  readonly starts: number[];
}

export class TextColumn {
  readonly #pieces: Piece[] = [];

  /** A text is '' or begins with a line feed and has others only before further fields. */
  add(uid: number, text: string): void {
    if (text === '') return;
    let piece = this.#pieces.at(-1);
    if (piece === undefined || piece.text.length >= PIECE) {
      piece = { text: '', uids: [], starts: [] };
      this.#pieces.push(piece);
    }
    piece.uids.push(uid);
    piece.starts.push(piece.text.length);
    piece.text += text;
  }

  get octets(): number {
    return this.#pieces.reduce((sum, { text, uids }) => {
      return sum + PIECE_OCTETS + text.length * (WIDE.test(text) ? 2 : 1) + START_OCTETS * uids.length;
    }, 0);
  }

  /** UIDs of the texts that have it, ascending. It has no line feed, or is one. Yields after each piece. */
  *matching(sought: string): Generator<void, Uint32Array> {
    const found: number[] = [];
    for (const { text, uids, starts } of this.#pieces) {
      let of = 0;
      for (let at = text.indexOf(sought); at >= 0; at = of < starts.length ? text.indexOf(sought, starts[of]) : -1) {
        while (of < starts.length && starts[of]! <= at) of++;
        found.push(uids[of - 1]!);
      }
      yield;
    }
    return Uint32Array.from(found);
  }
}
