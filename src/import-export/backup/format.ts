// The form of a backup file. A first line names the format; then come blocks:
//
//   octet 0      kind of the block
//   octet 1      coding of its content: plain, brotli or zstd
//   octets 2–3   zero
//   octets 4–7   octets of the coded content
//   octets 8–11  octets of the content
//   the coded content
//   32 octets    SHA-256 of the checksum before (at first: of the first line), the 12 octets and the coded content
//
// So each checksum covers all of the file before it: a flipped bit, a cut, and a block that is missing, doubled or moved are seen at the
// first block that they concern. Blocks: the header; for each table its name and its rows, which are one stream of PostgreSQL's binary
// COPY cut anywhere; files of the data directory; the end, which has the totals. Integers are big-endian.
import { createHash } from 'node:crypto';

export const FORMAT = 1;
export const FIRST_LINE = Buffer.from(`mansio backup ${FORMAT}\n`, 'latin1');
export const HEAD_OCTETS = 12;
export const CHECKSUM_OCTETS = 32;
/** The most octets of a block's content; rows are cut into blocks of this size. */
export const BLOCK_OCTETS = 1024 * 1024;
/** What does not compress may grow a little. */
const MOST_CODED_OCTETS = BLOCK_OCTETS + 64 * 1024;

const KINDS = ['header', 'table', 'rows', 'file', 'end'] as const;
export type Kind = (typeof KINDS)[number];

const CODINGS = ['plain', 'brotli', 'zstd'] as const;
export type Coding = (typeof CODINGS)[number];

export interface Block {
  readonly kind: Kind;
  readonly content: Uint8Array;
}

export function headOf(kind: Kind, coding: Coding, codedOctets: number, octets: number): Buffer {
  const head = Buffer.alloc(HEAD_OCTETS);
  head.writeUInt8(KINDS.indexOf(kind) + 1, 0);
  head.writeUInt8(CODINGS.indexOf(coding), 1);
  head.writeUInt32BE(codedOctets, 4);
  head.writeUInt32BE(octets, 8);
  return head;
}

export interface Head {
  readonly kind: Kind;
  readonly coding: Coding;
  readonly codedOctets: number;
  readonly octets: number;
}

/** Returns undefined for octets that are not the head of a block. */
export function parsedHead(head: Buffer): Head | undefined {
  const kind = KINDS[head.readUInt8(0) - 1];
  const coding = CODINGS[head.readUInt8(1)];
  const [codedOctets, octets] = [head.readUInt32BE(4), head.readUInt32BE(8)];
  const fits = codedOctets <= MOST_CODED_OCTETS && octets <= BLOCK_OCTETS && head.readUInt16BE(2) === 0;
  return kind === undefined || coding === undefined || !fits ? undefined : { kind, coding, codedOctets, octets };
}

export const FIRST_CHECKSUM = createHash('sha256').update(FIRST_LINE).digest();

export function checksumOf(before: Buffer, head: Buffer, coded: Uint8Array): Buffer {
  return createHash('sha256').update(before).update(head).update(coded).digest();
}
