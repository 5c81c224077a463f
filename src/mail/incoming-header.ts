// The header of a message that another server brought, without fields that only this server or nobody may write: what claims
// to be our authentication results (RFC 8601 §5), a Return-Path, which the delivering server writes (RFC 5321 §4.4), and Bcc,
// which names recipients that others must not know. Every other octet stays as it came.
import { claimsToBeFrom } from './authentication-results.js';
import { fieldValue, type HeaderLine, headerLines } from './header-lines.js';

const FORGED = new Set(['return-path', 'bcc', 'resent-bcc']);

/** `hostname`: our own name. */
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
  return FORGED.has(line.name);
}
