// Content checks of messages that are sent over HTTP: the same that SMTP submission asks (decision 0072).

import type { CheckChain } from '../../../../message-checks/check-chain.js';
import type { SpooledContent } from '../../../../message-content/spool/spool.js';
import { contentRefused } from '../../problem.js';
import type { Sender } from './sender.js';

interface CheckedSending {
  readonly id: string;
  /** The address of the author. */
  readonly from: string;
  readonly addressees: readonly { readonly address: string }[];
  /** The address of the client. */
  readonly remoteAddress: string;
  readonly sender: Sender;
}

/** Asks the content checks. @throws Problem 400, 503 */
export async function judge(
  contentChecks: Pick<CheckChain, 'judge'>,
  { chunks }: SpooledContent,
  { id, from, addressees, remoteAddress, sender }: CheckedSending,
): Promise<void> {
  const envelope = { id, sender: from, recipients: addressees.map(({ address }) => address) };
  const peer = { remoteAddress, helo: '', accountId: sender.accountId, user: sender.email };
  const judgement = await contentChecks.judge({ authenticated: undefined, chunks }, envelope, peer);
  if ('reply' in judgement) throw contentRefused(judgement);
}
