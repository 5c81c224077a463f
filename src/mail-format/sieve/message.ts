// What a script is run on: the facts of a message and of its delivery, as the caller has read them.
import type { SieveScript } from './program.js';

export interface SieveField {
  readonly name: string;
  /** Unfolded and trimmed; encoded words (RFC 2047) are as written. */
  readonly value: string;
}

/** One part of a body that is not a multipart. */
interface SievePart {
  /** `type/subtype` in lower case. */
  readonly type: string;
  /** Decoded; UTF-8 text of the charset that the part declares. */
  readonly text: () => string;
}

export interface SieveBody {
  /** The octets behind the header, without decoding, one character per octet or UTF-8. */
  readonly raw: () => string;
  readonly parts: readonly SievePart[];
  /** The text of the body for people: plain text, or HTML without its tags. */
  readonly text: () => string;
}

export interface SieveMessage {
  /** In octets. */
  readonly size: number;
  /** In the order of the header. */
  readonly fields: readonly SieveField[];
  /** Undefined when it was not read: tests of it are then faults. */
  readonly body: SieveBody | undefined;
}

export interface SieveEnvironment {
  /** In ms since the epoch. */
  readonly now: number;
  /** The zone of dates when a script names none, in minutes east of UTC. */
  readonly zone: number;
  /** The envelope sender, '' for the null sender; undefined when it is unknown. */
  readonly sender: string | undefined;
  /** The address that the message was sent to; undefined when it is unknown. */
  readonly recipient: string | undefined;
  /** Whether a folder with this path is there. */
  readonly hasFolder: (path: string) => boolean;
  /** The path of the folder with this attribute (RFC 6154, such as `\Junk`), in any case; undefined without one. */
  readonly specialUse: (attribute: string) => string | undefined;
  /** Whether a delivery of the last time has tracked this key (RFC 7352). */
  readonly isTracked: (key: string) => boolean;
  /** Undefined when there is no such script. */
  readonly include: (location: 'personal' | 'global', name: string) => SieveScript | undefined;
}
