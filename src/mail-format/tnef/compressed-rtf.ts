// Compressed RTF, the body of many TNEF messages ([MS-OXRTFCP]): LZFu and uncompressed content. A reference of two octets yields at most
// 17, so the input limits the result; MOST_OCTETS limits it too.

const HEADER = 16;
const COMPRESSED = 0x75465a4c;
const UNCOMPRESSED = 0x414c454d;
const DICTIONARY = 4096;
const MOST_OCTETS = 4 * 1024 * 1024;
const INITIAL = Buffer.from(
  '{\\rtf1\\ansi\\mac\\deff0\\deftab720{\\fonttbl;}{\\f0\\fnil \\froman \\fswiss \\fmodern \\fscript \\fdecor MS Sans SerifSymbol' +
    'ArialTimes New RomanCourier{\\colortbl\\red0\\green0\\blue0\r\n\\par \\pard\\plain\\f0\\fs20\\b\\i\\u\\tab\\tx',
  'latin1',
);

/** Returns the RTF, as far as it can be read; empty when the octets are not compressed RTF. Never throws. */
export function decompressedRtf(octets: Uint8Array): Buffer {
  const data = Buffer.from(octets.buffer, octets.byteOffset, octets.byteLength);
  if (data.length < HEADER) return Buffer.alloc(0);
  const size = Math.min(data.readUInt32LE(4), MOST_OCTETS);
  const kind = data.readUInt32LE(8);
  if (kind === UNCOMPRESSED) return Buffer.from(data.subarray(HEADER, HEADER + size));
  return kind === COMPRESSED ? inflated(data, size) : Buffer.alloc(0);
}

function inflated(data: Buffer, size: number): Buffer {
  const dictionary = Buffer.alloc(DICTIONARY);
  INITIAL.copy(dictionary);
  let write = INITIAL.length;
  const out = Buffer.allocUnsafe(Math.min(size, 9 * data.length));
  let length = 0;
  const put = (octet: number): void => {
    if (length < out.length) out[length++] = octet;
    dictionary[write] = octet;
    write = (write + 1) % DICTIONARY;
  };
  for (let at = HEADER; at < data.length && length < out.length; ) {
    const control = data[at++]!;
    for (let bit = 0; bit < 8 && at < data.length; bit++) {
      if ((control & (1 << bit)) === 0) {
        put(data[at++]!);
        continue;
      }
      if (at + 1 >= data.length) return out.subarray(0, length);
      const reference = data.readUInt16BE(at);
      at += 2;
      const from = reference >> 4;
      // A reference to the position of the next octet marks the end.
      if (from === write) return out.subarray(0, length);
      for (let i = 0; i < (reference & 0xf) + 2; i++) put(dictionary[(from + i) % DICTIONARY]!);
    }
  }
  return out.subarray(0, length);
}
