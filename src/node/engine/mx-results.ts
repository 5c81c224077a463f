// What the MX wrote into a message that arrived: the results of its checks.
import { claimsToBeFrom } from '../../mail-format/authentication/authentication-results.js';
import { fieldValue, type HeaderLine, headerIn, headerLines } from '../../mail-format/header/header-lines.js';
import type { DueMail } from '../../store/mailbox-rows.js';

export interface MxResults {
  /** The octets of the Return-Path of the delivery here, before the message that was sent. */
  readonly start: number;
  /** The value of the Authentication-Results field of this host; undefined when it has checked nothing. */
  readonly value: string | undefined;
  /** Whether the chain of ARC seals verified. */
  readonly chain: 'none' | 'pass' | 'fail';
  /** The domain of the sender says that it did not send this: the sender is told nothing. */
  readonly isForged: boolean;
}

/** Quoted strings and comments of a header field (RFC 5322 §3.2). */
const QUOTED = /"(?:[^"\\]|\\.)*"|\((?:[^()\\]|\\.)*\)/g;

/** `stored`: the message, or its header. */
export function mxResults(stored: Buffer, { isChecked }: Pick<DueMail, 'isChecked'>, hostname: string): MxResults {
  const lines = headerLines(headerIn(stored));
  const start = lines[0]?.name === 'return-path' ? lines[0].end : 0;
  const own = isChecked ? lines.find((line) => isOwn(line, hostname)) : undefined;
  const value = own && fieldValue(own);
  // Quoted text is the sender's: it names no result.
  const said = (value ?? '').replace(QUOTED, '');
  const chain = (/;\s*arc=(pass|fail)\b/.exec(said)?.[1] ?? 'none') as MxResults['chain'];
  const isForged = isChecked && /;\s*(?:spf=(?:soft)?fail|dmarc=fail)\b/.test(said);
  return { start, value, chain, isForged };
}

const isOwn = (line: HeaderLine, hostname: string): boolean =>
  line.name === 'authentication-results' && claimsToBeFrom(hostname, fieldValue(line));
