// What a sender asks to be told of a message (RFC 3461): when for which recipient, and what of the message comes back.
import type { ReportKind } from './outbound-status.js';

export const NOTIFY_CONDITIONS = ['SUCCESS', 'FAILURE', 'DELAY'] as const;
type NotifyCondition = (typeof NOTIFY_CONDITIONS)[number];

/** Conditions of NOTIFY; none for NEVER. null: the sender did not say, and hears of failures and delays (RFC 3461 §4.1). */
export type Notify = readonly NotifyCondition[] | null;

export const NEVER: Notify = [];

export const DSN_RETURNS = ['FULL', 'HDRS'] as const;
type DsnReturn = (typeof DSN_RETURNS)[number];

export interface RecipientDsnRequest {
  readonly notify: Notify;
  /** As it came, `rfc822;a@example.test` in xtext decoded; null without one. */
  readonly orcpt: string | null;
}

export interface DsnRequest {
  readonly ret: DsnReturn | null;
  /** Decoded from xtext; null without one. */
  readonly envid: string | null;
}

const CONDITIONS: Readonly<Record<ReportKind, NotifyCondition>> = {
  failed: 'FAILURE',
  delayed: 'DELAY',
  delivered: 'SUCCESS',
  relayed: 'SUCCESS',
};

export function wantsReport(notify: Notify, kind: ReportKind): boolean {
  const condition = CONDITIONS[kind];
  return notify === null ? condition !== 'SUCCESS' : notify.includes(condition);
}
