// Decodes the Content-Transfer-Encoding (RFC 2045 §6, and x-uuencode), whole or as a stream in limited memory. An unknown encoding is read
// as identity. Broken content is decoded as far as possible and never throws.
import type { OctetRange } from '../message-index.js';
import { Base64Decoder } from './base64.js';
import { QuotedPrintableDecoder } from './quoted-printable.js';
import { isUuencode, UuDecoder } from './uuencode.js';

export interface TransferDecoder {
  push(piece: Uint8Array): Uint8Array;
  finish(): Uint8Array;
}

/** Returns true when the octets of a part are encoded and Mansio can decode them. `encoding` is in lower case. */
export function isEncoded(encoding: string): boolean {
  return encoding === 'base64' || encoding === 'quoted-printable' || isUuencode(encoding);
}

/** Returns undefined for identity. */
export function decoderOf(encoding: string): TransferDecoder | undefined {
  if (encoding === 'base64') return new Base64Decoder();
  if (encoding === 'quoted-printable') return new QuotedPrintableDecoder();
  if (isUuencode(encoding)) return new UuDecoder();
  return undefined;
}

/** `encoding` is in lower case, as the index has it. The result may share memory with `bytes`. */
export function decodeTransfer(encoding: string, bytes: Uint8Array): Uint8Array {
  const decoder = decoderOf(encoding);
  if (decoder === undefined) return bytes;
  const body = decoder.push(bytes);
  const rest = decoder.finish();
  return rest.length === 0 ? body : Buffer.concat([body, rest]);
}

/** Yields the decoded octets of a part, read piece by piece; no piece is empty. */
export async function* decodeStream(encoding: string, source: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  const decoder = decoderOf(encoding);
  for await (const piece of source) {
    const decoded = decoder === undefined ? piece : decoder.push(piece);
    if (decoded.length > 0) yield decoded;
  }
  const rest = decoder?.finish();
  if (rest !== undefined && rest.length > 0) yield rest;
}

/** Yields the octets [start, end) of a stream and reads no further. */
export async function* sliceStream(
  source: AsyncIterable<Uint8Array>,
  { start, end }: OctetRange,
): AsyncIterable<Uint8Array> {
  let at = 0;
  for await (const piece of source) {
    const wanted = piece.subarray(Math.max(0, start - at), Math.max(0, end - at));
    if (wanted.length > 0) yield wanted;
    at += piece.length;
    if (at >= end) return;
  }
}
