// The content check of DMARC (RFC 9989 §7): what becomes of a message that fails the policy of its author's domain. The authenticator
// (src/message-checks/mailauth) finds the policy; the operator chooses with MANSIO_DMARC_REJECT whether it is obeyed.
import type { ContentCheck, Verdict } from './content-check.js';

/** `tag` puts mail that fails a policy into Junk; `reject` refuses it if the policy says so; `none` accepts it. */
export type DmarcSetting = 'tag' | 'reject' | 'none';

const REPLY = 'Refused by DMARC: no author, or not from the domain of its author';

export function dmarcCheck(setting: DmarcSetting): ContentCheck {
  return {
    name: 'dmarc',
    deadlineMs: 1_000,
    onFault: 'skip',
    check({ authenticated }): Verdict {
      const policy = authenticated?.failedPolicy ?? 'none';
      if (setting === 'none' || policy === 'none') return { verdict: 'accept' };
      if (setting === 'reject' && policy === 'reject') return { verdict: 'refuse', reply: REPLY };
      return { verdict: 'junk' };
    },
  };
}
