// System flags of an email (RFC 9051 §2.3.2) as bits; `\Deleted` is of a placement, not of the email. 2, 4 and 8 are kept
// for `\Answered`, `\Flagged` and `\Draft`.

export const SEEN = 1;
