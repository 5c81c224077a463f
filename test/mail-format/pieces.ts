// Cuts messages into pieces, for code that must not depend on the cuts.

/** Cuts at these offsets (modulo the length, in any order). */
export function piecesOf(raw: Buffer, cuts: readonly number[]): Buffer[] {
  const offsets = [...new Set(cuts.map((cut) => cut % (raw.length + 1)))].sort((a, b) => a - b);
  const pieces: Buffer[] = [];
  let start = 0;
  for (const offset of [...offsets, raw.length]) {
    // Each piece is a copy, so that a read beyond it would show.
    pieces.push(Buffer.from(raw.subarray(start, offset)));
    start = offset;
  }
  return pieces;
}

export async function* inPieces(pieces: readonly Uint8Array[]): AsyncIterable<Uint8Array> {
  for (const piece of pieces) yield await Promise.resolve(piece);
}
