// What the checks of the MX prove about the sender of an email, in the one sentence that a reader needs.
import type { Authentication } from '../../../src/client/index.js';

export interface Proof {
  /**
   * `signed`: the domain signed it. `confirmed`: its policy is met, or a server that it names sent it. `failed`: the domain says that such mail is not its own.
   * `unproven`: nothing says who sent it.
   */
  readonly kind: 'signed' | 'confirmed' | 'failed' | 'unproven';
  readonly domain: string;
}

/** Undefined for mail that was not checked: it did not come from elsewhere. */
export function proofOf({ spf, dkim, dmarc }: Authentication, fromAddress: string): Proof | undefined {
  const from = fromAddress.slice(fromAddress.lastIndexOf('@') + 1).toLowerCase();
  const checks = [spf, dkim, dmarc];
  if (checks.every(({ result, domain }) => result === 'none' && domain === '')) return undefined;
  if (dmarc.result === 'fail') return { kind: 'failed', domain: from };
  const isOwn = (domain: string) => isWithin(from, domain) || isWithin(domain, from);
  if (dkim.result === 'pass' && isOwn(dkim.domain)) return { kind: 'signed', domain: dkim.domain };
  if (dmarc.result === 'pass' || (spf.result === 'pass' && isOwn(spf.domain)))
    return { kind: 'confirmed', domain: from };
  if (spf.result === 'fail' && isOwn(spf.domain)) return { kind: 'failed', domain: from };
  return { kind: 'unproven', domain: from };
}

function isWithin(domain: string, parent: string): boolean {
  // A name without a dot is the top of many domains.
  return parent.includes('.') && (domain === parent || domain.endsWith(`.${parent}`));
}
