// Content checks of messages that are sent over HTTP: the same that SMTP submission asks (decision 0072).
import type { SpooledContent } from '../../../../message-content/spool/spool.js';
import { contentRefused } from '../../problem.js';
import type { OutboundSources, OutgoingHeader } from './outbound-sending.js';
import type { Sender } from './sender.js';

/** Asks the content checks, which SMTP submission asks too. @throws Problem 400, 503 */
export async function judge(
  { contentChecks }: OutboundSources,
  { chunks }: SpooledContent,
  id: string,
  { from, addressees }: OutgoingHeader,
  { remoteAddress, sender }: { readonly remoteAddress: string; readonly sender: Sender },
): Promise<void> {
  const envelope = { id, sender: from, recipients: addressees.map(({ address }) => address) };
  const peer = { remoteAddress, helo: '', accountId: sender.accountId, user: sender.email };
  const judgement = await contentChecks.judge({ authenticated: undefined, chunks }, envelope, peer);
  if ('reply' in judgement) throw contentRefused(judgement);
}
