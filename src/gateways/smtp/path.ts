// MAIL FROM and RCPT TO: parses a command line into path and parameters (RFC 5321 §4.1.1.2, §4.1.1.3, §4.1.2). mail/address
// decides whether an address is valid, the listener whether a parameter is known. smtp-server's own reader rewrites domains to
// Unicode and cannot read a quoted local part with a blank.

export interface Path {
  /** The address as written, without source route and brackets; empty for the null sender. */
  address: string;
  /** Values by name in upper case; false when there are none. */
  args: Record<string, string | true> | false;
  /** The name of a parameter that was given twice. */
  duplicate?: string;
  /** Set when the text after the path is not a list of parameters (RFC 5321 §4.1.2, `Mail-parameters`). */
  isMalformed?: true;
}

const VERB = { 'MAIL FROM': /^MAIL\s+FROM\s*:\s*/i, 'RCPT TO': /^RCPT\s+TO\s*:\s*/i } as const;
/** Source route, then local part (quoted or not) and domain, or `postmaster` alone, or nothing. */
const PATH =
  /^<(?:@[^\s,:@<>]+(?:,@[^\s,:@<>]+)*:)?((?:"(?:[^"\\\p{Cc}]|\\[\x20-\x7e])*"|[^\s<>"@]+)@[^\s<>@]+|postmaster|)>(?=\s|$)/iu;
const PARAMETER = /^([A-Za-z0-9][A-Za-z0-9-]*)(?:=([^=\s\p{Cc}]+))?$/u;
/** Octets of a path without its brackets (RFC 5321 §4.5.3.1.3), counted in characters: UTF-8 takes more. */
const MAX_PATH = 254;
/** Control characters, which are not allowed in a command, and U+FFFD, which means that the line was not UTF-8. */
const UNSAFE = /[\p{Cc}\uFFFD]/u;

/** Returns the path of a command line; undefined when it is not a valid path. */
export function parsePath(verb: keyof typeof VERB, line: string): Path | undefined {
  const start = VERB[verb].exec(line);
  if (start === null) return undefined;
  const rest = line.slice(start[0].length);
  const match = PATH.exec(rest);
  if (match === null) return undefined;
  const address = match[1]!;
  if (address.length > MAX_PATH || UNSAFE.test(address)) return undefined;
  const path: Path = { address, args: false };
  for (const text of rest.slice(match[0].length).split(/\s+/)) {
    if (text === '') continue;
    const parameter = PARAMETER.exec(text);
    if (parameter === null) {
      path.isMalformed = true;
      continue;
    }
    const name = parameter[1]!.toUpperCase();
    path.args ||= {};
    if (Object.hasOwn(path.args, name)) path.duplicate = name;
    path.args[name] = parameter[2] ?? true;
  }
  return path;
}

export function isAscii(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 127) return false;
  return true;
}
