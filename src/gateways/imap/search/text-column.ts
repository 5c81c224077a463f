// One text per message of a folder, joined: a search scans few long strings instead of many short ones.

/** Characters after which another string begins, which bounds the work between two checks of the clock. */
const PIECE = 16 * 1024;
/** Memory of a text without its characters, and of a piece. */
const START_OCTETS = 8;
const PIECE_OCTETS = 60;
/** A string with such a character takes two bytes per character. */
const WIDE = /[^\0-\xff]/;

interface Piece {
  text: string;
  /** The UIDs of the non-empty texts, and where each text begins. */
  readonly uids: number[];
  readonly starts: number[];
}

export class TextColumn {
  readonly #pieces: Piece[] = [];

  /** A text is '' or begins with a line feed, and has further line feeds only before further fields. */
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

  /** Returns the ascending UIDs of the texts that contain `sought`, which has no line feed or is one. Yields after each piece. */
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
