// Problem details (RFC 9457): the one table of the titles and definitions of statuses, for the bodies of every gateway that answers over
// HTTP. Each gateway decides which fault becomes which status.

const RFC9110 = 'https://www.rfc-editor.org/rfc/rfc9110#section-';
const RFC6585 = 'https://www.rfc-editor.org/rfc/rfc6585#section-';

const KINDS = {
  400: ['Bad Request', `${RFC9110}15.5.1`],
  401: ['Unauthorized', `${RFC9110}15.5.2`],
  403: ['Forbidden', `${RFC9110}15.5.4`],
  404: ['Not Found', `${RFC9110}15.5.5`],
  405: ['Method Not Allowed', `${RFC9110}15.5.6`],
  408: ['Request Timeout', `${RFC9110}15.5.9`],
  409: ['Conflict', `${RFC9110}15.5.10`],
  410: ['Gone', `${RFC9110}15.5.11`],
  412: ['Precondition Failed', `${RFC9110}15.5.13`],
  413: ['Content Too Large', `${RFC9110}15.5.14`],
  414: ['URI Too Long', `${RFC9110}15.5.15`],
  415: ['Unsupported Media Type', `${RFC9110}15.5.16`],
  421: ['Misdirected Request', `${RFC9110}15.5.20`],
  426: ['Upgrade Required', `${RFC9110}15.5.22`],
  429: ['Too Many Requests', `${RFC6585}4`],
  431: ['Request Header Fields Too Large', `${RFC6585}5`],
  500: ['Internal Server Error', `${RFC9110}15.6.1`],
  501: ['Not Implemented', `${RFC9110}15.6.2`],
  502: ['Bad Gateway', `${RFC9110}15.6.3`],
  503: ['Service Unavailable', `${RFC9110}15.6.4`],
  // RFC 4918.
  507: ['Insufficient Storage', 'https://www.rfc-editor.org/rfc/rfc4918#section-11.5'],
} as const;

export type ProblemStatus = keyof typeof KINDS;
/** The faults by field name (or `body`). */
export type FieldErrors = Readonly<Record<string, readonly string[]>>;

export const PROBLEM_TYPE = 'application/problem+json';

/** The body as text. */
export function problemBody(status: ProblemStatus, detail?: string, errors?: FieldErrors): string {
  const [title, type] = KINDS[status];
  return JSON.stringify({ type, title, status, detail, errors });
}
