// What a client offers: the interface of `mansio/client`.
import type { Observable } from 'rxjs';
import type { Change } from './actions/change.js';
import type {
  CancelledEmail,
  DeliveryAttempt,
  Draft,
  DraftInput,
  EmailDetail,
  EmailListItem,
  Folder,
  Label,
  OidcAnswer,
  OutboundEmail,
  OutboundRecipient,
  Passkey,
  PasskeyLogin,
  PasskeyRegistration,
  Preferences,
  Profile,
  QueuedEmail,
  RetriedEmail,
  SendDraftInput,
  SendInput,
  Session,
} from './generated/rest.js';
import type { ClientEvent, ConnectionState } from './hub/hub-link.js';
import type { ClientStorage } from './offline/client-storage.js';
import type { Credential, Method, PathOf, Reply, RequestInput } from './rest.js';
import type { Setting, SettingPath } from './settings.js';

export interface ClientOptions {
  /** Where the server is, `https://mail.example.org`. Without it the origin of the page; programs of Node.js name it. */
  readonly baseUrl?: string;
  /** Without it requests count by the cookie of a session, on the server's own origin. */
  readonly credential?: Credential;
  /** In place of the global `fetch`. */
  readonly fetch?: typeof fetch;
  /** Keeps what was read and what is still to be sent, between the runs of the client. Without it that is in memory alone. */
  readonly storage?: ClientStorage;
}

export type EmailSort = 'date' | '-date' | 'from' | '-from' | 'subject' | '-subject' | 'size' | '-size';

/**
 * A list of emails: a thread; a search where one of its parameters, those from `q` to `anywhere`, is there; else a folder, which is the
 * inbox when none is named.
 */
export interface ListQuery {
  /** Id of a folder or label, or a role: `inbox`, `sent`, `drafts`, `archive`, `trash`, `junk`. */
  readonly folder?: string | undefined;
  readonly isRead?: boolean | undefined;
  readonly isFlagged?: boolean | undefined;
  /** The order of a folder; searches are newest first. */
  readonly sort?: EmailSort | undefined;
  /** A folder in an order by date has an item per thread, with the emails of the thread in `thread`. */
  readonly groupByThread?: boolean | undefined;
  readonly q?: string | undefined;
  /** Words and phrases, as in `q`, in the sender, in To, in Cc and in the subject. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly cc?: string | undefined;
  readonly subject?: string | undefined;
  readonly fromDate?: string | undefined;
  readonly toDate?: string | undefined;
  readonly hasAttachments?: boolean | undefined;
  readonly keyword?: string | undefined;
  /** Messages of this size or larger. */
  readonly minSizeBytes?: number | undefined;
  /** Ids of labels that the emails have, with commas between. */
  readonly label?: string | undefined;
  /** Emails that are only in trash or junk are found too; not with `folder`. */
  readonly anywhere?: boolean | undefined;
  /** The emails of a thread, oldest first; alone. */
  readonly threadId?: string | undefined;
}

/** Positions of a list, from 0; `end` is not part of it. */
export interface ListRange {
  readonly start: number;
  readonly end: number;
}

export interface ListView {
  /** All items of the list, and the unread emails. */
  readonly total: number;
  readonly unread: number;
  /** The position of the first of `items`. */
  readonly start: number;
  /** The emails around the range, without gaps. */
  readonly items: readonly EmailListItem[];
  /** Emails of the range are still to come. */
  readonly isLoading: boolean;
  /** Why the list cannot be read. */
  readonly error?: Error | undefined;
}

/** A recipient whose email bounces has `failed` after `delivered`. */
export interface TimelineStep {
  /**
   * ISO 8601. `queued` has the time of the copy in Sent; without one, that at which the email was made. A `failed` that no attempt tells,
   * such as that of an email which was cancelled, has the time of the step before: the recipient has failed then or later.
   */
  readonly at: string;
  readonly kind: 'queued' | 'delivered' | 'retried' | 'failed';
  /** Who replied; null without one. */
  readonly host: string | null;
  /** The reply or the error that decided; empty for `queued`, and where it is not known. */
  readonly reply: string;
}

export interface RecipientTimeline {
  readonly recipient: OutboundRecipient;
  readonly steps: readonly TimelineStep[];
}

export interface OutboundState {
  readonly email: OutboundEmail;
  /** Oldest first. */
  readonly attempts: readonly DeliveryAttempt[];
  /** How many emails are before it; null when it does not wait for others. */
  readonly queuePosition: number | null;
  /** ISO 8601. When the email was queued; null where that is not known, because no copy is in Sent. */
  readonly queuedAt: string | null;
  /** What happened for each recipient, in the order of the email. */
  readonly timeline: readonly RecipientTimeline[];
}

/** A draft and its version. */
export interface StoredDraft {
  readonly draft: Draft;
  readonly etag: string;
}

/** Rejections of type Conflict: another window or program has changed the draft. */
export interface Drafts {
  create(draft: DraftInput): Promise<StoredDraft>;
  read(id: string): Promise<StoredDraft>;
  /** Replaces the draft as a whole. Resolves with its new version. Without `etag` whatever is there. */
  update(id: string, draft: DraftInput, etag?: string): Promise<string>;
  delete(id: string, etag?: string): Promise<void>;
  send(id: string, options?: SendDraftInput & { readonly etag?: string | undefined }): Promise<QueuedEmail>;
}

/** What is known of an email before an action. */
export interface KnownEmail {
  readonly isRead: boolean;
  readonly isFlagged: boolean;
  readonly folderIds: readonly string[];
}

/** What is known of emails by their ids. */
export interface KnownEmails {
  find(id: string): KnownEmail | undefined;
}

/** Emails of an action that nobody could name: the server is asked for them when the action is sent. */
export interface UnnamedEmails {
  /** A list with an item per thread. */
  readonly query: Omit<ListQuery, 'threadId'>;
  /** For each item, the emails that it names, the newest first. Emails of the item that are newer are not meant. */
  readonly items: readonly (readonly string[])[];
}

/** What is known of the emails of an action, and those that belong to it without a name. */
export interface ActionEmails extends KnownEmails {
  readonly unnamed?: UnnamedEmails | undefined;
}

/** The emails that a list had when it was asked; what comes later is not among them. */
export interface FoundEmails extends KnownEmails {
  /** All of them; `ids` are the newest 500,000. */
  readonly total: number;
  readonly ids: readonly string[];
  /** The emails of the item of an email, the newest first; undefined when the email is an item alone. */
  thread(id: string): readonly string[] | undefined;
}

/** Restores emails: a part of what takes an action back. It can be kept as JSON. */
export interface UndoStep {
  readonly change: Change;
  readonly ids: readonly string[];
}

export interface FoundOptions {
  /** Says after each 20,000 emails how many are known, and how many the list has. */
  readonly progress?: (known: number, total: number) => void;
  /** Ends the reading, which then rejects with the reason of the signal. */
  readonly signal?: AbortSignal;
}

export interface Action {
  /** Names the action for `act.restored`, in this run of the client and the next ones. */
  readonly key: string;
  /** Resolves when the server has carried it out. Rejects with a Refusal; then it has changed nothing, or of many emails some. */
  readonly done: Promise<void>;
  /** How many emails the server has handled; it completes with the action. */
  readonly progress$: Observable<number>;
  /**
   * Takes it back. Of many emails, those that were not sent yet are not sent any more; when it was refused half way, those that it has
   * changed are restored.
   */
  undo(): Promise<void>;
  /** Ends the sending: what the server has handled stays changed, and `undo` takes that back. `done` resolves. */
  stop(): void;
  /**
   * What takes back what is carried out, as far as it is known now. Undefined for a deletion, and while emails of the action have no name or
   * are not known.
   */
  steps(): readonly UndoStep[] | undefined;
}

/**
 * `found` tells what was known of emails that no list shows, so that `undo` restores them too, and which emails of items belong to the action
 * that they do not name.
 */
export interface Actions {
  markRead(ids: readonly string[], isRead: boolean, found?: ActionEmails): Action;
  flag(ids: readonly string[], isFlagged: boolean, found?: ActionEmails): Action;
  /** `to`, `from`: id of a folder, or a role. Without `from` the emails leave every folder. */
  move(
    ids: readonly string[],
    folders: { readonly to: string; readonly from?: string | undefined },
    found?: ActionEmails,
  ): Action;
  /**
   * For good; with `from`, ids or roles, only those emails that are in one of these folders when the server is asked, which may be much
   * later. `undo` rejects once the server has been asked.
   */
  delete(ids: readonly string[], folders?: { readonly from?: readonly string[] }, found?: ActionEmails): Action;
  label(ids: readonly string[], labelId: string, found?: ActionEmails): Action;
  unlabel(ids: readonly string[], labelId: string, found?: ActionEmails): Action;
  /** An action of an earlier run, which the storage had because the server had not answered; undefined when it had not. */
  restored(key: string): Promise<Action | undefined>;
  /** Takes an action of an earlier run back, by its `steps`. Resolves when the server has carried them out. */
  carryOut(steps: readonly UndoStep[]): Promise<void>;
}

/** What an authenticator is asked, in JSON, as libraries over `navigator.credentials` and its own `parse…FromJSON` take it. */
export type PasskeyOptions = Readonly<Record<string, unknown>>;

/** Passkeys of the account. The page asks the authenticator, with `navigator.credentials` or a library over it. */
export interface Passkeys {
  /** Oldest first. */
  list(): Promise<readonly Passkey[]>;
  /** Options for `navigator.credentials.create`. A refusal with 400 when the host can have no passkeys. */
  registrationOptions(): Promise<PasskeyOptions>;
  /** Adds the passkey that the authenticator has made. */
  register(made: PasskeyRegistration): Promise<Passkey>;
  /** Options for `navigator.credentials.get`, for a `signIn` with its answer. */
  signInOptions(): Promise<PasskeyOptions>;
  /** The passkey signs in no more. Sessions that it began continue. */
  remove(id: string): Promise<void>;
}

/** What proves who signs in. */
export type SignInProof =
  | { readonly apiKey: string }
  /** An access token of the OpenID provider. */
  | { readonly token: string }
  /** The link for one sign-in, or its token. */
  | { readonly link: string }
  /** The answer of an authenticator to `passkeys.signInOptions`. */
  | { readonly passkey: PasskeyLogin }
  /** What the OpenID provider sent the browser back with. */
  | { readonly oidc: OidcAnswer };

/** An action of an earlier run of the client that the server has refused; what is shown is as it was before. */
export interface LateRefusal {
  readonly ids: readonly string[];
  readonly error: Error;
}

export interface MansioClient {
  /** The newest state at once, and every later one. */
  readonly connection$: Observable<ConnectionState>;
  /** What happens in the account from now on, each event once, also over broken connections. */
  readonly events$: Observable<ClientEvent>;
  /** Events may be missing, and what the client shows is read again. */
  readonly resync$: Observable<void>;
  /** A list that follows the mailbox, with the emails around `range$` (the first ones without it). */
  list(query: ListQuery, range$?: Observable<ListRange>): Observable<ListView>;
  /** Who is signed in: as the server says, or, while it does not answer, as the storage does. */
  readonly account$: Observable<Profile>;
  /**
   * The emails of a list, to act on all of them; not of a thread. `rowsOf`: ids of emails of a list with an item per thread; only the emails
   * of the items that have one of them.
   */
  found(query: Omit<ListQuery, 'threadId'>, rowsOf?: readonly string[], options?: FoundOptions): Promise<FoundEmails>;
  readonly folders$: Observable<readonly Folder[]>;
  readonly labels$: Observable<readonly Label[]>;
  readonly preferences$: Observable<Preferences>;
  /** The browsers that are signed in, again when one is signed in or out. When each was used last is as old as that. */
  readonly sessions$: Observable<readonly Session[]>;
  /** What the account has set, by the path of REST, again when it changes, here or elsewhere. */
  setting<P extends SettingPath>(path: P): Observable<Setting<P>>;
  /** An email, again when it changes; the error NotFound when it is deleted. */
  email(id: string): Observable<EmailDetail>;
  /** The emails of a thread, oldest first. */
  thread(threadId: string): Observable<readonly EmailDetail[]>;
  /** What becomes of an email that was sent. */
  outbound(id: string): Observable<OutboundState>;
  readonly drafts: Drafts;
  send(email: SendInput): Promise<QueuedEmail>;
  /** Takes back an email that was sent, where that is still possible. */
  cancel(outboundId: string): Promise<CancelledEmail>;
  /** Sends an email now that has failed or waits. */
  retry(outboundId: string): Promise<RetriedEmail>;
  readonly act: Actions;
  readonly lateRefusals$: Observable<LateRefusal>;
  /** Any other request. @throws Refusal, NetworkFault */
  request<M extends Method, P extends PathOf<M>>(
    method: M,
    path: P,
    ...input: RequestInput<M, P>
  ): Promise<Reply<M, P>>;
  attachmentUrl(emailId: string, attachmentId: string): string;
  emlUrl(emailId: string): string;
  /** The content behind a path or URL of the server, with the credential of the client. */
  blob(path: string): Promise<Blob>;
  /** Makes a session, whose cookie the browser keeps. */
  signIn(proof: SignInProof): Promise<Session>;
  /** Ends this session. Resolves when nothing of the account is kept any more. */
  signOut(): Promise<void>;
  sessions(): Promise<readonly Session[]>;
  endSession(id: string): Promise<void>;
  readonly passkeys: Passkeys;
  /** Ends the connection and all streams. */
  close(): void;
}
