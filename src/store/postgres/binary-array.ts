// An array of octets as a parameter in the binary form of the protocol (`array_recv`).
import { Octets } from './octet-parameters.js';

/** Dimensions, whether there are nulls, type of the elements, count, and the subscript of the first. */
const HEADER_OCTETS = 20;
const BYTEA = 17;
const NULL = Buffer.alloc(4, 0xff);

/** Of `bytea`. */
export function binaryArray(values: readonly (Uint8Array | undefined)[]): Octets {
  const header = Buffer.alloc(HEADER_OCTETS);
  const fields = [1, Number(values.includes(undefined)), BYTEA, values.length, 1];
  for (const [i, field] of fields.entries()) header.writeInt32BE(field, i * 4);
  const pieces: Uint8Array[] = [header];
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
