// What is asked of a route and how it is to reply, and the ids that cases share.
import type { ExecutionContext } from 'ava';
import type { Scopes } from './fakes.js';
import type { Document } from './schema-check.js';

export const READ_ID = '018f0000-0000-7000-8000-000000000001';
export const BOBS_ID = '018f0000-0000-7000-8000-000000000004';
export const NO_ID = '018f0000-0000-7000-8000-0000000000cc';

export interface Case {
  readonly path?: string;
  /** Scopes of the key, when they are not `app`; `service` is a service-wide internal key. */
  readonly as?: readonly (Scopes[number] | 'service')[];
  readonly json?: unknown;
  readonly status: number;
  readonly check?: (t: ExecutionContext, body: Document, response: Response) => void;
}
