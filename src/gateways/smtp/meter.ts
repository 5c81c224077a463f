// Port: what this gateway counts for those who watch a node. Called once a message or refusal; it must not throw.

export interface SmtpMeter {
  /** `placed` of the `mailboxes` it goes to had it when the sender got the reply, the others get it later. */
  accepted(message: { readonly octets: number; readonly mailboxes: number; readonly placed: number }): void;
  /** A sender, a recipient or a message; `reason` is one of a few words. */
  refused(reason: string, code: number): void;
  /** From the end of DATA to the reply. */
  replied(accepted: boolean, ms: number): void;
}

export const NO_METER: SmtpMeter = { accepted: () => {}, refused: () => {}, replied: () => {} };
