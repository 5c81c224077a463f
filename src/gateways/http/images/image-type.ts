// The media type of an image by its first octets. Only these types are served: browsers decode them without running anything, which SVG
// does not allow.

const PNG = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a);
const JPEG = Uint8Array.of(0xff, 0xd8, 0xff);

/** With this many octets, or with all of a shorter file, the type is decided. */
export const TYPE_OCTETS = 64;

/** Undefined when the octets begin no image of a type that is served. */
export function imageType(octets: Uint8Array): string | undefined {
  const head = Buffer.from(octets.buffer, octets.byteOffset, Math.min(octets.length, TYPE_OCTETS));
  const text = head.toString('latin1');
  if (head.subarray(0, PNG.length).equals(PNG)) return 'image/png';
  if (head.subarray(0, JPEG.length).equals(JPEG)) return 'image/jpeg';
  if (/^GIF8[79]a/.test(text)) return 'image/gif';
  if (text.startsWith('RIFF') && text.slice(8, 12) === 'WEBP') return 'image/webp';
  return text.slice(4, 8) === 'ftyp' && isAvif(head, text) ? 'image/avif' : undefined;
}

/** ISO/IEC 14496-12 §4.3: the major brand of the file, its minor version, then the brands with which it is compatible. */
function isAvif(head: Buffer, text: string): boolean {
  const end = Math.min(head.readUInt32BE(0), text.length);
  const brands = [text.slice(8, 12)];
  for (let at = 16; at + 4 <= end; at += 4) brands.push(text.slice(at, at + 4));
  return brands.some((brand) => brand === 'avif' || brand === 'avis');
}
