// The notifications that a sender asks for (RFC 3461): when and for which recipient, and how much of the message is returned.
import type { DsnKind } from '../outbound-status.js';

export const NOTIFY_CONDITIONS = ['SUCCESS', 'FAILURE', 'DELAY'] as const;
type NotifyCondition = (typeof NOTIFY_CONDITIONS)[number];

/** The conditions of NOTIFY; empty for NEVER. null: the sender gave none, and is told of failures and delays (RFC 3461 §4.1). */
export type Notify = readonly NotifyCondition[] | null;

export const NEVER: Notify = [];

export const DSN_RETURNS = ['FULL', 'HDRS'] as const;
type DsnReturn = (typeof DSN_RETURNS)[number];

export interface RecipientDsnRequest {
  readonly notify: Notify;
  /** The value as received, with its xtext decoded, such as `rfc822;a@example.test`; null when there is none. */
  readonly orcpt: string | null;
}

export interface DsnRequest {
  readonly ret: DsnReturn | null;
  /** Decoded from xtext; null when there is none. */
  readonly envid: string | null;
}

const CONDITIONS: Readonly<Record<DsnKind, NotifyCondition>> = {
  failed: 'FAILURE',
  delayed: 'DELAY',
  delivered: 'SUCCESS',
  relayed: 'SUCCESS',
};

export function wantsDsn(notify: Notify, kind: DsnKind): boolean {
  const condition = CONDITIONS[kind];
  return notify === null ? condition !== 'SUCCESS' : notify.includes(condition);
}
