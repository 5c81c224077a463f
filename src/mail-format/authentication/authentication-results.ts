// The Authentication-Results field (RFC 8601): Mansio writes it from results, and recognises a field of an incoming message that claims to
// be Mansio's. Text that a peer chose (domains, selectors, addresses) is written as a token or a quoted string in printable ASCII of
// limited length, so that it cannot end its own value. Comments are Mansio's own words.

export const RESULTS = ['none', 'pass', 'fail', 'softfail', 'neutral', 'policy', 'temperror', 'permerror'] as const;

export interface MethodResult {
  readonly method: 'spf' | 'dkim' | 'dmarc' | 'arc';
  readonly result: (typeof RESULTS)[number];
  /** A fixed text of Mansio. */
  readonly comment?: string;
  /** Properties such as `smtp.mailfrom` and `header.d`, with values that the peer chose. */
  readonly properties?: readonly (readonly [name: string, value: string])[];
}

const TOKEN = /^[!#$%&'*+.0-9A-Z^_`a-z{|}~-]+$/;
/** RFC 8601 §2.2: an address with an optional local part needs no quotes. */
const MAILBOX = /^(?:[!#$%&'*+.0-9A-Z^_`a-z{|}~-]+)?@[0-9A-Za-z._-]+$/;
const LONGEST_VALUE = 254;

/** Returns the field with its line end, one line per result. */
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

interface Verdict {
  readonly result: MethodResult['result'];
  /** In lower case; '' when there is none. */
  readonly domain: string;
}

export type Verdicts = Readonly<Record<'spf' | 'dkim' | 'dmarc', Verdict>>;

const NO_VERDICT: Verdict = { result: 'none', domain: '' };
export const NO_VERDICTS: Verdicts = { spf: NO_VERDICT, dkim: NO_VERDICT, dmarc: NO_VERDICT };

/** Matches a comment, the semicolon before a method, or one `name=value` pair. */
const PIECE = /\([^()]*\)|;|([A-Za-z.]+)=("(?:[^"\\]|\\.)*"|[^\s;"()]*)/g;
const DOMAINS: Readonly<Record<string, string>> = {
  'spf smtp.mailfrom': '@',
  'spf smtp.helo': '',
  'dkim header.d': '',
  'dmarc header.from': '',
};

/**
 * Reads a field that Mansio wrote (`value` follows the colon). Among several signatures one that passes counts, among several authors one
 * that does not pass.
 */
export function verdictsOf(value: string): Verdicts {
  const found: { method: string; result: string; domain: string }[] = [];
  let isFirst = true;
  for (const [piece, name = '', quoted = ''] of value.replace(/\r?\n/g, '').matchAll(PIECE)) {
    if (piece === ';') isFirst = true;
    else if (name !== '' && isFirst) {
      isFirst = false;
      found.push({ method: name, result: quoted, domain: '' });
    } else if (name !== '') {
      const last = found.at(-1);
      const mark = DOMAINS[`${last?.method} ${name}`];
      const text = quoted.startsWith('"') ? quoted.slice(1, -1).replace(/\\(.)/g, '$1') : quoted;
      if (last !== undefined && mark !== undefined) {
        last.domain = (mark === '' ? text : text.slice(text.lastIndexOf(mark) + 1)).toLowerCase();
      }
    }
  }
  const of = (method: string, counts: (result: string) => boolean): Verdict => {
    const all = found.filter((one) => one.method === method);
    const { result, domain } = all.find((one) => counts(one.result)) ?? all[0] ?? NO_VERDICT;
    return { result: result as Verdict['result'], domain };
  };
  const passes = (result: string) => result === 'pass';
  return { spf: of('spf', passes), dkim: of('dkim', passes), dmarc: of('dmarc', (result) => !passes(result)) };
}

/**
 * Returns true when a field of an incoming message names `host` as its authserv-id: Mansio did not write such a field and removes it (RFC
 * 8601 §5). `value` follows the colon. A malformed field counts when it contains the name.
 */
export function claimsToBeFrom(host: string, value: string): boolean {
  const name = host.toLowerCase();
  const id = authservId(value);
  if (id === undefined) return value.toLowerCase().includes(name);
  return id.toLowerCase().replace(/\.$/, '') === name;
}

/** Returns undefined when the field is malformed. */
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
