// The vacation of an account: what it answers while its owner is away (docs/interface/mail.md, "Vacation"). It is one of the choices of the
// account, and whom it has answered is state of the mailbox.

export interface Vacation {
  readonly isEnabled: boolean;
  /** ms since the epoch; null: at once, or without an end. */
  readonly startsAt: number | null;
  readonly endsAt: number | null;
  /** Null: made from the subject of the message. */
  readonly subject: string | null;
  readonly textBody: string | null;
  readonly htmlBody: string | null;
  /** A sender gets one answer in this many days. */
  readonly intervalDays: number;
  /** A change of the text, or enabling, begins a period: senders of an earlier period get an answer again. */
  readonly period: string;
}

export const NO_VACATION: Vacation = {
  isEnabled: false,
  startsAt: null,
  endsAt: null,
  subject: null,
  textBody: null,
  htmlBody: null,
  intervalDays: 7,
  period: '',
};

/** `now`: ms since the epoch. */
export function isAway({ isEnabled, startsAt, endsAt }: Vacation, now: number): boolean {
  return isEnabled && (startsAt === null || startsAt <= now) && (endsAt === null || now < endsAt);
}

/** A sender who has got a reply. */
export interface Answered {
  /** The period and the address. */
  readonly key: string;
  /** When the sender may get another answer, in ms since the epoch. */
  readonly until: number;
}
