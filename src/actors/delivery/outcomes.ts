// Outcomes that a delivery itself sets for the recipients of a domain. Pure.
import type { DeliveryReport } from './delivery-transport.js';

type Recipients = readonly { readonly id: string }[];

/** RFC 3463 §3.5: the fault is ours. */
const OUR_FAULT = '4.3.0';
/** RFC 3463 §3.5: no answer from host. */
const NO_ANSWER = '4.4.1';

/** No host was reachable a moment ago, for another message. */
export function unreachableAgain(recipients: Recipients, text: string): DeliveryReport {
  return temporary(recipients, `${text} (found out for another message a moment before)`, NO_ANSWER);
}

/** An error of ours prevented the attempt. */
export function failedBy(recipients: Recipients): DeliveryReport {
  return temporary(recipients, 'The message could not be read or sent because of a fault on our side.', OUR_FAULT);
}

/** Keeps what an interrupted attempt has found out: final outcomes, and which host may have the message. */
export function withoutTemporary({ outcomes, attempts }: DeliveryReport): DeliveryReport {
  const known = outcomes.filter((outcome) => outcome.kind !== 'temporary' || outcome.doubtfulHost !== undefined);
  return { outcomes: known, attempts };
}

function temporary(recipients: Recipients, text: string, statusCode: string): DeliveryReport {
  const outcomes = recipients.map(({ id }) => ({
    kind: 'temporary' as const,
    recipientId: id,
    text,
    statusCode,
    host: null,
  }));
  return { outcomes, attempts: [] };
}
