// The shapes and paths of REST. `npm run docs` writes this file from the OpenAPI document.

export interface EmailPage {
  readonly items: readonly EmailListItem[];
  readonly totalCount: number;
  readonly unreadCount: number;
  readonly page: number;
  readonly pageSize: number;
}

export interface EmailListItem {
  readonly id: string;
  readonly fromAddress: string;
  /** Present and true when the message names no author: `fromAddress` is the sender of its envelope */
  readonly fromIsEnvelopeSender?: boolean | undefined;
  readonly fromDisplayName: string;
  readonly subject: string;
  readonly receivedAt: string;
  readonly isRead: boolean;
  readonly isFlagged: boolean;
  readonly isAnswered: boolean;
  readonly threadId: string;
  readonly messageId: string;
  readonly sizeBytes: number;
  readonly folderIds: readonly string[];
  readonly labels: readonly LabelSummary[];
  /** The beginning of the text */
  readonly previewText: string;
  readonly hasAttachments: boolean;
  readonly attachmentCount: number;
  /** Id of the outbound email whose copy in Sent this is */
  readonly outboundId?: string | undefined;
  /** Id of the draft, for an email in Drafts */
  readonly draftId?: string | undefined;
  readonly to?: readonly Mailbox[] | undefined;
  readonly thread?: ThreadRow | undefined;
}

export interface LabelSummary {
  readonly id: string;
  readonly name: string;
  readonly color: string;
}

export interface Mailbox {
  readonly address: string;
  readonly displayName: string;
}

/** With `groupByThread`, where the folder has several emails of the thread: their number; the 19 newest ones and the first one, the newest first (`GET /api/emails/search/ids` with `rowsOf` gives all); and the senders of the first and the newest ones, oldest first. The item shows the newest one; `isRead`, `isFlagged`, `hasAttachments`, `folderIds` and `labels` are those of all */
export interface ThreadRow {
  readonly senders: readonly Mailbox[];
  /** How many emails the row has */
  readonly count: number;
  readonly emails: readonly ThreadRowEmail[];
}

export interface ThreadRowEmail {
  readonly id: string;
  readonly isRead: boolean;
  readonly isFlagged: boolean;
  readonly folderIds: readonly string[];
}

export interface EmailDetail {
  readonly id: string;
  readonly fromAddress: string;
  /** Present and true when the message names no author: `fromAddress` is the sender of its envelope */
  readonly fromIsEnvelopeSender?: boolean | undefined;
  readonly fromDisplayName: string;
  readonly subject: string;
  readonly receivedAt: string;
  readonly isRead: boolean;
  readonly isFlagged: boolean;
  readonly isAnswered: boolean;
  readonly threadId: string;
  readonly messageId: string;
  readonly sizeBytes: number;
  readonly folderIds: readonly string[];
  readonly labels: readonly LabelSummary[];
  /** Time of its Date field; null when that is missing or no date */
  readonly date: string | null;
  readonly replyTo: readonly Mailbox[];
  /** Name and value of each field of its header, in order: unfolded, with encoded words as they came */
  readonly headers: readonly (readonly [string, string])[];
  readonly authentication: Authentication;
  readonly toAddresses: readonly string[];
  readonly ccAddresses: readonly string[];
  /** Empty when there is none */
  readonly textBody: string;
  /** The html as it was sent: not made safe to show */
  readonly htmlBody: string;
  readonly inReplyTo: string;
  /** Message ids, separated by spaces */
  readonly references: string;
  readonly attachments: readonly Attachment[];
  readonly recipients: readonly Recipient[];
  /** Present and true when a limit was hit: bodies or headers are not whole */
  readonly isPartial?: boolean | undefined;
}

/** What the MX found; `none` for mail that came another way */
export interface Authentication {
  readonly spf: {
    readonly result: 'none' | 'pass' | 'fail' | 'softfail' | 'neutral' | 'policy' | 'temperror' | 'permerror';
    /** Domain that was checked; empty for none */
    readonly domain: string;
  };
  readonly dkim: {
    readonly result: 'none' | 'pass' | 'fail' | 'softfail' | 'neutral' | 'policy' | 'temperror' | 'permerror';
    /** Domain that was checked; empty for none */
    readonly domain: string;
  };
  readonly dmarc: {
    readonly result: 'none' | 'pass' | 'fail' | 'softfail' | 'neutral' | 'policy' | 'temperror' | 'permerror';
    /** Domain that was checked; empty for none */
    readonly domain: string;
  };
}

export interface Attachment {
  readonly id: string;
  readonly fileName: string;
  readonly contentType: string;
  readonly size: number;
  readonly sizeBytes: number;
  /** Name that `cid:` links in the html use for it */
  readonly contentId?: string | undefined;
  /** Charset of text, where its sender has declared one */
  readonly charset?: string | undefined;
  /** For text/calendar: what an invitation asks for, such as REQUEST */
  readonly method?: string | undefined;
}

export interface Recipient {
  readonly id: string;
  readonly address: string;
  readonly displayName: string;
  readonly type: 'To' | 'Cc' | 'Bcc';
}

/** At least one of them */
export type EmailMarks = {
  readonly isRead?: boolean | undefined;
  readonly isFlagged?: boolean | undefined;
};

export interface BulkMark {
  /** Ids of emails; ids of no email of the account are ignored */
  readonly emailIds: readonly string[];
  readonly isRead: boolean;
}

export interface ChangeCount {
  /** How many emails changed */
  readonly count: number;
}

export interface BulkFlag {
  /** Ids of emails; ids of no email of the account are ignored */
  readonly emailIds: readonly string[];
  readonly isFlagged: boolean;
}

export interface BulkMove {
  /** Ids of emails; ids of no email of the account are ignored */
  readonly emailIds: readonly string[];
  /** Id of a label or folder, or a role of the system */
  readonly folderId: string | 'inbox' | 'sent' | 'drafts' | 'archive' | 'trash' | 'junk';
  /** Id of a label or folder, or a role of the system */
  readonly fromFolderId?: string | 'inbox' | 'sent' | 'drafts' | 'archive' | 'trash' | 'junk' | undefined;
}

export interface BulkCopy {
  /** Ids of emails; ids of no email of the account are ignored */
  readonly emailIds: readonly string[];
  /** Id of a label or folder, or a role of the system */
  readonly folderId: string | 'inbox' | 'sent' | 'drafts' | 'archive' | 'trash' | 'junk';
}

export interface BulkLabel {
  /** Ids of emails; ids of no email of the account are ignored */
  readonly emailIds: readonly string[];
  /** A label of the account */
  readonly labelId: string;
  /** False takes the label off */
  readonly isLabelled: boolean;
}

/** With `folderIds` only those that are in one of these folders at that moment, such as `trash`; an email that is in another folder too stays there */
export interface BulkDelete {
  /** Ids of emails; ids of no email of the account are ignored */
  readonly emailIds: readonly string[];
  readonly folderIds?: readonly (string | 'inbox' | 'sent' | 'drafts' | 'archive' | 'trash' | 'junk')[] | undefined;
}

export interface FoundGroups {
  /** All emails that match; with `before`, those that are older */
  readonly totalCount: number;
  readonly groups: readonly {
    readonly emailIds: readonly string[];
    readonly isRead: boolean;
    readonly isFlagged: boolean;
    readonly folderIds: readonly string[];
  }[];
  readonly threads?: readonly (readonly number[])[] | undefined;
  /** There are older ones: the same request with `before` goes on */
  readonly next?: string | undefined;
}

export interface Contact {
  readonly address: string;
  readonly displayName: string;
}

/** At least one of `textBody` and `htmlBody` must be there, and not empty */
export type SendInput = {
  /** The account's address or one of its verified additional addresses */
  readonly fromAddress: string;
  readonly subject: string;
  readonly textBody?: string | null | undefined;
  readonly htmlBody?: string | null | undefined;
  readonly attachments?: readonly AttachmentInput[] | null | undefined;
  /** An email address for replies */
  readonly replyTo?: string | null | undefined;
  /** Names and values of other fields: `List-*`, `X-*`, `References`, `In-Reply-To`, `Auto-Submitted`, `Precedence`, `Importance` */
  readonly headers?: readonly (readonly [string, string])[] | null | undefined;
  readonly recipients: readonly RecipientInput[];
  /** When it is sent, at most a year ahead (ISO 8601); at once when that is in the past. Overrides `undoSendSeconds` */
  readonly sendAt?: string | null | undefined;
  readonly bulk?: BulkInput | null | undefined;
};

/** Either a file, with `fileName` and `content`, or an attachment of one of the account's emails, drafts and outbound emails included, with `emailId` and `attachmentId`. One with a `contentId` is shown where the html names it (`cid:`) */
export type AttachmentInput = {
  readonly fileName?: string | null | undefined;
  readonly contentType?: string | null | undefined;
  /** The bytes of the file in base64 */
  readonly content?: string | null | undefined;
  readonly contentId?: string | null | undefined;
  readonly emailId?: string | null | undefined;
  readonly attachmentId?: string | null | undefined;
};

export interface RecipientInput {
  /** An email address; a repeated one is ignored */
  readonly address: string;
  readonly displayName?: string | null | undefined;
  readonly type: 'To' | 'Cc' | 'Bcc';
}

/** The email is one of many: it gets `List-Unsubscribe`, `List-Unsubscribe-Post` (one-click unsubscribe, RFC 8058) and `Precedence: bulk`, and DKIM signs the first two. Use a URL for each recipient, and an email for each */
export interface BulkInput {
  /** It ends the subscription of the recipient when it is posted `List-Unsubscribe=One-Click` */
  readonly unsubscribeUrl: string;
}

/** It is in the queue, and its copy is in Sent */
export interface QueuedEmail {
  readonly id: string;
  readonly status: 'Queued';
  readonly createdAt: string;
  /** Present when it waits for this time: until then it can be undone */
  readonly sendAt?: string | undefined;
}

export interface OutboundPage {
  readonly items: readonly OutboundListItem[];
  readonly totalCount: number;
  readonly page: number;
  readonly pageSize: number;
}

export interface OutboundListItem {
  readonly id: string;
  readonly fromAddress: string;
  readonly subject: string;
  readonly status: 'Draft' | 'Queued' | 'Sending' | 'Sent' | 'Failed';
  readonly createdAt: string;
  /** When it is sent, while it waits for that time */
  readonly sendAt: string | null;
  readonly sentAt: string | null;
  /** Empty for a draft */
  readonly messageId: string;
  readonly inReplyTo: string | null;
  /** Message ids, separated by spaces */
  readonly references: string | null;
  readonly retryCount: number;
  /** When the next attempt is due, while one waits */
  readonly nextRetryAt: string | null;
  /** Error of the last delivery that failed */
  readonly lastError: string | null;
  readonly recipients: readonly OutboundRecipient[];
}

export interface OutboundRecipient {
  readonly id: string;
  readonly address: string;
  readonly displayName?: string | undefined;
  readonly type: 'To' | 'Cc' | 'Bcc';
  readonly status: 'Pending' | 'Delivered' | 'Failed';
  readonly deliveredAt: string | null;
  /** The last answer that refused the message */
  readonly lastError: string | null;
  /** Its enhanced status code (RFC 3463) */
  readonly statusCode: string | null;
}

export interface OutboundEmail {
  readonly id: string;
  readonly fromAddress: string;
  readonly subject: string;
  readonly status: 'Draft' | 'Queued' | 'Sending' | 'Sent' | 'Failed';
  readonly createdAt: string;
  /** When it is sent, while it waits for that time */
  readonly sendAt: string | null;
  readonly sentAt: string | null;
  /** Empty for a draft */
  readonly messageId: string;
  readonly inReplyTo: string | null;
  /** Message ids, separated by spaces */
  readonly references: string | null;
  readonly retryCount: number;
  /** When the next attempt is due, while one waits */
  readonly nextRetryAt: string | null;
  /** Error of the last delivery that failed */
  readonly lastError: string | null;
  readonly recipients: readonly OutboundRecipient[];
  readonly textBody: string | null;
  readonly htmlBody: string | null;
  readonly attachments: readonly Attachment[];
  readonly replyTo: string | null;
  /** Fields that a sender may set, as the message has them */
  readonly headers: readonly (readonly [string, string])[];
  /** Present and true when a limit was hit: the bodies are not whole */
  readonly isPartial?: boolean | undefined;
  /** Its copy in Sent; null when that was deleted, and for drafts */
  readonly sentEmailId: string | null;
  /** How many emails are before it; null when it does not wait, or waits behind others of the account */
  readonly queuePosition: number | null;
}

export interface CancelledEmail {
  /** False when a delivery is under way or over; `status` says which */
  readonly cancelled: boolean;
  readonly status: 'Draft' | 'Queued' | 'Sending' | 'Sent' | 'Failed';
  /** Its id, when it was cancelled before its time: it is a draft again */
  readonly draftId: string | null;
}

export interface RetriedEmail {
  /** False when it was sent, is a draft, or a delivery is under way */
  readonly retried: boolean;
  readonly status: 'Draft' | 'Queued' | 'Sending' | 'Sent' | 'Failed';
}

/** One host that was tried, for the recipients of one domain */
export interface DeliveryAttempt {
  readonly id: string;
  readonly at: string;
  readonly durationMs: number;
  readonly domain: string;
  /** Name of the MX host; null when there was none */
  readonly host: string | null;
  readonly remoteAddress: string | null;
  readonly tls: string | null;
  /** The reply that decided, or the error in place of a reply */
  readonly reply: string;
  readonly recipients: readonly {
    readonly id: string;
    readonly outcome: 'delivered' | 'temporary' | 'permanent';
    readonly statusCode: string | null;
  }[];
}

export interface DraftPage {
  readonly items: readonly DraftSummary[];
  readonly totalCount: number;
  readonly page: number;
  readonly pageSize: number;
}

export interface DraftSummary {
  readonly id: string;
  readonly fromAddress: string;
  readonly subject: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly to: readonly Mailbox[];
}

export interface DraftInput {
  /** The account's address or one of its verified additional addresses; the account's address when absent */
  readonly fromAddress?: string | null | undefined;
  readonly subject?: string | null | undefined;
  readonly textBody?: string | null | undefined;
  readonly htmlBody?: string | null | undefined;
  readonly attachments?: readonly AttachmentInput[] | null | undefined;
  /** An email address for replies */
  readonly replyTo?: string | null | undefined;
  /** Names and values of other fields: `List-*`, `X-*`, `References`, `In-Reply-To`, `Auto-Submitted`, `Precedence`, `Importance` */
  readonly headers?: readonly (readonly [string, string])[] | null | undefined;
  readonly recipients?: readonly RecipientInput[] | null | undefined;
}

export interface Draft {
  readonly id: string;
  readonly fromAddress: string;
  readonly subject: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly textBody: string | null;
  readonly htmlBody: string | null;
  readonly attachments: readonly Attachment[];
  readonly replyTo: string | null;
  /** Fields that a sender may set, as the message has them */
  readonly headers: readonly (readonly [string, string])[];
  /** Present and true when a limit was hit: the bodies are not whole */
  readonly isPartial?: boolean | undefined;
  readonly recipients: readonly OutboundRecipient[];
}

export interface SendDraftInput {
  /** When it is sent, at most a year ahead (ISO 8601); at once when that is in the past. Overrides `undoSendSeconds` */
  readonly sendAt?: string | null | undefined;
  /** The email that the draft answers: it is marked as answered */
  readonly repliesTo?: string | null | undefined;
  /** The email that the draft forwards: it is marked as forwarded */
  readonly forwards?: string | null | undefined;
}

/** At least one of `textBody` and `htmlBody` must be there, and not empty */
export type ReplyInput = {
  readonly textBody?: string | null | undefined;
  readonly htmlBody?: string | null | undefined;
  readonly attachments?: readonly AttachmentInput[] | null | undefined;
  readonly replyAll?: boolean | null | undefined;
  /** When it is sent, at most a year ahead (ISO 8601); at once when that is in the past. Overrides `undoSendSeconds` */
  readonly sendAt?: string | null | undefined;
};

export interface ForwardInput {
  readonly textBody?: string | null | undefined;
  readonly recipients: readonly RecipientInput[];
  readonly attachments?: readonly AttachmentInput[] | null | undefined;
  /** When it is sent, at most a year ahead (ISO 8601); at once when that is in the past. Overrides `undoSendSeconds` */
  readonly sendAt?: string | null | undefined;
}

export interface Credentials {
  readonly connectionInfo: ConnectionInfo;
  readonly keys: readonly ApiKey[];
}

export interface ConnectionInfo {
  readonly smtp: ProtocolInfo;
  readonly pop3: ProtocolInfo;
  readonly imap: ProtocolInfo;
  /** This and the fields below repeat it, for clients that read them */
  readonly smtpServer: string;
  readonly smtpPort: number;
  readonly smtpSecurePort: number;
  readonly smtpEnabled: boolean;
  readonly pop3Server: string;
  readonly pop3Port: number;
  readonly pop3SecurePort: number;
  readonly pop3Enabled: boolean;
  readonly imapServer: string;
  readonly imapPort: number;
  readonly imapSecurePort: number;
  readonly imapEnabled: boolean;
  /** The address of the account, as mail programs ask for it */
  readonly username: string;
  readonly activeKeyCount: number;
}

export interface ProtocolInfo {
  readonly enabled: boolean;
  readonly serverName: string;
  /** With STARTTLS (POP3: STLS); 0 when not open */
  readonly port: number;
  /** With implicit TLS; 0 when not open */
  readonly securePort: number;
}

export interface ApiKey {
  readonly id: string;
  readonly name: string;
  readonly createdAt: string;
  readonly lastUsedAt: string | null;
  readonly isActive: boolean;
  readonly scopes: readonly ('smtp' | 'pop3' | 'imap' | 'api:read' | 'api:write' | 'app' | 'internal')[];
}

export interface NewApiKey {
  readonly name: string;
  readonly scopes: readonly ('smtp' | 'pop3' | 'imap' | 'api:read' | 'api:write' | 'app' | 'internal')[];
}

export interface IssuedApiKey {
  readonly id: string;
  readonly name: string;
  readonly createdAt: string;
  readonly lastUsedAt: string | null;
  readonly isActive: boolean;
  readonly scopes: readonly ('smtp' | 'pop3' | 'imap' | 'api:read' | 'api:write' | 'app' | 'internal')[];
  /** The key itself; it is not shown again */
  readonly apiKey: string;
}

export type NewMobileKey = {
  readonly name?: string | undefined;
  /** In upper or lower case */
  readonly platform: 'ios' | 'android' | 'windows' | 'macos' | 'web';
  /** Another key for the same device revokes this one */
  readonly deviceId?: string | undefined;
  /** In place of `name` and `deviceId` */
  readonly deviceName?: string | undefined;
};

export interface Session {
  readonly id: string;
  readonly createdAt: string;
  readonly lastUsedAt: string;
  /** The User-Agent field of the browser that signed in */
  readonly userAgent: string;
  /** It is the session of this request */
  readonly isCurrent: boolean;
}

export interface SignIn {
  /** The link for one sign-in, or its token */
  readonly link?: string | undefined;
}

export interface SessionLink {
  /** The session that begins when the link is used */
  readonly sessionId: string;
  /** Shown once: the link is `/link/` with this token, at the origin of the page */
  readonly token: string;
  readonly expiresAt: string;
  /** For clients whose clock may be wrong */
  readonly expiresInSeconds: number;
}

export interface Passkey {
  readonly id: string;
  readonly name: string;
  readonly createdAt: string;
  readonly lastUsedAt: string | null;
}

export interface PasskeyRegistration {
  readonly id: string;
  readonly rawId: string;
  readonly type: 'public-key';
  readonly response: {
    readonly clientDataJSON: string;
    readonly attestationObject: string;
    readonly transports?: readonly string[] | undefined;
  };
  /** The name by which its owner knows it */
  readonly name?: string | undefined;
}

export interface PasskeyLogin {
  readonly id: string;
  readonly rawId: string;
  readonly type: 'public-key';
  readonly response: {
    readonly clientDataJSON: string;
    readonly authenticatorData: string;
    readonly signature: string;
    readonly userHandle: string;
  };
}

export interface OidcAuthorization {
  /** Where the browser goes */
  readonly url: string;
}

export interface OidcAnswer {
  readonly code: string;
  readonly state: string;
  /** Where the provider sends it (RFC 9207) */
  readonly iss?: string | undefined;
}

export interface NewAppleProfile {
  /** Name of the key; `Apple Mail` when absent */
  readonly name?: string | undefined;
  /** Another key for the same device revokes this one */
  readonly deviceId?: string | undefined;
}

export interface Profile {
  readonly id: string;
  readonly email: string;
  readonly displayName: string;
  readonly createdAt: string;
  /** Last use of a login or an API key; before the first, when the account was made */
  readonly lastLoginAt: string;
  readonly additionalAddresses: readonly AdditionalAddress[];
  readonly sending: Sending;
}

export interface AdditionalAddress {
  readonly id: string;
  readonly address: string;
  readonly isVerified: boolean;
  readonly addedAt: string;
  /** The operator leads the address to this account; it cannot be given up */
  readonly isAlias: boolean;
  /** The account may send as the address */
  readonly canSend: boolean;
}

export interface Sending {
  /** No mail is sent; mail still arrives */
  readonly isSuspended: boolean;
  readonly reason: string | null;
  readonly suspendedAt: string | null;
  /** The user may lift the suspension: `POST /api/profile/sending/resume` */
  readonly canResume: boolean;
}

export interface ProfileChange {
  readonly displayName: string;
}

export interface NewAddress {
  /** An email address */
  readonly address: string;
}

export interface Preferences {
  readonly id: string;
  readonly userId: string;
  readonly updatedAt: string;
  readonly theme: 'light' | 'dark' | 'system';
  readonly displayDensity: 'compact' | 'comfortable' | 'spacious';
  readonly emailsPerPage: number;
  readonly defaultSort: 'date' | 'sender' | 'subject';
  readonly showPreview: boolean;
  readonly groupByDate: boolean;
  /** Lists of the web mail have a row per thread */
  readonly threads: boolean;
  readonly desktopNotifications: boolean;
  readonly emailDigest: boolean;
  readonly digestFrequency: 'daily' | 'weekly';
  readonly digestTime: string;
  readonly undoSendSeconds: number;
  /** HTML, stored as given: a client sanitises it before it shows or sends it */
  readonly signature: string;
  readonly identities: readonly AddressIdentity[];
  /** Addresses of senders whose pictures from elsewhere a client loads without being asked for */
  readonly pictureSenders: readonly string[];
}

/** Without `signature`, mail from the address ends with the signature of the account */
export interface AddressIdentity {
  /** One of the further addresses of the account; other addresses have no effect */
  readonly address: string;
  /** Beside the address in what is sent; without it the display name of the account */
  readonly displayName?: string | undefined;
  /** HTML, stored as given: a client sanitises it before it shows or sends it */
  readonly signature?: string | undefined;
}

export interface PreferenceChanges {
  readonly theme?: 'light' | 'dark' | 'system' | undefined;
  readonly displayDensity?: 'compact' | 'comfortable' | 'spacious' | undefined;
  readonly emailsPerPage?: number | undefined;
  readonly defaultSort?: 'date' | 'sender' | 'subject' | undefined;
  readonly showPreview?: boolean | undefined;
  readonly groupByDate?: boolean | undefined;
  /** Lists of the web mail have a row per thread */
  readonly threads?: boolean | undefined;
  readonly desktopNotifications?: boolean | undefined;
  readonly emailDigest?: boolean | undefined;
  readonly digestFrequency?: 'daily' | 'weekly' | undefined;
  readonly digestTime?: string | undefined;
  readonly undoSendSeconds?: number | undefined;
  /** HTML, stored as given: a client sanitises it before it shows or sends it */
  readonly signature?: string | undefined;
  readonly identities?: readonly AddressIdentity[] | undefined;
  /** Addresses of senders whose pictures from elsewhere a client loads without being asked for */
  readonly pictureSenders?: readonly string[] | undefined;
}

export interface Senders {
  readonly allowed: readonly string[];
  readonly blocked: readonly string[];
}

export interface Vacation {
  readonly isEnabled: boolean;
  readonly startsAt: string | null;
  readonly endsAt: string | null;
  readonly subject: string | null;
  readonly textBody: string | null;
  readonly htmlBody: string | null;
  readonly intervalDays: number;
}

export interface VacationInput {
  readonly isEnabled: boolean;
  /** At once when absent */
  readonly startsAt?: string | null | undefined;
  /** Without an end when absent */
  readonly endsAt?: string | null | undefined;
  readonly subject?: string | null | undefined;
  readonly textBody?: string | null | undefined;
  readonly htmlBody?: string | null | undefined;
  /** A sender gets one reply in this many days; 7 when absent */
  readonly intervalDays?: number | null | undefined;
}

export interface Forwarding {
  readonly isEnabled: boolean;
  /** A verified address of this account at a domain that is not hosted here, or one that the operator has verified for forwarding */
  readonly address: string | null;
  /** Whether the account keeps what is forwarded */
  readonly keepCopy: boolean;
}

export interface Quota {
  readonly bytes: QuotaResource;
  readonly messages: QuotaResource;
}

export interface QuotaResource {
  readonly used: number;
  readonly limit: number | null;
}

export interface VapidPublicKey {
  /** VAPID: 65 bytes in base64url */
  readonly publicKey: string;
}

export interface PushSubscription {
  /** https URL of the push service */
  readonly endpoint: string;
  /** Public key of the browser: 65 bytes in base64url */
  readonly p256dh: string;
  /** Secret of the browser: 16 bytes in base64url */
  readonly auth: string;
}

export interface PushSubscriptionEnd {
  /** Endpoint of the subscription that ends */
  readonly endpoint?: string | undefined;
}

export interface Webhook {
  readonly id: string;
  readonly url: string;
  readonly eventTypes: readonly ('NewEmail' | 'EmailUpdated' | 'EmailDeleted' | 'UnreadCountChanged' | 'DeliveryStatusChanged' | 'DeliveryAttempted' | 'LabelCreated' | 'LabelUpdated' | 'LabelDeleted' | 'DraftCreated' | 'DraftUpdated' | 'DraftDeleted' | 'EmailFlagsChanged' | 'FolderCreated' | 'FolderUpdated' | 'FolderDeleted' | 'EmailPlaced' | 'EmailUnplaced' | 'PreferencesChanged' | 'SendersChanged' | 'ForwardingChanged' | 'VacationChanged' | 'FiltersChanged' | 'ScriptsChanged' | 'SuppressionsChanged')[];
  readonly isEnabled: boolean;
  /** Why the server disabled the webhook */
  readonly disabledReason: string | null;
  /** Attempts that have failed since the last success */
  readonly failures: number;
  readonly failingSince: string | null;
  /** Next attempt of the event that failed; null when nothing waits for a retry */
  readonly nextAttemptAt: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export interface WebhookInput {
  /** https URL of the receiver, on a public address */
  readonly url: string;
  readonly eventTypes?: readonly ('NewEmail' | 'EmailUpdated' | 'EmailDeleted' | 'UnreadCountChanged' | 'DeliveryStatusChanged' | 'DeliveryAttempted' | 'LabelCreated' | 'LabelUpdated' | 'LabelDeleted' | 'DraftCreated' | 'DraftUpdated' | 'DraftDeleted' | 'EmailFlagsChanged' | 'FolderCreated' | 'FolderUpdated' | 'FolderDeleted' | 'EmailPlaced' | 'EmailUnplaced' | 'PreferencesChanged' | 'SendersChanged' | 'ForwardingChanged' | 'VacationChanged' | 'FiltersChanged' | 'ScriptsChanged' | 'SuppressionsChanged')[] | undefined;
  readonly isEnabled?: boolean | undefined;
}

export interface MadeWebhook {
  readonly id: string;
  readonly url: string;
  readonly eventTypes: readonly ('NewEmail' | 'EmailUpdated' | 'EmailDeleted' | 'UnreadCountChanged' | 'DeliveryStatusChanged' | 'DeliveryAttempted' | 'LabelCreated' | 'LabelUpdated' | 'LabelDeleted' | 'DraftCreated' | 'DraftUpdated' | 'DraftDeleted' | 'EmailFlagsChanged' | 'FolderCreated' | 'FolderUpdated' | 'FolderDeleted' | 'EmailPlaced' | 'EmailUnplaced' | 'PreferencesChanged' | 'SendersChanged' | 'ForwardingChanged' | 'VacationChanged' | 'FiltersChanged' | 'ScriptsChanged' | 'SuppressionsChanged')[];
  readonly isEnabled: boolean;
  /** Why the server disabled the webhook */
  readonly disabledReason: string | null;
  /** Attempts that have failed since the last success */
  readonly failures: number;
  readonly failingSince: string | null;
  /** Next attempt of the event that failed; null when nothing waits for a retry */
  readonly nextAttemptAt: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
  /** `whsec_` and the key in base64, as libraries of Standard Webhooks take it */
  readonly secret: string;
}

export interface WebhookSecret {
  /** `whsec_` and the key in base64, as libraries of Standard Webhooks take it */
  readonly secret: string;
}

export interface WebhookDeliveryPage {
  readonly items: readonly WebhookDelivery[];
  readonly totalCount: number;
  readonly page: number;
  readonly pageSize: number;
}

export interface WebhookDelivery {
  readonly id: string;
  /** `webhook-id` of the message */
  readonly eventId: string;
  readonly eventType: string;
  readonly at: string;
  /** From 1 */
  readonly attempt: number;
  readonly isDelivered: boolean;
  readonly responseStatus: number | null;
  readonly durationMs: number;
  readonly error: string | null;
}

export interface WebhookReplay {
  readonly after: string | number;
}

export interface WebhookTest {
  readonly isDelivered: boolean;
  readonly responseStatus: number | null;
  readonly durationMs: number;
  readonly error: string | null;
}

export interface Discovery {
  readonly smtp: ProtocolInfo;
  readonly pop3: ProtocolInfo;
  readonly imap: ProtocolInfo;
  /** `host:port` at which mail for the accounts of this server is accepted */
  readonly mx?: string | undefined;
  readonly features: {
    readonly oidc: boolean;
    readonly pushNotifications: boolean;
  };
  /** Version of the server */
  readonly version: string;
  readonly apiVersion: string;
  /** The same as `features.oidc` */
  readonly oidcEnabled: boolean;
  /** Bytes of the largest message that is accepted and sent */
  readonly maxMessageSize: number;
}

export interface Folder {
  readonly id: string;
  readonly name: string;
  readonly role: 'inbox' | 'sent' | 'drafts' | 'archive' | 'trash' | 'junk' | 'label' | 'folder';
  /** Id of the folder above it; null at the top */
  readonly parentId: string | null;
  /** Emails in it */
  readonly total: number;
  /** Unread emails in it */
  readonly unread: number;
  readonly color: string | null;
  /** Whether mail programs show it as subscribed */
  readonly isSubscribed: boolean;
}

/** Names are unique below one parent, without case. A path has at most 1,000 characters and 20 levels */
export interface NewFolder {
  readonly name: string;
  /** Id of the folder above it */
  readonly parentId?: string | null | undefined;
}

/** Names are unique below one parent, without case. A path has at most 1,000 characters and 20 levels */
export interface ChangedFolder {
  readonly name: string;
  /** Id of the folder above it */
  readonly parentId?: string | null | undefined;
  readonly isSubscribed?: boolean | undefined;
}

export interface Label {
  readonly id: string;
  readonly name: string;
  readonly color: string;
  readonly sortOrder: number;
  readonly emailCount: number;
  readonly createdAt: string;
}

/** Names are unique in an account without case, and none of Inbox, Sent, Drafts, Trash, Junk, Archive, Outbox */
export interface LabelInput {
  readonly name: string;
  readonly color: string;
  readonly sortOrder: number;
}

export interface LabelAssignment {
  /** A label of the account */
  readonly labelId: string;
}

export interface Filter {
  readonly id: string;
  readonly name: string;
  readonly isEnabled: boolean;
  readonly priority: number;
  readonly fromAddressContains: string | null;
  readonly toContains: string | null;
  readonly ccContains: string | null;
  readonly subjectContains: string | null;
  readonly bodyContains: string | null;
  readonly headerName: string | null;
  readonly headerContains: string | null;
  readonly listId: string | null;
  readonly hasAttachments: boolean | null;
  readonly minSizeBytes: number | null;
  readonly maxSizeBytes: number | null;
  readonly matches: string | null;
  readonly markAsRead: boolean | null;
  readonly flag: boolean | string | null;
  readonly assignLabelId: string | null;
  readonly moveToFolderId: string | null;
  readonly forwardTo: string | null;
  readonly delete: boolean | null;
  readonly stop: boolean | null;
  readonly disabledReason: 'folderDeleted' | null;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly lastAppliedAt: string | null;
  readonly timesApplied: number;
  /** Name of the label of `assignLabelId` */
  readonly assignLabelName: string | null;
  readonly assignLabelColor: string | null;
  /** Path of the folder of `moveToFolderId` */
  readonly moveToFolderName: string | null;
}

/** A condition that is absent, null or blank is not set; at least one must be set */
export type FilterInput = {
  readonly name: string;
  readonly isEnabled: boolean;
  /** Lower is evaluated first */
  readonly priority: number;
  readonly fromAddressContains?: string | null | undefined;
  /** Part of a name or address of To */
  readonly toContains?: string | null | undefined;
  /** Part of a name or address of Cc */
  readonly ccContains?: string | null | undefined;
  readonly subjectContains?: string | null | undefined;
  readonly bodyContains?: string | null | undefined;
  /** A header field that the email has */
  readonly headerName?: string | null | undefined;
  /** Part of the value of the field `headerName` */
  readonly headerContains?: string | null | undefined;
  /** Part of List-Id */
  readonly listId?: string | null | undefined;
  readonly hasAttachments?: boolean | null | undefined;
  readonly minSizeBytes?: number | null | undefined;
  readonly maxSizeBytes?: number | null | undefined;
  /** A regular expression in the syntax of RE2, without regard to case, for the subject and the first 16,384 characters of the body */
  readonly matches?: string | null | undefined;
  readonly markAsRead?: boolean | null | undefined;
  readonly flag?: boolean | string | null | undefined;
  /** A label of the account */
  readonly assignLabelId?: string | null | undefined;
  /** A folder of the account (id or role), in place of the inbox; not Drafts */
  readonly moveToFolderId?: string | null | undefined;
  /** A verified address of the account at a domain that is not hosted here */
  readonly forwardTo?: string | null | undefined;
  readonly delete?: boolean | null | undefined;
  /** Filters after this one are not evaluated */
  readonly stop?: boolean | null | undefined;
};

export interface FilterTest {
  readonly matchCount: number;
  readonly matchedEmailIds: readonly string[];
  /** Emails that could not be read in time or to the end of their body, without a match in the part that was read */
  readonly untestedCount: number;
}

/** A condition that is absent, null or blank is not set; at least one must be set */
export type FilterConditions = {
  readonly fromAddressContains?: string | null | undefined;
  /** Part of a name or address of To */
  readonly toContains?: string | null | undefined;
  /** Part of a name or address of Cc */
  readonly ccContains?: string | null | undefined;
  readonly subjectContains?: string | null | undefined;
  readonly bodyContains?: string | null | undefined;
  /** A header field that the email has */
  readonly headerName?: string | null | undefined;
  /** Part of the value of the field `headerName` */
  readonly headerContains?: string | null | undefined;
  /** Part of List-Id */
  readonly listId?: string | null | undefined;
  readonly hasAttachments?: boolean | null | undefined;
  readonly minSizeBytes?: number | null | undefined;
  readonly maxSizeBytes?: number | null | undefined;
  /** A regular expression in the syntax of RE2, without regard to case, for the subject and the first 16,384 characters of the body */
  readonly matches?: string | null | undefined;
};

export interface FilterRunInput {
  /** A folder (id or role); without it, all folders but Trash, Junk, Sent and Drafts */
  readonly folderId?: string | undefined;
}

export interface FilterRunBegun {
  readonly runId: string;
}

export interface FilterRun {
  readonly matched: number;
  /** Emails that the run has changed and that are not undone */
  readonly changed: number;
  /** Emails in the folders when the run began */
  readonly total: number;
  /** Nothing is left to do, or to undo */
  readonly isDone: boolean;
  /** The run is undone, or is being undone */
  readonly isUndone: boolean;
}

export interface Suppression {
  /** Lower case */
  readonly address: string;
  /** The reply or the report that refused the address */
  readonly reason: string;
  readonly since: string;
  readonly until: string;
}

export interface ListedSieveScript {
  readonly name: string;
  readonly isActive: boolean;
}

export interface SieveScript {
  readonly content: string;
  readonly isActive: boolean;
}

export interface WrittenSieveScript {
  readonly content: string;
  readonly isActive?: boolean | undefined;
}

export interface ChangedSieveScript {
  readonly name?: string | undefined;
  readonly isActive?: boolean | undefined;
}

export interface WebConfig {
  readonly oidc: {
    readonly authority: string;
    readonly clientId: string;
    readonly enabled: boolean;
  };
}

/** What each path takes and replies, by method. */
export interface Paths {
  '/api/emails': {
    /** Emails in the inbox, newest first. */
    readonly GET: {
      readonly query?: {
        readonly page?: number | undefined;
        /** More than 100 means 100; the reply says which it was */
        readonly pageSize?: number | undefined;
        readonly isRead?: boolean | undefined;
        readonly isFlagged?: boolean | undefined;
        readonly sort?: 'date' | '-date' | 'from' | '-from' | 'subject' | '-subject' | 'size' | '-size' | undefined;
        /** Emails of a thread are one item, at the place of the newest one, with `thread`; up to 100 emails each. `totalCount` counts items, `unreadCount` emails. Only in orders by date */
        readonly groupByThread?: boolean | undefined;
      };
      readonly reply: EmailPage;
    };
  };
  '/api/emails/{id}': {
    /** One email with its bodies and the list of its attachments. */
    readonly GET: {
      readonly params: {
        readonly id: string;
      };
      readonly reply: EmailDetail;
    };
    /** Mark an email as read or unread, flagged or not. */
    readonly PATCH: {
      readonly params: {
        readonly id: string;
      };
      readonly body: EmailMarks;
      readonly reply: undefined;
    };
    /** Delete an email for good. */
    readonly DELETE: {
      readonly params: {
        readonly id: string;
      };
      readonly reply: undefined;
    };
  };
  '/api/emails/bulk/mark-read': {
    /** Mark up to 1,000 emails as read or unread. */
    readonly POST: {
      readonly body: BulkMark;
      readonly reply: ChangeCount;
    };
  };
  '/api/emails/bulk/flag': {
    /** Flag up to 1,000 emails, or take their flags off. */
    readonly POST: {
      readonly body: BulkFlag;
      readonly reply: ChangeCount;
    };
  };
  '/api/emails/bulk/move': {
    /** Move up to 1,000 emails to a folder. */
    readonly POST: {
      readonly body: BulkMove;
      readonly reply: ChangeCount;
    };
  };
  '/api/emails/bulk/copy': {
    /** Put up to 1,000 emails into another folder as well. */
    readonly POST: {
      readonly body: BulkCopy;
      readonly reply: ChangeCount;
    };
  };
  '/api/emails/bulk/label': {
    /** Put a label on up to 1,000 emails, or take it off. */
    readonly POST: {
      readonly body: BulkLabel;
      readonly reply: ChangeCount;
    };
  };
  '/api/emails/bulk/delete': {
    /** Delete up to 1,000 emails for good. */
    readonly POST: {
      readonly body: BulkDelete;
      readonly reply: ChangeCount;
    };
  };
  '/api/emails/sent': {
    /** Sent emails, newest first. */
    readonly GET: {
      readonly query?: {
        readonly page?: number | undefined;
        /** More than 100 means 100; the reply says which it was */
        readonly pageSize?: number | undefined;
        readonly isRead?: boolean | undefined;
        readonly isFlagged?: boolean | undefined;
        readonly sort?: 'date' | '-date' | 'from' | '-from' | 'subject' | '-subject' | 'size' | '-size' | undefined;
        /** Part of the sender address */
        readonly fromAddress?: string | undefined;
      };
      readonly reply: EmailPage;
    };
  };
  '/api/emails/sent/addresses': {
    /** Distinct sender addresses of sent emails. */
    readonly GET: {
      readonly reply: readonly string[];
    };
  };
  '/api/emails/{id}/attachments/{attachmentId}': {
    /** An attachment, decoded. */
    readonly GET: {
      readonly params: {
        readonly id: string;
        readonly attachmentId: string;
      };
      readonly reply: Blob;
    };
  };
  '/api/emails/{id}/export/eml': {
    /** The message as it was received. */
    readonly GET: {
      readonly params: {
        readonly id: string;
      };
      readonly reply: Blob;
    };
  };
  '/api/emails/{id}/images': {
    /** The remote images of an email, as URLs of the image proxy. */
    readonly POST: {
      readonly params: {
        readonly id: string;
      };
      readonly reply: { readonly [name: string]: string };
    };
  };
  '/api/emails/threads/{threadId}': {
    /** The emails of a thread, oldest first: the newest 500, or a page of all. */
    readonly GET: {
      readonly params: {
        readonly threadId: string;
      };
      readonly query?: {
        /** Without `page` and `pageSize`: the newest 500 emails. With one of them: a page of all */
        readonly page?: number | undefined;
        /** Without `page` and `pageSize`: the newest 500 emails. With one of them: a page of all, 20 emails by default; at most 100 */
        readonly pageSize?: number | undefined;
      };
      readonly reply: readonly EmailDetail[];
    };
  };
  '/api/emails/search': {
    /** Emails that match, newest first; unreadCount counts those that match. */
    readonly GET: {
      readonly query?: {
        readonly page?: number | undefined;
        /** More than 100 means 100; the reply says which it was */
        readonly pageSize?: number | undefined;
        /** Words that must all be in subject, sender, To, Cc, names of attachments or body. A word may be the beginning of one; phrases stand in quotes. At most 64 words */
        readonly q?: string | undefined;
        /** Another name of `q` */
        readonly query?: string | undefined;
        /** Words and phrases, as in `q`, that must all be in the name or address of the sender */
        readonly from?: string | undefined;
        /** Words and phrases, as in `q`, that must all be in a name or address in To */
        readonly to?: string | undefined;
        /** Words and phrases, as in `q`, that must all be in a name or address in Cc */
        readonly cc?: string | undefined;
        /** Words and phrases, as in `q`, that must all be in the subject */
        readonly subject?: string | undefined;
        /** Received then or later: an ISO 8601 date or date-time, UTC by default */
        readonly fromDate?: string | undefined;
        /** Received then or earlier; a date without a time includes that day */
        readonly toDate?: string | undefined;
        readonly hasAttachments?: boolean | undefined;
        readonly isRead?: boolean | undefined;
        readonly isFlagged?: boolean | undefined;
        /** A flag or keyword as mail programs set them, in any case */
        readonly keyword?: string | undefined;
        /** Messages of this size or larger */
        readonly minSizeBytes?: number | undefined;
        /** Id of a label that the email has; up to 10 with commas between */
        readonly label?: string | undefined;
        /** Id of a label or folder, or a role of the system */
        readonly folder?: string | 'inbox' | 'sent' | 'drafts' | 'archive' | 'trash' | 'junk' | undefined;
        /** True: emails that are only in trash or junk are found too; not with `folder` */
        readonly anywhere?: boolean | undefined;
      };
      readonly reply: EmailPage;
    };
  };
  '/api/emails/search/ids': {
    /** Ids of the newest 20,000 emails that match. */
    readonly GET: {
      readonly query?: {
        /** Words that must all be in subject, sender, To, Cc, names of attachments or body. A word may be the beginning of one; phrases stand in quotes. At most 64 words */
        readonly q?: string | undefined;
        /** Another name of `q` */
        readonly query?: string | undefined;
        /** Words and phrases, as in `q`, that must all be in the name or address of the sender */
        readonly from?: string | undefined;
        /** Words and phrases, as in `q`, that must all be in a name or address in To */
        readonly to?: string | undefined;
        /** Words and phrases, as in `q`, that must all be in a name or address in Cc */
        readonly cc?: string | undefined;
        /** Words and phrases, as in `q`, that must all be in the subject */
        readonly subject?: string | undefined;
        /** Received then or later: an ISO 8601 date or date-time, UTC by default */
        readonly fromDate?: string | undefined;
        /** Received then or earlier; a date without a time includes that day */
        readonly toDate?: string | undefined;
        readonly hasAttachments?: boolean | undefined;
        readonly isRead?: boolean | undefined;
        readonly isFlagged?: boolean | undefined;
        /** A flag or keyword as mail programs set them, in any case */
        readonly keyword?: string | undefined;
        /** Messages of this size or larger */
        readonly minSizeBytes?: number | undefined;
        /** Id of a label that the email has; up to 10 with commas between */
        readonly label?: string | undefined;
        /** Id of a label or folder, or a role of the system */
        readonly folder?: string | 'inbox' | 'sent' | 'drafts' | 'archive' | 'trash' | 'junk' | undefined;
        /** True: emails that are only in trash or junk are found too; not with `folder` */
        readonly anywhere?: boolean | undefined;
        /** The emails of the rows of a list with `groupByThread`, whole rows: with `folder`, `isRead` and `isFlagged`, which choose rows as in that list, and no other parameter */
        readonly groupByThread?: boolean | undefined;
        /** Ids of emails, up to 100 with commas between: with `groupByThread` and `folder`, only the rows that have one of them */
        readonly rowsOf?: string | undefined;
        /** `next` of the reply before: only older emails, or rows; not with `rowsOf` */
        readonly before?: string | undefined;
      };
      readonly reply: FoundGroups;
    };
  };
  '/api/emails/export/mbox': {
    /** The account's mail as an mboxrd file, oldest first, at most 50000 emails. */
    readonly GET: {
      readonly query?: {
        /** Received then or later: an ISO 8601 date or date-time, UTC by default */
        readonly fromDate?: string | undefined;
        /** Received then or earlier; a date without a time includes that day */
        readonly toDate?: string | undefined;
        /** Id of a label or folder, or a role of the system */
        readonly folder?: string | 'inbox' | 'sent' | 'drafts' | 'archive' | 'trash' | 'junk' | undefined;
      };
      readonly reply: Blob;
    };
  };
  '/api/image-proxy': {
    /** A remote image of an email. */
    readonly GET: {
      readonly query?: {
        readonly url?: string | undefined;
        readonly account?: string | undefined;
        /** In seconds since 1970 */
        readonly expires?: string | undefined;
        readonly signature?: string | undefined;
      };
      readonly reply: Blob;
    };
  };
  '/api/contacts': {
    /** People to whom the account has written, best first. */
    readonly GET: {
      readonly query?: {
        readonly q?: string | undefined;
      };
      readonly reply: readonly Contact[];
    };
  };
  '/api/outbound/send': {
    /** Send an email. */
    readonly POST: {
      readonly body: SendInput;
      readonly reply: QueuedEmail;
    };
  };
  '/api/outbound/outbox': {
    /** Emails that are queued or being sent, newest first. */
    readonly GET: {
      readonly query?: {
        readonly page?: number | undefined;
        /** More than 100 means 100; the reply says which it was */
        readonly pageSize?: number | undefined;
      };
      readonly reply: OutboundPage;
    };
  };
  '/api/outbound/sent': {
    /** Emails that were delivered to all their recipients, newest first. */
    readonly GET: {
      readonly query?: {
        readonly page?: number | undefined;
        /** More than 100 means 100; the reply says which it was */
        readonly pageSize?: number | undefined;
      };
      readonly reply: OutboundPage;
    };
  };
  '/api/outbound/failed': {
    /** Emails that failed for at least one recipient, or were cancelled, newest first. */
    readonly GET: {
      readonly query?: {
        readonly page?: number | undefined;
        /** More than 100 means 100; the reply says which it was */
        readonly pageSize?: number | undefined;
      };
      readonly reply: OutboundPage;
    };
  };
  '/api/outbound/{id}': {
    /** One outbound email, with what became of each recipient. */
    readonly GET: {
      readonly params: {
        readonly id: string;
      };
      readonly reply: OutboundEmail;
    };
    /** Delete an outbound email that is sent or failed. */
    readonly DELETE: {
      readonly params: {
        readonly id: string;
      };
      readonly reply: undefined;
    };
  };
  '/api/outbound/{id}/cancel': {
    /** Cancel an email. */
    readonly POST: {
      readonly params: {
        readonly id: string;
      };
      readonly reply: CancelledEmail;
    };
  };
  '/api/outbound/{id}/retry': {
    /** Send an email now. */
    readonly POST: {
      readonly params: {
        readonly id: string;
      };
      readonly reply: RetriedEmail;
    };
  };
  '/api/outbound/{id}/attachments/{attachmentId}': {
    /** An attachment, decoded. */
    readonly GET: {
      readonly params: {
        readonly id: string;
        readonly attachmentId: string;
      };
      readonly reply: Blob;
    };
  };
  '/api/outbound/{id}/timeline': {
    /** Every attempt to deliver an email, oldest first. */
    readonly GET: {
      readonly params: {
        readonly id: string;
      };
      readonly reply: readonly DeliveryAttempt[];
    };
  };
  '/api/outbound/drafts': {
    /** Drafts, newest first. */
    readonly GET: {
      readonly query?: {
        readonly page?: number | undefined;
        /** More than 100 means 100; the reply says which it was */
        readonly pageSize?: number | undefined;
      };
      readonly reply: DraftPage;
    };
    /** Make a draft. */
    readonly POST: {
      readonly body: DraftInput;
      readonly reply: Draft;
    };
  };
  '/api/outbound/drafts/{id}': {
    /** One draft. */
    readonly GET: {
      readonly params: {
        readonly id: string;
      };
      readonly reply: Draft;
    };
    /** Replace a draft. */
    readonly PUT: {
      readonly params: {
        readonly id: string;
      };
      readonly headers?: {
        /** Entity tags (RFC 9110 §13.1.1): when none of them is that of the current version, nothing is changed */
        readonly 'If-Match'?: string | undefined;
      };
      readonly body: DraftInput;
      readonly reply: undefined;
    };
    /** Delete a draft. */
    readonly DELETE: {
      readonly params: {
        readonly id: string;
      };
      readonly headers?: {
        /** Entity tags (RFC 9110 §13.1.1): when none of them is that of the current version, nothing is changed */
        readonly 'If-Match'?: string | undefined;
      };
      readonly reply: undefined;
    };
  };
  '/api/outbound/drafts/{id}/send': {
    /** Send a draft. */
    readonly POST: {
      readonly params: {
        readonly id: string;
      };
      readonly headers?: {
        /** Entity tags (RFC 9110 §13.1.1): when none of them is that of the current version, nothing is changed */
        readonly 'If-Match'?: string | undefined;
      };
      readonly body?: SendDraftInput;
      readonly reply: QueuedEmail;
    };
  };
  '/api/outbound/reply/{emailId}': {
    /** Reply to an email. */
    readonly POST: {
      readonly params: {
        readonly emailId: string;
      };
      readonly body: ReplyInput;
      readonly reply: QueuedEmail;
    };
  };
  '/api/outbound/forward/{emailId}': {
    /** Forward an email. */
    readonly POST: {
      readonly params: {
        readonly emailId: string;
      };
      readonly body: ForwardInput;
      readonly reply: QueuedEmail;
    };
  };
  '/api/smtp-credentials': {
    /** Active API keys, and where the mail protocols are. */
    readonly GET: {
      readonly reply: Credentials;
    };
    /** Make an API key; it is shown in this reply only. */
    readonly POST: {
      readonly body: NewApiKey;
      readonly reply: IssuedApiKey;
    };
  };
  '/api/smtp-credentials/mobile': {
    /** Make an API key for the app on a device; it is shown in this reply only. */
    readonly POST: {
      readonly body: NewMobileKey;
      readonly reply: IssuedApiKey;
    };
  };
  '/api/smtp-credentials/{keyId}': {
    /** Revoke an API key for good, at once. */
    readonly DELETE: {
      readonly params: {
        readonly keyId: string;
      };
      readonly reply: undefined;
    };
  };
  '/api/smtp-credentials/{keyId}/rotate': {
    /** Revoke an API key and make another of the same name and scopes, in one step. */
    readonly POST: {
      readonly params: {
        readonly keyId: string;
      };
      readonly reply: IssuedApiKey;
    };
  };
  '/api/sessions': {
    /** The browsers that are signed in. */
    readonly GET: {
      readonly reply: readonly Session[];
    };
    /** Sign in: make a session, which the browser keeps in a cookie. */
    readonly POST: {
      readonly body?: SignIn;
      readonly reply: Session;
    };
  };
  '/api/sessions/{id}': {
    /** Sign a browser out, at once; the own one also loses its cookie. */
    readonly DELETE: {
      readonly params: {
        readonly id: string;
      };
      readonly reply: undefined;
    };
  };
  '/api/sessions/links': {
    /** Make a link that signs another device in. */
    readonly POST: {
      readonly reply: SessionLink;
    };
  };
  '/api/sessions/links/{id}': {
    /** Withdraw a link that was not used; `id` is its `sessionId`. */
    readonly DELETE: {
      readonly params: {
        readonly id: string;
      };
      readonly reply: undefined;
    };
  };
  '/api/passkeys': {
    /** Passkeys of the account, oldest first. */
    readonly GET: {
      readonly reply: readonly Passkey[];
    };
  };
  '/api/passkeys/{id}': {
    /** One passkey. */
    readonly GET: {
      readonly params: {
        readonly id: string;
      };
      readonly reply: Passkey;
    };
    /** Delete a passkey; sessions that it began continue. */
    readonly DELETE: {
      readonly params: {
        readonly id: string;
      };
      readonly reply: undefined;
    };
  };
  '/api/passkeys/registration': {
    /** Begin to register a passkey. */
    readonly POST: {
      readonly reply: { readonly [name: string]: unknown };
    };
  };
  '/api/passkeys/registration/verify': {
    /** Register the passkey that an authenticator has made. */
    readonly POST: {
      readonly body: PasskeyRegistration;
      readonly reply: Passkey;
    };
  };
  '/api/passkeys/login': {
    /** Begin to sign in with a passkey. */
    readonly POST: {
      readonly reply: { readonly [name: string]: unknown };
    };
  };
  '/api/passkeys/login/verify': {
    /** Sign in: make a session for the passkey that an authenticator has used. */
    readonly POST: {
      readonly body: PasskeyLogin;
      readonly reply: Session;
    };
  };
  '/api/oidc/authorization': {
    /** Begin to sign in at the OpenID provider. */
    readonly POST: {
      readonly reply: OidcAuthorization;
    };
  };
  '/api/oidc/sessions': {
    /** Sign in: make a session for what the OpenID provider sent the browser back with. */
    readonly POST: {
      readonly body: OidcAnswer;
      readonly reply: Session;
    };
  };
  '/api/smtp-credentials/mobileconfig': {
    /** Configuration profile for Apple Mail, without a key. */
    readonly GET: {
      readonly reply: Blob;
    };
    /** Configuration profile for Apple Mail, with an API key made for it. */
    readonly POST: {
      readonly body: NewAppleProfile;
      readonly reply: Blob;
    };
  };
  '/api/profile': {
    /** The account, with its additional addresses. */
    readonly GET: {
      readonly reply: Profile;
    };
    /** Change the display name. */
    readonly PUT: {
      readonly body: ProfileChange;
      readonly reply: undefined;
    };
  };
  '/api/profile/addresses': {
    /** Add an address; it receives and sends nothing before it is verified. */
    readonly POST: {
      readonly body: NewAddress;
      readonly reply: AdditionalAddress;
    };
  };
  '/api/profile/addresses/{addressId}': {
    /** Give up an additional address. */
    readonly DELETE: {
      readonly params: {
        readonly addressId: string;
      };
      readonly reply: undefined;
    };
  };
  '/api/profile/addresses/{addressId}/send-verification': {
    /** Send the verification of an address: not implemented. */
    readonly POST: {
      readonly params: {
        readonly addressId: string;
      };
      readonly reply: undefined;
    };
  };
  '/api/profile/addresses/{addressId}/verify': {
    /** Verify an address: not implemented. */
    readonly POST: {
      readonly params: {
        readonly addressId: string;
      };
      readonly reply: undefined;
    };
  };
  '/api/profile/sending/resume': {
    /** Resume sending after a suspension by the server. */
    readonly POST: {
      readonly reply: undefined;
    };
  };
  '/api/addresses/{addressId}/verification': {
    /** Send the mail that verifies an address again. */
    readonly POST: {
      readonly params: {
        readonly addressId: string;
      };
      readonly reply: undefined;
    };
  };
  '/api/preferences': {
    /** Preferences, as chosen or by default. */
    readonly GET: {
      readonly reply: Preferences;
    };
    /** Choose some or all preferences. */
    readonly PUT: {
      readonly body: PreferenceChanges;
      readonly reply: undefined;
    };
  };
  '/api/senders': {
    /** Senders that are allowed or blocked. */
    readonly GET: {
      readonly reply: Senders;
    };
    /** Replace the lists of senders. */
    readonly PUT: {
      readonly body: Senders;
      readonly reply: undefined;
    };
  };
  '/api/vacation': {
    /** What the account answers while its owner is away. */
    readonly GET: {
      readonly reply: Vacation;
    };
    /** Replace what the account answers while its owner is away. */
    readonly PUT: {
      readonly body: VacationInput;
      readonly reply: undefined;
    };
  };
  '/api/forwarding': {
    /** Where the mail of the account is sent on. */
    readonly GET: {
      readonly reply: Forwarding;
    };
    /** Send the mail of the account on, or stop it. */
    readonly PUT: {
      readonly body: Forwarding;
      readonly reply: undefined;
    };
  };
  '/api/quota': {
    /** What the mailbox uses and may use. */
    readonly GET: {
      readonly reply: Quota;
    };
  };
  '/api/push-subscriptions/vapid-public-key': {
    /** Public key of the server, with which a browser subscribes. */
    readonly GET: {
      readonly reply: VapidPublicKey;
    };
  };
  '/api/push-subscriptions': {
    /** Subscribe a browser; a subscription of the same endpoint is replaced. */
    readonly POST: {
      readonly body: PushSubscription;
      readonly reply: undefined;
    };
    /** End the subscription of a browser, or all of the account. */
    readonly DELETE: {
      readonly query?: {
        /** Endpoint of the subscription that ends */
        readonly endpoint?: string | undefined;
      };
      readonly body?: PushSubscriptionEnd;
      readonly reply: undefined;
    };
  };
  '/api/webhooks': {
    /** Webhooks, oldest first. */
    readonly GET: {
      readonly reply: readonly Webhook[];
    };
    /** Make a webhook; its secret is shown in this reply only. */
    readonly POST: {
      readonly body: WebhookInput;
      readonly reply: MadeWebhook;
    };
  };
  '/api/webhooks/{id}': {
    /** One webhook. */
    readonly GET: {
      readonly params: {
        readonly id: string;
      };
      readonly reply: Webhook;
    };
    /** Replace a webhook. */
    readonly PUT: {
      readonly params: {
        readonly id: string;
      };
      readonly body: WebhookInput;
      readonly reply: undefined;
    };
    /** Delete a webhook and its deliveries. */
    readonly DELETE: {
      readonly params: {
        readonly id: string;
      };
      readonly reply: undefined;
    };
  };
  '/api/webhooks/{id}/rotate-secret': {
    /** Give a webhook a new secret. */
    readonly POST: {
      readonly params: {
        readonly id: string;
      };
      readonly reply: WebhookSecret;
    };
  };
  '/api/webhooks/{id}/deliveries': {
    /** Attempts to deliver, newest first. */
    readonly GET: {
      readonly params: {
        readonly id: string;
      };
      readonly query?: {
        readonly page?: number | undefined;
        /** More than 100 means 100; the reply says which it was */
        readonly pageSize?: number | undefined;
      };
      readonly reply: WebhookDeliveryPage;
    };
  };
  '/api/webhooks/{id}/replay': {
    /** Deliver the events after a position of the log again. */
    readonly POST: {
      readonly params: {
        readonly id: string;
      };
      readonly body: WebhookReplay;
      readonly reply: undefined;
    };
  };
  '/api/webhooks/{id}/test': {
    /** Send a message of the type Test, and see the answer. */
    readonly POST: {
      readonly params: {
        readonly id: string;
      };
      readonly reply: WebhookTest;
    };
  };
  '/api/discovery': {
    /** Where the mail protocols are, and what this server can do. */
    readonly GET: {
      readonly reply: Discovery;
    };
  };
  '/api/folders': {
    /** Folders and labels: those that every account has first, then the others by path. */
    readonly GET: {
      readonly reply: readonly Folder[];
    };
    /** Make a folder. */
    readonly POST: {
      readonly body: NewFolder;
      readonly reply: Folder;
    };
  };
  '/api/folders/{id}': {
    /** Rename or move a folder, with everything below it. */
    readonly PUT: {
      readonly params: {
        readonly id: string;
      };
      readonly body: ChangedFolder;
      readonly reply: undefined;
    };
    /** Delete a folder and everything below it; emails without another place go to Archive. */
    readonly DELETE: {
      readonly params: {
        readonly id: string;
      };
      readonly reply: undefined;
    };
  };
  '/api/folders/{id}/emails': {
    /** Emails in a folder, newest first unless `sort` says otherwise. */
    readonly GET: {
      readonly params: {
        readonly id: string | 'inbox' | 'sent' | 'drafts' | 'archive' | 'trash' | 'junk';
      };
      readonly query?: {
        readonly page?: number | undefined;
        /** More than 100 means 100; the reply says which it was */
        readonly pageSize?: number | undefined;
        readonly isRead?: boolean | undefined;
        readonly isFlagged?: boolean | undefined;
        readonly sort?: 'date' | '-date' | 'from' | '-from' | 'subject' | '-subject' | 'size' | '-size' | undefined;
        /** Emails of a thread are one item, at the place of the newest one, with `thread`; up to 100 emails each. `totalCount` counts items, `unreadCount` emails. Only in orders by date */
        readonly groupByThread?: boolean | undefined;
      };
      readonly reply: EmailPage;
    };
  };
  '/api/labels': {
    /** Labels, by sortOrder and then name. */
    readonly GET: {
      readonly reply: readonly Label[];
    };
    /** Make a label. */
    readonly POST: {
      readonly body: LabelInput;
      readonly reply: Label;
    };
  };
  '/api/labels/{id}': {
    /** Change a label; names below it change with its own. */
    readonly PUT: {
      readonly params: {
        readonly id: string;
      };
      readonly body: LabelInput;
      readonly reply: undefined;
    };
    /** Delete a label; emails without another place go to Archive. */
    readonly DELETE: {
      readonly params: {
        readonly id: string;
      };
      readonly reply: undefined;
    };
  };
  '/api/labels/{labelId}/emails': {
    /** Emails that carry a label, newest first. */
    readonly GET: {
      readonly params: {
        readonly labelId: string;
      };
      readonly query?: {
        readonly page?: number | undefined;
        /** More than 100 means 100; the reply says which it was */
        readonly pageSize?: number | undefined;
        readonly isRead?: boolean | undefined;
        readonly isFlagged?: boolean | undefined;
        readonly sort?: 'date' | '-date' | 'from' | '-from' | 'subject' | '-subject' | 'size' | '-size' | undefined;
      };
      readonly reply: EmailPage;
    };
  };
  '/api/labels/emails/{emailId}': {
    /** Put a label on an email. */
    readonly POST: {
      readonly params: {
        readonly emailId: string;
      };
      readonly body: LabelAssignment;
      readonly reply: undefined;
    };
  };
  '/api/labels/emails/{emailId}/{labelId}': {
    /** Take a label off an email; an email without another place goes to Archive. */
    readonly DELETE: {
      readonly params: {
        readonly emailId: string;
        readonly labelId: string;
      };
      readonly reply: undefined;
    };
  };
  '/api/filters': {
    /** Filters, in the order of evaluation. */
    readonly GET: {
      readonly reply: readonly Filter[];
    };
    /** Make a filter. */
    readonly POST: {
      readonly body: FilterInput;
      readonly reply: Filter;
    };
  };
  '/api/filters/{id}': {
    /** Replace a filter. */
    readonly PUT: {
      readonly params: {
        readonly id: string;
      };
      readonly body: FilterInput;
      readonly reply: undefined;
    };
    /** Delete a filter. */
    readonly DELETE: {
      readonly params: {
        readonly id: string;
      };
      readonly reply: undefined;
    };
  };
  '/api/filters/{id}/test': {
    /** Which of the newest emails of the inbox a filter matches; it changes nothing. */
    readonly POST: {
      readonly params: {
        readonly id: string;
      };
      readonly query?: {
        /** More than 1,000 means 1,000 */
        readonly limit?: number | undefined;
      };
      readonly reply: FilterTest;
    };
  };
  '/api/filters/test': {
    /** Which of the newest emails of the inbox a filter with these conditions would match; it changes nothing. */
    readonly POST: {
      readonly query?: {
        /** More than 1,000 means 1,000 */
        readonly limit?: number | undefined;
      };
      readonly body: FilterConditions;
      readonly reply: FilterTest;
    };
  };
  '/api/filters/{id}/apply': {
    /** Apply a filter to existing mail. */
    readonly POST: {
      readonly params: {
        readonly id: string;
      };
      readonly body?: FilterRunInput;
      readonly reply: FilterRunBegun;
    };
  };
  '/api/filters/{id}/apply/{runId}': {
    /** How far a run of a filter is. */
    readonly GET: {
      readonly params: {
        readonly id: string;
        readonly runId: string;
      };
      readonly reply: FilterRun;
    };
  };
  '/api/filters/{id}/apply/{runId}/undo': {
    /** Undo a run of a filter: what nobody has changed since is as it was. */
    readonly POST: {
      readonly params: {
        readonly id: string;
        readonly runId: string;
      };
      readonly reply: undefined;
    };
  };
  '/api/suppressions': {
    /** Addresses to which nothing is sent, oldest first. */
    readonly GET: {
      readonly reply: readonly Suppression[];
    };
  };
  '/api/suppressions/{address}': {
    /** Send to an address again. */
    readonly DELETE: {
      readonly params: {
        /** The address, percent-encoded; its case does not matter */
        readonly address: string;
      };
      readonly reply: undefined;
    };
  };
  '/api/sieve': {
    /** Sieve scripts, by name. */
    readonly GET: {
      readonly reply: readonly ListedSieveScript[];
    };
  };
  '/api/sieve/{name}': {
    /** A Sieve script. */
    readonly GET: {
      readonly params: {
        readonly name: string;
      };
      readonly reply: SieveScript;
    };
    /** Store a Sieve script. */
    readonly PUT: {
      readonly params: {
        readonly name: string;
      };
      readonly body: WrittenSieveScript;
      readonly reply: undefined;
    };
    /** Rename a Sieve script, use it, or use it no longer. */
    readonly PATCH: {
      readonly params: {
        readonly name: string;
      };
      readonly body: ChangedSieveScript;
      readonly reply: undefined;
    };
    /** Delete a Sieve script. */
    readonly DELETE: {
      readonly params: {
        readonly name: string;
      };
      readonly reply: undefined;
    };
  };
  '/api/config': {
    /** Settings of the web app. */
    readonly GET: {
      readonly reply: WebConfig;
    };
  };
}
