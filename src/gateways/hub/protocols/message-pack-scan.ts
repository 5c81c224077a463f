// Scans MessagePack before it is decoded: depth and number of values must stay within bounds, and all lengths within the given octets. A
// decoder creates arrays with the lengths that the sender announces, so a few octets could use up all memory.
// https://github.com/msgpack/msgpack/blob/master/spec.md

interface Bounds {
  /** Nesting of arrays and maps. */
  readonly depth: number;
  /** Elements of arrays, and names and members of maps, in total. */
  readonly values: number;
}

/** No message of any protocol here comes near these limits. */
const BOUNDS: Bounds = { depth: 32, values: 5_000 };

/**
 * The number of octets after the first one, for first octets of values without a length. For other first octets a length follows, or they
 * are invalid.
 */
const FIXED: ReadonlyMap<number, number> = new Map([
  [0xc0, 0],
  [0xc2, 0],
  [0xc3, 0],
  [0xca, 4],
  [0xcb, 8],
  [0xcc, 1],
  [0xcd, 2],
  [0xce, 4],
  [0xcf, 8],
  [0xd0, 1],
  [0xd1, 2],
  [0xd2, 4],
  [0xd3, 8],
  // Extensions have a type before their 1, 2, 4, 8 or 16 octets.
  [0xd4, 2],
  [0xd5, 3],
  [0xd6, 5],
  [0xd7, 9],
  [0xd8, 17],
]);

/** What a length counts, the number of its octets, and the number of octets between it and what it counts. */
const COUNTED: ReadonlyMap<number, readonly [counts: 'octets' | 'elements' | 'members', size: number, extra: number]> =
  new Map([
    [0xc4, ['octets', 1, 0]],
    [0xc5, ['octets', 2, 0]],
    [0xc6, ['octets', 4, 0]],
    [0xc7, ['octets', 1, 1]],
    [0xc8, ['octets', 2, 1]],
    [0xc9, ['octets', 4, 1]],
    [0xd9, ['octets', 1, 0]],
    [0xda, ['octets', 2, 0]],
    [0xdb, ['octets', 4, 0]],
    [0xdc, ['elements', 2, 0]],
    [0xdd, ['elements', 4, 0]],
    [0xde, ['members', 2, 0]],
    [0xdf, ['members', 4, 0]],
  ]);

/** Describes what is wrong with the octets; undefined when they are one value within the bounds. */
export function messagePackExcess(octets: Uint8Array, bounds = BOUNDS): string | undefined {
  const view = new DataView(octets.buffer, octets.byteOffset, octets.byteLength);
  /** The number of values that each open array and map still has; the first entry is the value itself. */
  const open = [1];
  let values = 0;
  let at = 0;
  while (open.length > 0) {
    const left = open.pop()!;
    if (left === 0) continue;
    open.push(left - 1);
    if (at >= octets.length) return 'ends too early';
    const head = octets[at]!;
    at++;
    let inner = 0;
    if (head <= 0x7f || head >= 0xe0) continue;
    if (head <= 0x8f) inner = (head & 0x0f) * 2;
    else if (head <= 0x9f) inner = head & 0x0f;
    else if (head <= 0xbf) at += head & 0x1f;
    else {
      const fixed = FIXED.get(head);
      const counted = COUNTED.get(head);
      if (fixed !== undefined) at += fixed;
      else if (counted === undefined) return 'is not MessagePack';
      else {
        const [counts, size, extra] = counted;
        if (at + size > octets.length) return 'ends too early';
        const length = size === 1 ? view.getUint8(at) : size === 2 ? view.getUint16(at) : view.getUint32(at);
        at += size + extra;
        if (counts === 'octets') at += length;
        else inner = counts === 'elements' ? length : length * 2;
      }
    }
    if (inner === 0) continue;
    values += inner;
    if (values > bounds.values) return 'has too many values';
    if (open.length > bounds.depth) return 'is nested too deeply';
    open.push(inner);
  }
  if (at > octets.length) return 'ends too early';
  return at < octets.length ? 'goes on after its end' : undefined;
}
