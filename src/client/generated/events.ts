// The events and calls of the hub. `npm run docs` writes this file from the AsyncAPI document.
import type { DeliveryAttempt, EmailListItem, Forwarding, PreferenceChanges, Senders } from './rest.js';

/** The payload of each event of the account, by the name of the event. */
export interface EventPayloads {
  /** A new email was placed for the account */
  readonly NewEmail: {
    readonly id: string;
    readonly from: string;
    readonly fromDisplay: string;
    readonly subject: string;
    readonly receivedAt: string;
    readonly hasAttachments: boolean;
  };
  /** An email was marked read or unread */
  readonly EmailUpdated: {
    readonly id: string;
    readonly isRead: boolean;
  };
  /** An email was deleted; the payload is its id */
  readonly EmailDeleted: string;
  /** The unread emails of the inbox are another number, which is the payload, or emails were marked or deleted */
  readonly UnreadCountChanged: number;
  /** An outbound email has a new status */
  readonly DeliveryStatusChanged: {
    readonly id: string;
    readonly status: 'Draft' | 'Queued' | 'Sending' | 'Sent' | 'Failed';
  };
  /** A host was tried for an outbound email. On the hub for connections whose address has `timeline=true` */
  readonly DeliveryAttempted: {
    readonly id: string;
    readonly attempt: DeliveryAttempt;
  };
  /** A label was made. On the hub for connections whose address has `changes=true` */
  readonly LabelCreated: {
    readonly id: string;
    readonly name: string;
    readonly color: string;
    readonly sortOrder: number;
  };
  /** A label was changed. On the hub for connections whose address has `changes=true` */
  readonly LabelUpdated: {
    readonly id: string;
    readonly name: string;
    readonly color: string;
    readonly sortOrder: number;
  };
  /** A label was deleted; no email carries it any more. On the hub for connections whose address has `changes=true` */
  readonly LabelDeleted: {
    readonly id: string;
  };
  /** A draft was made. On the hub for connections whose address has `changes=true` */
  readonly DraftCreated: {
    readonly id: string;
  };
  /** A draft was changed. On the hub for connections whose address has `changes=true` */
  readonly DraftUpdated: {
    readonly id: string;
  };
  /** A draft was deleted. On the hub for connections whose address has `changes=true` */
  readonly DraftDeleted: {
    readonly id: string;
  };
  /** Flags of an email beyond the read one changed. On the hub for connections whose address has `changes=true` */
  readonly EmailFlagsChanged: {
    readonly id: string;
    readonly isRead: boolean;
    readonly isFlagged: boolean;
    readonly isAnswered: boolean;
    readonly flags: readonly string[];
    readonly keywords?: readonly string[] | undefined;
  };
  /** A folder of the user was made. On the hub for connections whose address has `changes=true` */
  readonly FolderCreated: {
    readonly id: string;
    readonly path: string;
    readonly isSubscribed: boolean;
  };
  /** A folder of the user was changed. On the hub for connections whose address has `changes=true` */
  readonly FolderUpdated: {
    readonly id: string;
    readonly path: string;
    readonly isSubscribed: boolean;
  };
  /** A folder was deleted. On the hub for connections whose address has `changes=true` */
  readonly FolderDeleted: {
    readonly id: string;
  };
  /** An email was placed in a folder or got a label. On the hub for connections whose address has `changes=true` */
  readonly EmailPlaced: {
    readonly id: string;
    readonly folderId: string;
  };
  /** A placement of an email ended. On the hub for connections whose address has `changes=true` */
  readonly EmailUnplaced: {
    readonly id: string;
    readonly folderId: string;
  };
  /** Preferences were chosen; the payload has the chosen values. On the hub for connections whose address has `changes=true` */
  readonly PreferencesChanged: PreferenceChanges;
  /** The lists of allowed and blocked senders were replaced. On the hub for connections whose address has `changes=true` */
  readonly SendersChanged: Senders;
  /** The forwarding of the account was changed. On the hub for connections whose address has `changes=true` */
  readonly ForwardingChanged: Forwarding;
  /** The vacation of the account was changed, perhaps only its texts, which REST has. On the hub for connections whose address has `changes=true` */
  readonly VacationChanged: {
    readonly isEnabled: boolean;
    readonly startsAt: string | null;
    readonly endsAt: string | null;
    readonly intervalDays: number;
  };
  /** A filter was made, changed, moved or deleted; not when mail is filtered. On the hub for connections whose address has `changes=true` */
  readonly FiltersChanged: {
    readonly id: string;
  };
  /** A Sieve script was stored or deleted, or is the active one now; null: none is active any more. On the hub for connections whose address has `changes=true` */
  readonly ScriptsChanged: {
    readonly name: string | null;
  };
  /** Emails to an address bounced for good, so that nothing is sent to it, or it may be written to again. On the hub for connections whose address has `changes=true` */
  readonly SuppressionsChanged: {
    readonly address: string;
    readonly isSuppressed: boolean;
  };
}

/** The payloads of events of the hub that are not in the log. */
export interface HubEventPayloads {
  /** The limits of the account were set, or it has become full, nearly full, or neither: `/api/quota` has others now. On the hub for connections whose address has `changes=true` */
  readonly QuotaChanged: {
  };
  /** The account was suspended from sending or may send again: `/api/profile` tells which. On the hub for connections whose address has `changes=true` */
  readonly SendingChanged: {
  };
  /** An outbound email that is due waits for the node that delivers, or for `domain`; `position` emails are before it. On the hub for connections whose address has `timeline=true` */
  readonly QueuePositionChanged: {
    readonly id: string;
    readonly position: number;
    readonly domain?: string | undefined;
  };
  /** A browser was signed in to the account or out of it: `/api/sessions` lists others now. On the hub for connections whose address has `sessions=true` */
  readonly SessionsChanged: {
  };
  /** After each batch of events, where the address has `resume=true`: the cursor to keep */
  readonly Position: string;
  /** A list that the client has subscribed to has changed; the members are the arguments of the message, in this order */
  readonly ListChanged: {
    readonly subscriptionId: string;
    readonly changes: readonly ({
      readonly type: 'removed';
      readonly index: number;
      readonly id: string;
    } | {
      readonly type: 'inserted';
      readonly index: number;
      readonly item: EmailListItem;
    } | {
      readonly type: 'changed';
      readonly index: number;
      readonly item: EmailListItem;
    } | {
      readonly type: 'counted';
      readonly total: number;
      readonly unread: number;
    } | {
      readonly type: 'ended';
      readonly error: string;
    })[];
  };
}

/** The calls of the hub. */
export interface HubCalls {
  /** Begins the events after a cursor; null: from now. Needs `resume=true` in the address */
  readonly Resume: {
    readonly argument: string | null;
    readonly result: {
      readonly cursor: string;
      readonly complete: boolean;
    };
  };
  /** Gives a page of a list, and then its changes. The query has the parameters of the lists of REST */
  readonly Subscribe: {
    readonly argument: { readonly [name: string]: unknown };
    readonly result: {
      readonly subscriptionId: string;
      readonly items: readonly EmailListItem[];
      readonly total: number;
      readonly unread: number;
    };
  };
  /** Ends a subscription */
  readonly Unsubscribe: {
    readonly argument: string;
    readonly result: null;
  };
}
