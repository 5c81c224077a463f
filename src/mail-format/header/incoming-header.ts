// Removes fields from the header of an incoming message that only this server may write or that must not arrive: forged authentication
// results (RFC 8601 §5) and verdicts of spam filters (X-Spam-…), which mail programs believe; Return-Path, which the delivering server
// writes (RFC 5321 §4.4); and Bcc, which names recipients that others must not see. A message without a Message-ID gets one, because
// replies name it and threads are found by it; a signed one does not, because its signature may cover the absence. Every other octet stays
// unchanged.
import { claimsToBeFrom } from '../authentication/authentication-results.js';
import { fieldValue, type HeaderLine, headerLines } from './header-lines.js';

const FORGED = new Set(['return-path', 'bcc', 'resent-bcc']);
/** A signature may cover fields that are not there, so that none can be added (RFC 6376 §5.4.2). */
const KEEPS_ITS_ID = new Set(['message-id', 'dkim-signature', 'arc-message-signature']);

export interface IncomingHeaderOptions {
  /** The name of this server. */
  readonly hostname: string;
  /** Added in front of an unsigned header that has none, with angle brackets; undefined when the header is not complete. */
  readonly messageId: string | undefined;
}

export function incomingHeader(header: Buffer, { hostname, messageId }: IncomingHeaderOptions): Buffer {
  const lines = headerLines(header);
  const forged = lines.filter((line) => isForged(line, hostname));
  const isAdded = messageId !== undefined && !lines.some(({ name }) => KEEPS_ITS_ID.has(name));
  if (forged.length === 0 && !isAdded) return header;
  const pieces: Buffer[] = isAdded ? [Buffer.from(`Message-ID: ${messageId}\r\n`)] : [];
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
