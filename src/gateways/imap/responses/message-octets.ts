// Octets of a message for FETCH: from a small message in memory, read as a range, or streamed when they are many.
import type { OctetRange } from '../../../mail-format/message-index.js';
import { primed } from '../../../net/tcp/primed-stream.js';
import type { BlobStore } from '../../../store/blobs.js';
import type { Message } from '../messages/message-source.js';
import type { Piece, Place } from './fetch-item.js';
import { shownOctets, shownStream } from './shown-octets.js';

/** The most octets of a message that is read as a whole, and of a range that is held in memory. */
export const SMALL_OCTETS = 256 * 1024;
/** Octets that a response holds before it is written; a client may request the same octets many times. */
const MOST_MEMORY_OCTETS = 1024 * 1024;

/** Tells whether the response may hold this many more octets, and counts them. */
export function mayBuffer(place: Place, octets: number): boolean {
  if (place.memory + octets > MOST_MEMORY_OCTETS) return false;
  place.memory += octets;
  return true;
}

/**
 * Returns octets that a literal may contain. Octets beyond what a response may hold are read while they are written.
 * @throws StoreFault; for a stream only the fault of its first piece, and none if the response may not hold that piece
 */
export function octetsOfRange(
  blobs: BlobStore,
  place: Place,
  message: Message,
  { start, end }: OctetRange,
): Piece | Promise<Piece> {
  if (start >= end) return '';
  if (place.octets !== undefined) return shownOctets(place.octets.subarray(start, end));
  const isInMemory = mayBuffer(place, Math.min(end - start, SMALL_OCTETS));
  if (isInMemory && end - start <= SMALL_OCTETS) return blobs.read(message.blob, start, end).then(shownOctets);
  const stream = shownStream(blobs.stream(message.blob, start, end));
  return isInMemory ? primed(stream) : stream;
}

/** Returns any range in one buffer, as it is stored. */
export function wholeRange(
  blobs: BlobStore,
  place: Place,
  message: Message,
  { start, end }: OctetRange,
): Uint8Array | Promise<Uint8Array> {
  return place.octets?.subarray(start, end) ?? blobs.read(message.blob, start, end);
}
