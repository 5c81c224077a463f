// Problems of messages that limits of recipients or a suspension keep from being queued.
import { type SendingStatus, suspensionText } from '../../../../actors/sending/protocol.js';
import { invalid, Problem } from '../../problem.js';

type Sending = Pick<SendingStatus, 'suspensionOf' | 'delayOf'>;

/** @throws StoreFault */
export async function suspendedProblem(sending: Sending, accountId: string): Promise<Problem> {
  const suspension = await sending.suspensionOf(accountId);
  return new Problem(403, { detail: `${suspension === null ? 'Sending is suspended' : suspensionText(suspension)}.` });
}

/** `recipients`: the number of recipients of the message. @throws StoreFault */
export async function limitProblem(
  sending: Sending,
  accountId: string,
  refusal: 'sendingSuspended' | 'overLimit' | 'overMessageLimit',
  recipients: number,
): Promise<Problem> {
  if (refusal === 'sendingSuspended') return suspendedProblem(sending, accountId);
  const { detail, retryAfter } = await sending.delayOf(accountId, recipients);
  if (refusal === 'overMessageLimit') return invalid({ recipients: [detail] });
  return new Problem(429, { detail, headers: [['Retry-After', String(retryAfter)]] });
}
