// Reads the only file of a small ZIP archive (APPNOTE.TXT 6.3.10), as senders of reports pack them. The end record and the central directory
// are believed as far as they agree with the local header and with the data; names are never used as paths.
import { promisify } from 'node:util';
import { crc32, inflateRaw } from 'node:zlib';
import { UnreadableReport } from '../feedback-reports.js';

const END_RECORD = 0x06054b50;
const CENTRAL_HEADER = 0x02014b50;
const LOCAL_HEADER = 0x04034b50;
const END_OCTETS = 22;
const CENTRAL_OCTETS = 46;
const LOCAL_OCTETS = 30;
const LONGEST_COMMENT = 0xffff;
const STORED = 0;
const DEFLATED = 8;
const ENCRYPTED = 1;

const inflate = promisify(inflateRaw);

interface Entry {
  readonly method: number;
  readonly crc: number;
  readonly packed: number;
  readonly size: number;
  readonly at: number;
}

/** Returns the octets of the file, at most `most`. @throws UnreadableReport */
export async function readZip(archive: Buffer, most: number): Promise<Buffer> {
  const { method, crc, packed, size, at } = entryOf(archive);
  if (size > most) throw new UnreadableReport('the archive is too large when it is unpacked');
  const start = dataStart(archive, at);
  const data = archive.subarray(start, start + packed);
  if (data.length !== packed) throw new UnreadableReport('the archive is cut');
  const octets = await unpack(method, data, most);
  if (octets.length !== size || crc32(octets) !== crc) throw new UnreadableReport('the archive is damaged');
  return octets;
}

async function unpack(method: number, data: Buffer, most: number): Promise<Buffer> {
  if (method === STORED) return data;
  if (method !== DEFLATED) throw new UnreadableReport('the archive has an unknown compression');
  try {
    return await inflate(data, { maxOutputLength: most });
  } catch {
    throw new UnreadableReport('the archive cannot be unpacked within the bounds');
  }
}

function entryOf(archive: Buffer): Entry {
  const end = endRecord(archive);
  if (archive.readUInt16LE(end + 10) !== 1) throw new UnreadableReport('the archive has not one file');
  const central = archive.readUInt32LE(end + 16);
  if (central + CENTRAL_OCTETS > end || archive.readUInt32LE(central) !== CENTRAL_HEADER)
    throw new UnreadableReport('the archive has no directory');
  const name = archive.subarray(
    central + CENTRAL_OCTETS,
    central + CENTRAL_OCTETS + archive.readUInt16LE(central + 28),
  );
  if (/[/\\\0]/.test(name.toString('latin1'))) throw new UnreadableReport('the file in the archive has a path');
  if ((archive.readUInt16LE(central + 8) & ENCRYPTED) !== 0) throw new UnreadableReport('the archive is encrypted');
  return {
    method: archive.readUInt16LE(central + 10),
    crc: archive.readUInt32LE(central + 16),
    packed: archive.readUInt32LE(central + 20),
    size: archive.readUInt32LE(central + 24),
    at: archive.readUInt32LE(central + 42),
  };
}

/** The record is at the end, before a comment. */
function endRecord(archive: Buffer): number {
  const last = archive.length - END_OCTETS;
  for (let at = last; at >= Math.max(0, last - LONGEST_COMMENT); at--)
    if (archive.readUInt32LE(at) === END_RECORD && archive.readUInt16LE(at + 20) === last - at) return at;
  throw new UnreadableReport('the archive has no end');
}

function dataStart(archive: Buffer, at: number): number {
  if (at + LOCAL_OCTETS > archive.length || archive.readUInt32LE(at) !== LOCAL_HEADER)
    throw new UnreadableReport('the archive has no file where its directory says');
  return at + LOCAL_OCTETS + archive.readUInt16LE(at + 26) + archive.readUInt16LE(at + 28);
}
