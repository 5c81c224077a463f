// Ports: counts of these gateways for the node's metrics. They are called once per message, refusal or login, and must not throw.

export interface ListenerMeter {
  /** Counts a refused sender, recipient or message; `reason` is one of a closed set of words. */
  refused(reason: string, code: number): void;
  /** `ms` runs from the end of DATA to the reply. */
  replied(accepted: boolean, ms: number): void;
}

export interface SmtpMeter extends ListenerMeter {
  /** `placed` of the `mailboxes` had the message when the sender got the reply; the others get it later. */
  accepted(message: { readonly octets: number; readonly mailboxes: number; readonly placed: number }): void;
}

export interface SubmissionMeter extends ListenerMeter {
  queued(message: { readonly octets: number; readonly recipients: number }): void;
}

const NO_LISTENER_METER: ListenerMeter = { refused: () => {}, replied: () => {} };
export const NO_METER: SmtpMeter = { ...NO_LISTENER_METER, accepted: () => {} };
export const NO_SUBMISSION_METER: SubmissionMeter = {
  ...NO_LISTENER_METER,
  queued: () => {},
};
