// The Authentication-Results field (RFC 8601): Mansio writes it from results, and recognises a field of an incoming message
// that claims to be Mansio's. Text that a peer chose (domains, selectors, addresses) is a value that cannot end itself: a
// token or a quoted string, in printable ASCII and of a bounded length. Comments are Mansio's own words.

export interface MethodResult {
  readonly method: 'spf' | 'dkim' | 'dmarc' | 'arc';
  readonly result: 'none' | 'pass' | 'fail' | 'softfail' | 'neutral' | 'policy' | 'temperror' | 'permerror';
  /** Fixed words of Mansio. */
  readonly comment?: string;
  /** `smtp.mailfrom`, `header.d` … with values that the peer chose. */
  readonly properties?: readonly (readonly [name: string, value: string])[];
}

const TOKEN = /^[!#$%&'*+.0-9A-Z^_`a-z{|}~-]+$/;
/** RFC 8601 §2.2: a local part, which may be missing, and a domain need no quotes. */
const MAILBOX = /^(?:[!#$%&'*+.0-9A-Z^_`a-z{|}~-]+)?@[0-9A-Za-z._-]+$/;
const LONGEST_VALUE = 254;

/** The field, one line for each result, with its line end. */
export function authenticationResults(host: string, results: readonly MethodResult[]): string {
  const texts = results.length === 0 ? ['none'] : results.map(resultText);
  return `Authentication-Results: ${[host, ...texts].join(';\r\n\t')}\r\n`;
}

function resultText({ method, result, comment, properties = [] }: MethodResult): string {
  const said = comment === undefined ? '' : ` (${comment.replace(/[^ -'*-[\]-~]/g, '?')})`;
  const known = properties.filter(([, value]) => value !== '').map(([name, value]) => ` ${name}=${valueText(value)}`);
  return `${method}=${result}${said}${known.join('')}`;
}

function valueText(value: string): string {
  const short = value.slice(0, LONGEST_VALUE);
  if (TOKEN.test(short) || MAILBOX.test(short)) return short;
  return `"${short.replace(/[^ -~]/g, '?').replace(/["\\]/g, '\\$&')}"`;
}

/**
 * Whether a field of an incoming message names `host` as its authserv-id: Mansio did not write such a field and removes it
 * (RFC 8601 §5). `value` follows the colon. A malformed field counts when it contains the name.
 */
export function claimsToBeFrom(host: string, value: string): boolean {
  const name = host.toLowerCase();
  const id = authservId(value);
  if (id === undefined) return value.toLowerCase().includes(name);
  return id.toLowerCase().replace(/\.$/, '') === name;
}

/** Undefined when the field is malformed. */
function authservId(value: string): string | undefined {
  let at = 0;
  for (let depth = 0; at < value.length; at++) {
    const char = value[at]!;
    if (char === '(') depth++;
    else if (char === ')' && depth > 0) depth--;
    else if (char === '\\' && depth > 0) at++;
    else if (depth === 0 && !/\s/.test(char)) break;
  }
  const rest = value.slice(at, at + 1024);
  const quoted = /^"((?:[^"\\]|\\.)*)"/s.exec(rest)?.[1];
  if (quoted !== undefined) return quoted.replace(/\\(.)/gs, '$1').replace(/\r?\n/g, '').trim();
  return /^[^\s;()"\\/[\]<>,:=?]+(?=[\s;(/]|$)/.exec(rest)?.[0];
}
