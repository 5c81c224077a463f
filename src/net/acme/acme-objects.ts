// The JSON objects of an ACME server (RFC 8555 §7.1, RFC 9773), as far as the client uses them. The reader refuses anything else, because a
// server may send anything.
import { AcmeFault, type AcmeFaultType } from './acme-fault.js';
import type { AcmeReply } from './acme-request.js';

export interface AcmeDirectory {
  readonly newNonce: string;
  readonly newAccount: string;
  readonly newOrder: string;
  readonly renewalInfo: string | undefined;
}

export interface Challenge {
  readonly type: string;
  readonly url: string;
  readonly token: string;
  readonly error: unknown;
}

export interface Authorization {
  readonly status: string;
  readonly name: string;
  readonly challenges: readonly Challenge[];
}

export interface Order {
  readonly status: string;
  readonly authorizations: readonly string[];
  readonly finalize: string;
  readonly certificate: string | undefined;
  readonly error: unknown;
}

/** ms since the epoch. */
export interface RenewalWindow {
  readonly start: number;
  readonly end: number;
}

type Fields = Readonly<Record<string, unknown>>;

const MOST_AUTHORIZATIONS = 200;
const LONGEST_TEXT = 2048;
/** RFC 8555 §8.3: base64url without padding. */
const TOKEN = /^[\w-]{1,128}$/;

export function directoryOf(reply: AcmeReply): AcmeDirectory {
  const fields = fieldsOf(reply);
  const { renewalInfo } = fields;
  return {
    newNonce: textOf(fields, 'newNonce'),
    newAccount: textOf(fields, 'newAccount'),
    newOrder: textOf(fields, 'newOrder'),
    renewalInfo: renewalInfo === undefined ? undefined : textOf(fields, 'renewalInfo'),
  };
}

export function orderOf(reply: AcmeReply): Order {
  const fields = fieldsOf(reply);
  const { authorizations, certificate, error } = fields;
  if (!Array.isArray(authorizations) || authorizations.length > MOST_AUTHORIZATIONS) throw unusable('authorizations');
  return {
    status: textOf(fields, 'status'),
    authorizations: authorizations.map((url) => textOf({ url }, 'url')),
    finalize: textOf(fields, 'finalize'),
    certificate: certificate === undefined ? undefined : textOf(fields, 'certificate'),
    error,
  };
}

export function authorizationOf(reply: AcmeReply): Authorization {
  const fields = fieldsOf(reply);
  const { identifier, challenges } = fields;
  if (!isFields(identifier)) throw unusable('identifier');
  if (!Array.isArray(challenges) || challenges.length > MOST_AUTHORIZATIONS) throw unusable('challenges');
  return {
    status: textOf(fields, 'status'),
    name: textOf(identifier, 'value'),
    challenges: challenges.flatMap(challengeOf),
  };
}

/** Challenges of types that are not known here need not have a token. */
function challengeOf(value: unknown): Challenge[] {
  if (!isFields(value)) throw unusable('challenges');
  const { type, url, token, error } = value;
  if (typeof type !== 'string' || typeof url !== 'string' || typeof token !== 'string' || !TOKEN.test(token)) return [];
  return [{ type, url, token, error }];
}

export function windowOf(reply: AcmeReply): RenewalWindow {
  const { suggestedWindow } = fieldsOf(reply);
  if (!isFields(suggestedWindow)) throw unusable('suggestedWindow');
  const [start, end] = [Date.parse(textOf(suggestedWindow, 'start')), Date.parse(textOf(suggestedWindow, 'end'))];
  if (!(start <= end)) throw unusable('suggestedWindow');
  return { start, end };
}

/** The fault that a problem document describes; `status` stands in for one without a type. */
export function problemFault(value: unknown, what: string, retryAfterMs?: number): AcmeFault {
  if (!isFields(value) || typeof value['type'] !== 'string') return new AcmeFault('reply', what, { retryAfterMs });
  const { type, detail } = value;
  const said = typeof detail === 'string' ? detail : what;
  const known: AcmeFaultType = type.startsWith('urn:') ? (type.slice(0, 200) as AcmeFaultType) : 'reply';
  return new AcmeFault(known, `${said}${namesIn(value)}`, { retryAfterMs });
}

/** The names that the sub-problems concern (RFC 8555 §6.7.1). */
function namesIn({ subproblems }: Fields): string {
  if (!Array.isArray(subproblems)) return '';
  const each = subproblems.slice(0, 5).flatMap((problem) => {
    if (!isFields(problem) || !isFields(problem['identifier'])) return [];
    return [`${problem['identifier']['value']}: ${problem['detail']}`];
  });
  return each.length === 0 ? '' : ` (${each.join('; ')})`;
}

export function fieldsOf({ headers, body }: AcmeReply): Fields {
  if (!/^application\/(?:problem\+)?json\s*(?:;|$)/i.test(headers['content-type'] ?? '')) {
    throw new AcmeFault('reply', `the reply is ${headers['content-type'] ?? 'of no type'}, not JSON`);
  }
  let value: unknown;
  try {
    value = JSON.parse(body.toString('utf8'));
  } catch (cause) {
    throw new AcmeFault('reply', 'the reply is no JSON', { cause });
  }
  if (!isFields(value)) throw new AcmeFault('reply', 'the reply is no JSON object');
  return value;
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function textOf(fields: Fields, name: string): string {
  const value = fields[name];
  if (typeof value !== 'string' || value.length > LONGEST_TEXT) throw unusable(name);
  return value;
}

function unusable(name: string): AcmeFault {
  return new AcmeFault('reply', `the reply has no usable "${name}"`);
}
