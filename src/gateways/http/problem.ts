// Error replies (problem details, RFC 9457), and the table from refusals of the mailbox and faults to statuses.

import { Fault } from '../../concurrency/fault.js';
import { sanitizedLine } from '../../mail-format/reports/report-text.js';
import type { RefusingJudgement } from '../../message-checks/content-check.js';
import type { Scope } from '../../store/directory.js';
import { faultKind, type MailboxRefusal } from '../faults.js';
import { type FieldErrors, PROBLEM_TYPE, type ProblemStatus, problemBody } from '../problem-details.js';
import { BodyError, type HeaderField, type HttpReply } from './exchange.js';
import { API_POLICY, SECURITY_HEADERS } from './pipeline/security-headers.js';

interface Particulars {
  readonly detail?: string;
  readonly errors?: FieldErrors;
  readonly headers?: readonly HeaderField[];
}

/** An error reply; handlers return it or throw it. */
export class Problem {
  readonly status: ProblemStatus;
  readonly detail: string | undefined;
  readonly errors: FieldErrors | undefined;
  readonly headers: readonly HeaderField[];

  constructor(status: ProblemStatus, particulars: Particulars = {}) {
    this.status = status;
    this.detail = particulars.detail;
    this.errors = particulars.errors;
    this.headers = particulars.headers ?? [];
  }
}

/** The anonymous account does not act for this request. */
export const notForAnonymous = (detail: string): Problem => new Problem(403, { detail });

export const notFound = (): Problem => new Problem(404);

export const invalid = (errors: FieldErrors): Problem =>
  new Problem(400, { detail: 'The request does not have the form this endpoint takes; see errors.', errors });

const RETRY_AFTER_SECONDS = 2;

/** 503 for a fault that is temporary and not the client's. */
export const unavailable = (): Problem =>
  new Problem(503, {
    detail: 'This cannot be served right now; the same request may succeed in a moment.',
    headers: [['Retry-After', String(RETRY_AFTER_SECONDS)]],
  });

const LATER_SECONDS = 60;

/** Converts the verdict of a content check about a message to send: 400 for a refusal, 503 when it is to be sent again later. */
export function contentRefused({ verdict, reply }: RefusingJudgement): Problem {
  const reason = sanitizedLine(reply);
  if (verdict === 'refuse') return new Problem(400, { detail: `The message is refused: ${reason}` });
  return new Problem(503, {
    detail: `The message is not taken now: ${reason}`,
    headers: [['Retry-After', String(LATER_SECONDS)]],
  });
}

export function problemReply(problem: Problem): HttpReply & { readonly body: Uint8Array } {
  return {
    status: problem.status,
    headers: [
      ...SECURITY_HEADERS,
      API_POLICY,
      ['Cache-Control', 'no-store'],
      ['Content-Type', PROBLEM_TYPE],
      ...problem.headers,
    ],
    body: Buffer.from(problemBody(problem.status, problem.detail, problem.errors)),
  };
}

const REFUSALS: Readonly<Record<MailboxRefusal, ProblemStatus>> = {
  noSuchEmail: 404,
  noSuchLabel: 404,
  noSuchFilter: 404,
  noSuchFolder: 404,
  noSuchThread: 404,
  noSuchOutbound: 404,
  noSuchSuppression: 404,
  outboundUnderWay: 409,
  // Routes without If-Match read the draft again.
  draftChanged: 412,
  // Routes name the field that these refusals concern.
  nameTaken: 400,
  nameTooLong: 400,
  nameHasSlash: 400,
  tooMany: 400,
  tooManyEmails: 400,
  tooManyKeywords: 400,
  tooManyExpressions: 400,
  tooManyRuns: 409,
  noSuchRun: 404,
  noSuchScript: 404,
  scriptActive: 409,
  tooManyScripts: 400,
  scriptExists: 400,
  scriptTooLarge: 400,
  tooLarge: 413,
  overQuota: 507,
  sendingSuspended: 403,
  // Routes that send say which limit it is, and when to try again.
  overLimit: 429,
  overMessageLimit: 400,
  searchTooLarge: 400,
  noSuchFlag: 400,
  noSuchParent: 400,
  noSuchSource: 400,
  intoItself: 400,
  systemFolder: 400,
  // Refusals of operations that HTTP never calls.
  notUnclaimed: 500,
  attemptUnderWay: 500,
  unstored: 500,
};

const DETAILS: Readonly<Partial<Record<MailboxRefusal, string>>> = {
  outboundUnderWay: 'It is under way; cancel it first.',
  scriptActive: 'It is the active script; change it with isActive false, or activate another one, first.',
  overQuota: 'The mailbox is full: delete mail, or ask the operator for more room.',
  sendingSuspended: 'Sending is suspended.',
};

/** Converts a refusal of the mailbox into the reply that an HTTP client gets. */
export function refused(refusal: MailboxRefusal): Problem {
  const [status, detail] = [REFUSALS[refusal] ?? 500, DETAILS[refusal]];
  return status === 503 ? unavailable() : new Problem(status, detail === undefined ? {} : { detail });
}

/** Converts anything thrown while a request is handled into a reply; `bug` marks a defect, which is logged. */
export function problemOf(error: unknown): { readonly problem: Problem; readonly bug: boolean } {
  if (error instanceof Problem) return { problem: error, bug: false };
  if (error instanceof BodyError) return { problem: bodyProblem(error), bug: false };
  switch (faultKind(error)) {
    case 'unavailable':
    case 'no-room':
      if (error instanceof Fault && error.temporary) return { problem: unavailable(), bug: false };
      break;
    case 'no-account':
      return { problem: unauthenticated('invalid_token'), bug: false };
  }
  return { problem: new Problem(500), bug: true };
}

function bodyProblem(fault: BodyError): Problem {
  switch (fault.reason) {
    case 'too-large':
      return new Problem(413, { detail: 'The body is larger than this endpoint takes.' });
    case 'too-slow':
      return new Problem(408, { detail: 'The body did not arrive in time.', headers: [['Connection', 'close']] });
    case 'gone':
      return new Problem(400, { detail: 'The body did not arrive.' });
  }
}

/** 401 with the challenge of RFC 6750 §3; the error code is omitted when no credential was sent. */
export function unauthenticated(error?: 'invalid_token'): Problem {
  return new Problem(401, {
    detail: error === undefined ? 'This endpoint needs an API key or an access token.' : 'The credential is not valid.',
    headers: [['WWW-Authenticate', error === undefined ? 'Bearer' : `Bearer error="${error}"`]],
  });
}

export const tooMany = (waitSeconds: number): Problem =>
  new Problem(429, {
    detail: 'Too many requests a minute; see Retry-After.',
    headers: [['Retry-After', String(waitSeconds)]],
  });

/** 403 with the error code of RFC 6750 §3.1: the credential is valid, but its scopes are not enough. */
export function insufficientScope(scopes: readonly Scope[]): Problem {
  return new Problem(403, {
    detail: `The credential needs one of these scopes: ${scopes.join(', ')}.`,
    headers: [['WWW-Authenticate', `Bearer error="insufficient_scope", scope="${scopes.join(' ')}"`]],
  });
}
