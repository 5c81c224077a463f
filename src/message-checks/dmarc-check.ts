// The content check of DMARC (RFC 9989 §7): what becomes of a message that fails the policy of its author's domain. The authenticator
// (src/message-checks/mailauth) finds the policy; the operator chooses with MANSIO_DMARC_REJECT whether it is obeyed.
import type { Authenticated } from '../mail-format/authentication/authentication.js';
import type { ContentCheck, Verdict } from './content-check.js';

/** `tag` puts mail that fails a policy into Junk; `reject` refuses it if the policy says so; `none` accepts it. */
export type DmarcSetting = 'tag' | 'reject' | 'none';

const REPLY = 'Refused by DMARC: no author, or not from the domain of its author';

/** Counts messages for the reports to the owners of policies. It must not throw. */
export interface DmarcCounts {
  add(
    evaluation: NonNullable<Authenticated['evaluation']>,
    disposition: 'none' | 'quarantine' | 'reject',
    remoteAddress: string,
  ): void;
}

const DISPOSITIONS = { accept: 'none', junk: 'quarantine', refuse: 'reject' } as const;

/** `counts`: absent when this server sends no reports. */
export function dmarcCheck(setting: DmarcSetting, counts?: DmarcCounts): ContentCheck {
  return {
    name: 'dmarc',
    deadlineMs: 1_000,
    onFault: 'skip',
    check({ authenticated }, _, { remoteAddress }): Verdict {
      const verdict = verdictOf(setting, authenticated?.failedPolicy ?? 'none');
      if (authenticated?.evaluation !== undefined)
        counts?.add(authenticated.evaluation, DISPOSITIONS[verdict.verdict], remoteAddress);
      return verdict;
    },
  };
}

function verdictOf(setting: DmarcSetting, policy: Authenticated['failedPolicy']) {
  if (setting === 'none' || policy === 'none') return { verdict: 'accept' } as const;
  if (setting === 'reject' && policy === 'reject') return { verdict: 'refuse', reply: REPLY } as const;
  return { verdict: 'junk' } as const;
}
