// Which sudden change in what an account sends suspends it: many recipients to whom it has never written, or many that other servers refuse.
// Both happen when a stranger has the credentials of the account, or its list of addresses is bought or old.
import type { SendingCounts } from '../../store/limits/sending.js';

/** 0: the change does not suspend. */
export interface SuddenChangeRule {
  /** The most recipients in an hour to whom the account has never written. */
  readonly strangers: number;
  /** The most recipients in an hour that other servers refuse for good, when they are more than a quarter of all. */
  readonly refused: number;
}

const REFUSED_SHARE = 0.25;
/** After a suspension has ended, none begins by the rule for this time: somebody who knows has looked at it. */
const REST_MS = 86_400_000;

/** Returns the reason for a suspension; undefined without one. `hour`: the counts of an hour. */
export function suddenChange(hour: SendingCounts, rule: SuddenChangeRule): string | undefined {
  if (rule.strangers > 0 && hour.strangers > rule.strangers)
    return `more than ${rule.strangers} recipients within an hour to whom the account has never written`;
  if (rule.refused > 0 && hour.refused > rule.refused && hour.refused > REFUSED_SHARE * hour.recipients)
    return `more than ${rule.refused} recipients within an hour that other servers refuse`;
  return undefined;
}

/** Whether the rule applies. `resumedAt`: the end of the last suspension. Times are ms since the epoch. */
export const isRuleApplied = (resumedAt: number | null, now: number): boolean =>
  resumedAt === null || now >= resumedAt + REST_MS;
