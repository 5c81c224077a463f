// The words for outbound mail and its recipients, listed once: the machines, the store, the mailbox's protocol, the CLI and the OpenAPI
// document derive theirs from these lists.

export const OUTBOUND_STATUSES = ['Draft', 'Queued', 'Sending', 'Sent', 'Failed'] as const;
export type OutboundStatus = (typeof OUTBOUND_STATUSES)[number];

export const RECIPIENT_TYPES = ['To', 'Cc', 'Bcc'] as const;
export type RecipientType = (typeof RECIPIENT_TYPES)[number];

export const RECIPIENT_STATUSES = ['Pending', 'Delivered', 'Failed'] as const;
export type RecipientStatus = (typeof RECIPIENT_STATUSES)[number];

/** The result of an attempt for a recipient. */
export const OUTCOMES = ['delivered', 'temporary', 'permanent'] as const;
export type OutcomeKind = (typeof OUTCOMES)[number];

/** The error of a recipient to whom nothing is sent, because an earlier email to the address bounced for good. */
export const SUPPRESSED = 'suppressed';

/**
 * The statements of a delivery status notification about its recipients (RFC 3464 §2.3.3): they failed, are not delivered yet, have the
 * message, or were relayed to a host that sends no notifications.
 */
export const DSN_KINDS = ['failed', 'delayed', 'delivered', 'relayed'] as const;
export type DsnKind = (typeof DSN_KINDS)[number];
