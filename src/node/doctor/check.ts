// The rows of `mansio doctor`: a check has a name and a function from what it looks at to its findings. A new check is one more row in
// `checks.ts`. The runner gives each its time, runs all at once, and turns a failure of a check into a finding.

import { inTime } from '../../concurrency/time-bounds.js';
import { StoreFault } from '../../store/errors.js';
import type { DomainRecords } from '../domains/domain-records.js';
import { type CheckResult, type Finding, reasonOf, warn } from './finding.js';
import type { DoctorSubject } from './subject.js';

/** A check of this node and its cluster. */
export interface NodeCheck {
  readonly name: string;
  /** Undefined: it always applies. */
  applies?(subject: DoctorSubject): boolean;
  run(subject: DoctorSubject): Promise<readonly CheckResult[]>;
}

/** A hosted domain, and what `mansio domain show` prints for it. */
export interface CheckedDomain {
  readonly name: string;
  readonly plan: DomainRecords;
}

/** A check of one hosted domain; its finding has the domain as subject. */
export interface DomainCheck {
  readonly name: string;
  applies?(subject: DoctorSubject): boolean;
  run(domain: CheckedDomain, subject: DoctorSubject): Promise<CheckResult>;
}

class Late extends Error {}

/** Never rejects. `subject`: what the finding is about when the check does not end in time or fails. */
export async function runRow(
  check: string,
  subject: string,
  work: () => Promise<readonly CheckResult[]>,
  withinMs: number,
  again: string,
): Promise<readonly Finding[]> {
  let found: readonly CheckResult[];
  try {
    found = await inTime(work(), withinMs, () => new Late());
  } catch (error) {
    found = [unfinished(subject, error, withinMs, again)];
  }
  return found.map(({ subject: about, status, detail, fix }) => ({ check, subject: about, status, detail, fix }));
}

function unfinished(subject: string, error: unknown, withinMs: number, again: string): CheckResult {
  if (error instanceof Late)
    return warn(subject, `no answer within ${Math.round(withinMs / 1000)} s: not checked`, again);
  if (error instanceof StoreFault) return warn(subject, 'not checked: the database does not answer', again);
  return warn(subject, `not checked: ${reasonOf(error)}`, again);
}
