// Octets of a message for FETCH: from a small message that is in memory, read as a range, or streamed when they are many.
import type { OctetRange } from '../../../mail/message-index.js';
import type { BlobStore } from '../../../store/blobs.js';
import { primed } from '../../tcp/primed-stream.js';
import type { Message } from '../messages/message-source.js';
import type { Piece, Place } from './fetch-item.js';
import { shownOctets, shownStream } from './shown-octets.js';

/** Octets of a message that is read as a whole, and of a range that is held in memory. */
export const SMALL_OCTETS = 256 * 1024;
/** Octets that a response holds before it is written; a client may ask for the same octets many times over. */
const MOST_HELD_OCTETS = 1024 * 1024;

/** Whether the response may hold so many octets more, which are counted then. */
export function mayHold(place: Place, octets: number): boolean {
  if (place.held + octets > MOST_HELD_OCTETS) return false;
  place.held += octets;
  return true;
}

/**
 * As a literal may have them. Octets beyond what a response holds are read while they are written.
 * @throws StoreFault; of a stream only what its first piece throws, and nothing of a stream beyond what a response holds
 */
export function octetsOfRange(
  blobs: BlobStore,
  place: Place,
  message: Message,
  { start, end }: OctetRange,
): Piece | Promise<Piece> {
  if (start >= end) return '';
  if (place.octets !== undefined) return shownOctets(place.octets.subarray(start, end));
  const isHeld = mayHold(place, Math.min(end - start, SMALL_OCTETS));
  if (isHeld && end - start <= SMALL_OCTETS) return blobs.read(message.blob, start, end).then(shownOctets);
  const stream = shownStream(blobs.stream(message.blob, start, end));
  return isHeld ? primed(stream) : stream;
}

/** Any range in one buffer, as it is stored. */
export function wholeRange(
  blobs: BlobStore,
  place: Place,
  message: Message,
  { start, end }: OctetRange,
): Uint8Array | Promise<Uint8Array> {
  return place.octets?.subarray(start, end) ?? blobs.read(message.blob, start, end);
}
