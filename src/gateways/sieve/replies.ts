// Replies of ManageSieve (RFC 5804 §1.2, §1.3), and the form of strings.
import { octetsOf } from '../sessions/output.js';

export interface SieveReply {
  readonly status: 'OK' | 'NO' | 'BYE';
  /** The response code without its parentheses (RFC 5804 §1.3). */
  readonly code?: string;
  readonly text: string;
  /** Lines that come before the reply; each character is one octet. */
  readonly lines?: string;
  /** Sends the line of the reply and then changes how octets are transported: STARTTLS. */
  readonly sendWith?: (line: string) => Promise<void>;
}

const withCode = (code: string | undefined) => (code === undefined ? {} : { code });

export const ok = (text: string, code?: string): SieveReply => ({ status: 'OK', text, ...withCode(code) });
export const no = (text: string, code?: string): SieveReply => ({ status: 'NO', text, ...withCode(code) });
export const bye = (text: string, code?: string): SieveReply => ({ status: 'BYE', text, ...withCode(code) });

/** Returns the line of the reply with its CRLF; each character is one octet. */
export function lineOf({ status, code, text }: SieveReply): string {
  return `${status} ${code === undefined ? '' : `(${code}) `}${stringOf(text)}\r\n`;
}

/** Octets of the longest quoted string (RFC 5804 §4). */
const MOST_QUOTED = 1024;

/** Returns a quoted string, or a literal when the text cannot be quoted; each character is one octet. */
export function stringOf(text: string): string {
  const octets = octetsOf(text);
  const isQuotable = octets.length <= MOST_QUOTED && !/[\0\r\n]/.test(octets);
  return isQuotable ? `"${octets.replace(/["\\]/g, '\\$&')}"` : literalOf(octets);
}

/** `octets`: each character is one octet. */
export const literalOf = (octets: string): string => `{${octets.length}}\r\n${octets}`;
