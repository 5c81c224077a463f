// Packed ids as a parameter of type uuid[] in the binary form of the protocol (`array_recv`).
import type { PackedIds } from '../../mail/packed-ids.js';
import { Octets } from './octet-parameters.js';

const TYPE_OF_UUID = 2950;
const ID_OCTETS = 16;
const ELEMENT_OCTETS = 4 + ID_OCTETS;
const HEADER_OCTETS = 20;

/** All ids of the lists. There is one at least. */
export function uuidArray(lists: readonly PackedIds[]): Octets {
  const count = lists.reduce((sum, { length }) => sum + length, 0);
  const octets = new Uint8Array(HEADER_OCTETS + count * ELEMENT_OCTETS);
  const view = new DataView(octets.buffer);
  // Dimensions, whether there are nulls, type of the elements, count, and the subscript of the first.
  for (const [i, field] of [1, 0, TYPE_OF_UUID, count, 1].entries()) view.setInt32(i * 4, field);
  let at = HEADER_OCTETS;
  for (const { octets: ids } of lists) {
    const from = new DataView(ids.buffer, ids.byteOffset, ids.length);
    for (let i = 0; i < ids.length; i += ID_OCTETS) {
      view.setInt32(at, ID_OCTETS);
      for (let word = 0; word < ID_OCTETS; word += 4) view.setUint32(at + 4 + word, from.getUint32(i + word));
      at += ELEMENT_OCTETS;
    }
  }
  return new Octets([octets]);
}
