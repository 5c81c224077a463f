// The items of a FETCH response; each one renders one attribute of a message.
import type { IndexedPart } from '../../../mail-format/message-index.js';
import { type PartBounds, readPartBounds, writePartBounds } from '../../../mail-format/writing/part-bounds.js';
import type { Message } from '../messages/message-source.js';

/** Text is a binary string. Content that is too large for memory is read while it is written. */
export type Piece = string | Uint8Array | AsyncIterable<Uint8Array>;
export type Rendered = string | readonly Piece[];

/** The message that is being rendered. */
export interface Place {
  uid: number;
  /** The index in the mirror. */
  index: number;
  /** All octets of a small message, if items need them. */
  octets: Uint8Array | undefined;
  /** Octets that were read for the response and wait to be written. */
  memory: number;
  root: IndexedPart | undefined;
  bounds: PartBounds | undefined;
}

/** Renders an attribute that the mirror knows. */
export type MirrorItem = (place: Place) => string;
/** Renders an attribute that is read from the store. */
export type MessageItem = (place: Place, message: Message) => Rendered | Promise<Rendered>;

/** Collects what items need in addition to the facts of a message; `true` outweighs names of derived strings. */
export class NeedsBuilder {
  header: boolean | string[] = false;
  index: boolean | string[] = false;
  /** The octets of the body. */
  octets = false;

  /** `derived` names the string that the data is needed for. */
  need(what: 'header' | 'index', derived?: string): void {
    const needed = this[what];
    if (derived === undefined || needed === true) this[what] = true;
    else this[what] = needed === false ? [derived] : [...needed, derived];
  }
}

/** Returns the root of the MIME index, which is parsed at every access, so items of one message share it. */
export function rootOf(place: Place, message: Message): IndexedPart {
  place.root ??= message.index.root;
  return place.root;
}

export const PART_BOUNDS = 'part bounds';

/** Returns what `NeedsBuilder.need('index', PART_BOUNDS)` requests; items of one message share it. */
export function boundsOf(place: Place, message: Message): PartBounds {
  place.bounds ??= readPartBounds(message.derived(PART_BOUNDS, () => writePartBounds(rootOf(place, message))));
  return place.bounds;
}
