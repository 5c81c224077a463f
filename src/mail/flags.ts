// System flags of an email (RFC 9051 §2.3.2) as bits; `\Deleted` is of a placement, not of the email.

export const SEEN = 1;
export const ANSWERED = 2;
export const FLAGGED = 4;
export const DRAFT = 8;
