// The encoding of packets between nodes (decision 0075): a batch of them in one binary frame. Packets are JSON, because V8 reads and writes
// JSON faster than any encoding in JavaScript; what they have as Uint8Array is outside of it, as raw octets. A batch carries the same
// Uint8Array once, however many packets contain it.
//
//   u32 format | u32 number of packets | u32 number of octet strings
//   per packet: u32 tag | u32 length of its text        per octet string: u32 length
//   the texts | the octet strings                       integers are little-endian
//
// The text of a packet is `[packet]`, or `[packet, [[octet string, ...path], …]]`, where each path leads to a null in the packet that stands
// for octets.

/** A packet in JSON, without its octets. */
export interface PacketText {
  readonly json: string;
  /** The number of octets of the packet on the wire, in a batch of its own. */
  readonly length: number;
  readonly octets: readonly OctetsAt[];
}

interface OctetsAt {
  readonly octets: Uint8Array;
  /** The members that lead to the octets. */
  readonly path: (string | number)[];
}

/** `value` is undefined when the packet cannot be read. */
export interface TaggedPacket {
  readonly tag: number;
  readonly value: unknown;
}

const FORMAT = 0x6d_73_62_01;
const FRAME_OCTETS = 12;
const PER_PACKET = 8;
const PER_OCTETS = 4;
/** The octets of the brackets around a packet. */
const BRACKETS = 2;
/** The index of an octet string has at most this many more digits than in a batch of its own. */
const MORE_DIGITS = 9;
const NO_OCTETS: OctetsAt[] = [];

/** @throws TypeError when the packet is no tree */
export function packetText(packet: unknown): PacketText {
  const octets = hasOctets(packet) ? [] : NO_OCTETS;
  const json = JSON.stringify(octets === NO_OCTETS ? packet : withoutOctets(packet, octets));
  let length = FRAME_OCTETS + PER_PACKET + BRACKETS + Buffer.byteLength(json);
  if (octets === NO_OCTETS) return { json, length, octets };
  const own = new Map<Uint8Array, number>();
  length += addedOctets(octets, own) + Buffer.byteLength(referencesOf(octets, own));
  return { json, length, octets };
}

/** Collects packets, and writes them. */
export class PacketBatch {
  readonly #tags: number[] = [];
  readonly #texts: string[] = [];
  readonly #lengths: number[] = [];
  /** The octet strings, each with its index. */
  readonly #octets = new Map<Uint8Array, number>();
  #length = FRAME_OCTETS;

  /** The number of packets. */
  get count(): number {
    return this.#tags.length;
  }

  /** The number of octets on the wire. */
  get length(): number {
    return this.#length;
  }

  /** An upper bound of `length` with one more packet. */
  lengthWith({ length, octets }: PacketText): number {
    let more = length - FRAME_OCTETS;
    for (const { octets: own } of octets) if (this.#octets.has(own)) more -= own.length;
    return this.#length + more + octets.length * MORE_DIGITS;
  }

  /** `tag`: an unsigned number of 32 bits, which the reader gets with the packet. */
  add(tag: number, packet: PacketText): void {
    const { json, octets } = packet;
    let text = `[${json}]`;
    let length = packet.length - FRAME_OCTETS - PER_PACKET;
    if (octets.length > 0) {
      this.#length += addedOctets(octets, this.#octets);
      text = `[${json}${referencesOf(octets, this.#octets)}]`;
      length = Buffer.byteLength(text);
    }
    this.#tags.push(tag);
    this.#texts.push(text);
    this.#lengths.push(length);
    this.#length += PER_PACKET + length;
  }

  bytes(): Uint8Array {
    const bytes = Buffer.allocUnsafe(this.#length);
    let at = bytes.writeUInt32LE(FORMAT, 0);
    at = bytes.writeUInt32LE(this.#tags.length, at);
    at = bytes.writeUInt32LE(this.#octets.size, at);
    for (let i = 0; i < this.#tags.length; i++) {
      at = bytes.writeUInt32LE(this.#tags[i]!, at);
      at = bytes.writeUInt32LE(this.#lengths[i]!, at);
    }
    for (const { length } of this.#octets.keys()) at = bytes.writeUInt32LE(length, at);
    at += bytes.write(this.#texts.length === 1 ? this.#texts[0]! : this.#texts.join(''), at);
    for (const octets of this.#octets.keys()) {
      bytes.set(octets, at);
      at += octets.length;
    }
    return bytes;
  }
}

/** Reads a batch; undefined when the frame is damaged. Large octet strings of the packets are views of `data`. */
export function readBatch(data: Uint8Array): readonly TaggedPacket[] | undefined {
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  if (bytes.length < FRAME_OCTETS || bytes.readUInt32LE(0) !== FORMAT) return undefined;
  const count = bytes.readUInt32LE(4);
  const octetStrings = bytes.readUInt32LE(8);
  const texts = FRAME_OCTETS + count * PER_PACKET + octetStrings * PER_OCTETS;
  if (texts > bytes.length) return undefined;
  const ends = [texts];
  for (let i = 0; i < count; i++) ends.push(ends[i]! + bytes.readUInt32LE(FRAME_OCTETS + i * PER_PACKET + 4));
  const octets: Uint8Array[] = [];
  let at = ends[count]!;
  for (let i = 0; i < octetStrings; i++) {
    const end = at + bytes.readUInt32LE(FRAME_OCTETS + count * PER_PACKET + i * PER_OCTETS);
    octets.push(kept(bytes.subarray(at, end)));
    at = end;
  }
  if (at !== bytes.length) return undefined;
  return Array.from({ length: count }, (_, i) => ({
    tag: bytes.readUInt32LE(FRAME_OCTETS + i * PER_PACKET),
    value: packetOf(bytes.toString('utf8', ends[i]!, ends[i + 1]!), octets),
  }));
}

/** Copies octets that are a small part of what was received, so that a packet that waits does not keep all of it. */
function kept(octets: Uint8Array): Uint8Array {
  return octets.length * 2 < octets.buffer.byteLength ? Buffer.from(octets) : octets;
}

/** Encodes one packet. */
export function encode(packet: unknown): Uint8Array {
  const batch = new PacketBatch();
  batch.add(0, packetText(packet));
  return batch.bytes();
}

/** Decodes one packet; undefined when it cannot be read. */
export function decode(bytes: Uint8Array): unknown {
  const packets = readBatch(bytes);
  return packets?.length === 1 ? packets[0]!.value : undefined;
}

/** Most packets have none, and this is the cheapest way to know. */
function hasOctets(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) if (hasOctets(value[i])) return true;
    return false;
  }
  if (value instanceof Uint8Array) return true;
  const members = value as Readonly<Record<string, unknown>>;
  for (const key in members) if (hasOctets(members[key])) return true;
  return false;
}

/** Returns a copy with null for each Uint8Array, which is added to `found`. */
function withoutOctets(value: unknown, found: OctetsAt[]): unknown {
  if (typeof value !== 'object' || value === null || !hasOctets(value)) return value;
  if (value instanceof Uint8Array) {
    found.push({ octets: value, path: [] });
    return null;
  }
  const members = Object.entries(value).map(([key, member]) => {
    const before = found.length;
    const stripped = withoutOctets(member, found);
    for (const { path } of found.slice(before)) path.unshift(key);
    return [key, stripped] as const;
  });
  return Array.isArray(value) ? members.map(([, member]) => member) : Object.fromEntries(members);
}

/** Adds what `octets` has to `all`. Returns the number of octets that this takes on the wire. */
function addedOctets(octets: readonly OctetsAt[], all: Map<Uint8Array, number>): number {
  let added = 0;
  for (const { octets: own } of octets) {
    if (all.has(own)) continue;
    all.set(own, all.size);
    added += PER_OCTETS + own.length;
  }
  return added;
}

function referencesOf(octets: readonly OctetsAt[], all: ReadonlyMap<Uint8Array, number>): string {
  return `,${JSON.stringify(octets.map(({ octets: own, path }) => [all.get(own), ...path]))}`;
}

function packetOf(text: string, octets: readonly Uint8Array[]): unknown {
  try {
    const wrapped: unknown = JSON.parse(text);
    if (!Array.isArray(wrapped)) return undefined;
    const [packet, references] = wrapped;
    if (references === undefined) return packet;
    if (!Array.isArray(references)) return undefined;
    return references.every((reference) => putOctets(wrapped, reference, octets)) ? wrapped[0] : undefined;
  } catch {
    return undefined;
  }
}

/** Puts octets where the reference says. Returns false when that is not a null of the packet. */
function putOctets(wrapped: unknown[], reference: unknown, octets: readonly Uint8Array[]): boolean {
  if (!Array.isArray(reference)) return false;
  const [index, ...path] = reference;
  const own = typeof index === 'number' ? octets[index] : undefined;
  if (own === undefined) return false;
  let parent: unknown = wrapped;
  let key: string | number = 0;
  for (const next of path) {
    parent = memberOf(parent, key);
    key = next;
  }
  if (memberOf(parent, key) !== null) return false;
  (parent as Record<string | number, unknown>)[key] = own;
  return true;
}

/** Undefined unless the member is an own one: a path must not lead to a prototype. */
function memberOf(parent: unknown, key: unknown): unknown {
  if (typeof parent !== 'object' || parent === null || parent instanceof Uint8Array) return undefined;
  return (typeof key === 'string' || typeof key === 'number') && Object.hasOwn(parent, key)
    ? (parent as Readonly<Record<string | number, unknown>>)[key]
    : undefined;
}
