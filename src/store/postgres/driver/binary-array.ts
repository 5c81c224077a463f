// Arrays as parameters in the binary form of the protocol (`array_recv`).
import type { PackedIds } from '../../../mail-format/packed-ids.js';
import { ID_OCTETS } from './id-set.js';
import { Octets } from './octet-parameters.js';

/** Types of elements. */
const BYTEA = 17;
const UUID = 2950;
const NULL = Buffer.alloc(4, 0xff);
const ID_WITH_LENGTH = 4 + ID_OCTETS;

/** Makes an array of `bytea`. */
export function binaryArray(values: readonly (Uint8Array | undefined)[]): Octets {
  const pieces: Uint8Array[] = [header(BYTEA, values.length, values.includes(undefined))];
  for (const value of values) {
    if (value === undefined) {
      pieces.push(NULL);
      continue;
    }
    const length = Buffer.allocUnsafe(4);
    length.writeInt32BE(value.length);
    pieces.push(length, value);
  }
  return new Octets([Buffer.concat(pieces)]);
}

/** Makes an array of `uuid` from all ids of the lists, which contain at least one. */
export function uuidArray(lists: readonly PackedIds[]): Octets {
  const count = lists.reduce((sum, { length }) => sum + length, 0);
  const octets = new Uint8Array(count * ID_WITH_LENGTH);
  const view = new DataView(octets.buffer);
  let at = 0;
  for (const { octets: ids } of lists) {
    const from = new DataView(ids.buffer, ids.byteOffset, ids.length);
    for (let i = 0; i < ids.length; i += ID_OCTETS) {
      view.setInt32(at, ID_OCTETS);
      for (let word = 0; word < ID_OCTETS; word += 4) view.setUint32(at + 4 + word, from.getUint32(i + word));
      at += ID_WITH_LENGTH;
    }
  }
  return new Octets([header(UUID, count, false), octets]);
}

/** The number of dimensions, whether there are nulls, the type of the elements, the count, and the first subscript. */
function header(type: number, count: number, hasNulls: boolean): Uint8Array {
  const fields = [1, Number(hasNulls), type, count, 1];
  const octets = Buffer.alloc(fields.length * 4);
  for (const [i, field] of fields.entries()) octets.writeInt32BE(field, i * 4);
  return octets;
}
