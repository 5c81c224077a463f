// Removes fields from the header of an incoming message that only this server may write or that must not arrive: forged authentication
// results (RFC 8601 §5) and verdicts of spam filters (X-Spam-…), which mail programs believe; Return-Path, which the delivering server writes (RFC 5321 §4.4); and Bcc, which names recipients that others must
// not see. Every other octet stays unchanged.
import { claimsToBeFrom } from '../authentication/authentication-results.js';
import { fieldValue, type HeaderLine, headerLines } from './header-lines.js';

const FORGED = new Set(['return-path', 'bcc', 'resent-bcc']);

/** `hostname` is the name of this server. */
export function incomingHeader(header: Buffer, hostname: string): Buffer {
  const forged = headerLines(header).filter((line) => isForged(line, hostname));
  if (forged.length === 0) return header;
  const pieces: Buffer[] = [];
  let kept = 0;
  for (const { start, end } of forged) {
    pieces.push(header.subarray(kept, start));
    kept = end;
  }
  return Buffer.concat([...pieces, header.subarray(kept)]);
}

function isForged(line: HeaderLine, hostname: string): boolean {
  if (line.name === 'authentication-results') return claimsToBeFrom(hostname, fieldValue(line));
  return FORGED.has(line.name) || line.name.startsWith('x-spam-');
}
