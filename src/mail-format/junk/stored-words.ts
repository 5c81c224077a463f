// The stored form of what an account has learnt: a version, the numbers of messages, the ceiling, and for each token in ascending order its
// distance to the one before and its two counts, all as numbers of seven bits an octet (LEB128).

/** What is stored. */
export interface Counts {
  junk: number;
  ham: number;
  ceiling: number;
  known(): Uint32Array;
  placeOf(token: number): number;
  junkAt(place: number): number;
  hamAt(place: number): number;
  put(token: number, junk: number, ham: number): void;
}

const VERSION = 1;
/** The most octets of an entry: a distance of 32 bits and two counts of 16. */
const ENTRY_OCTETS = 5 + 3 + 3;

export function writeStored(words: Counts): Uint8Array {
  const known = words.known();
  const octets = new Uint8Array(1 + 20 + known.length * ENTRY_OCTETS);
  let at = 0;
  const write = (value: number) => {
    let rest = value;
    for (; rest > 0x7f; rest >>>= 7) octets[at++] = (rest & 0x7f) | 0x80;
    octets[at++] = rest;
  };
  write(VERSION);
  write(words.junk);
  write(words.ham);
  write(words.ceiling);
  write(known.length);
  let before = 0;
  for (const token of known) {
    const place = words.placeOf(token);
    write(token - before);
    write(words.junkAt(place));
    write(words.hamAt(place));
    before = token;
  }
  return octets.slice(0, at);
}

/** @throws RangeError when the octets are not what `writeStored` returns */
export function readStored<Words extends Counts>(octets: Uint8Array, make: (size: number) => Words): Words {
  let at = 0;
  const read = () => {
    let value = 0;
    for (let shift = 1; ; shift *= 128) {
      const octet = octets[at++];
      if (octet === undefined || shift > 2 ** 28) throw new RangeError('the stored words of the junk filter are cut');
      value += (octet & 0x7f) * shift;
      if (octet < 0x80) return value;
    }
  };
  const version = read();
  if (version !== VERSION)
    throw new RangeError(`the stored words of the junk filter have the unknown version ${version}`);
  const [junk, ham, ceiling, size] = [read(), read(), read(), read()];
  if (size > octets.length) throw new RangeError('the stored words of the junk filter are cut');
  const words = make(size);
  words.junk = junk;
  words.ham = ham;
  words.ceiling = ceiling;
  let token = 0;
  for (let i = 0; i < size; i++) {
    token += read();
    words.put(token, read(), read());
  }
  return words;
}
