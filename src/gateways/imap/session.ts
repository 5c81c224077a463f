// The state of one IMAP session that commands use.
import type { Logger } from 'pino';
import type { ListenerLogins, LoginConnection } from '../../auth/listener-logins.js';
import type { ProtocolLogin } from '../../auth/protocol-login.js';
import type { LineConnection } from '../../net/tcp/line-connection.js';
import type { Output } from '../sessions/output.js';
import type { Completion } from './completion.js';
import type { ImapContext } from './context.js';
import type { FolderView, ViewUpdates } from './view/folder-view.js';

export type SessionState = 'not-authenticated' | 'authenticated' | 'selected';

/** Extensions that ENABLE, or a command that implies them, has turned on. */
export type Enabled = 'IMAP4REV2' | 'CONDSTORE' | 'QRESYNC' | 'UTF8=ACCEPT' | 'UIDONLY';

export interface Selected {
  readonly folderId: string;
  /** The name that the client used. */
  readonly name: string;
  readonly isReadOnly: boolean;
  readonly view: FolderView;
}

/** A change of an account's folders by a command of the session. */
export type OwnChange = { readonly folderId: string } & (
  | {
      /** Messages were put into the folder; the modseqs are those of the folder before and after that. */
      readonly type: 'messages';
      readonly uids: readonly (readonly [first: number, last: number])[];
      readonly modseqBefore: number;
      readonly modseq: number;
    }
  | { readonly type: 'created' | 'renamed'; readonly path: string }
  | { readonly type: 'deleted' }
  | { readonly type: 'subscribed'; readonly isSubscribed: boolean }
);

/** Sends the changes that NOTIFY requests, between commands. */
export interface Notifier {
  /** Whether changes are being written now. */
  readonly isTelling: boolean;
  /** Whether it sends changes of flags in the selected mailbox. */
  readonly sendsFlags: boolean;
  /**
   * The modseq of the selected mailbox up to which the client had been informed when the last command ended, IDLE included. The client
   * may have sent the next command before it reads later responses.
   */
  readonly sentModseq: number;
  /** Messages above this UID were reported with their attributes after that, if at all. */
  readonly sentUid: number;
  /** Called when a command begins: nothing is written until `release`. Resolves when the current write is done. */
  hold(): Promise<void>;
  /** Called when no command runs, or when IDLE runs, which allows expunges. */
  release(during: 'idle' | 'no command'): void;
  /** The current command has made this change, so the client is not notified of it. */
  caused(change: OwnChange): void;
  end(): void;
}

export interface Session extends LoginConnection<Completion> {
  readonly state: SessionState;
  readonly log: Logger;
  readonly output: Output;
  /** Used by STARTTLS and COMPRESS, and to count connections of the account. */
  readonly connection: LineConnection;
  /** The capabilities in the present state, as CAPABILITY lists them. */
  readonly capabilities: string;
  /** Shared by all sessions of the node. */
  readonly context: ImapContext;
  readonly logins: ListenerLogins<Completion>;
  /** @throws Error before the login */
  readonly login: ProtocolLogin;
  /** @throws Error before the login */
  readonly accountId: string;
  readonly enabled: ReadonlySet<Enabled>;
  enable(...extensions: Enabled[]): void;
  /** Undefined unless the state is `selected`. */
  readonly selected: Selected | undefined;
  /** Replaces the selected mailbox and closes the view of the previous one. */
  select(selected: Selected | undefined): void;
  /** The tag of the current command. */
  readonly tag: string;
  /** Undefined while NOTIFY is not in effect. */
  readonly notifier: Notifier | undefined;
  /** Replaces the notifier and ends the previous one. */
  notify(notifier: Notifier | undefined): void;
  /** UIDs of the last search with SAVE, ascending; empty after SELECT. */
  savedSearch: readonly number[];
  /** Reads the next line that the client sends during a command (DONE of IDLE, a response of AUTHENTICATE), without its end. */
  readLine(mostOctets: number): Promise<Buffer>;
  /** Sends untagged responses for changes of the selected mailbox, with EXPUNGE if it is allowed; returns the changes. */
  sendUpdates(mayExpunge: boolean): ViewUpdates;
  /** Ends the connection after the tagged response of the command; a BYE with the reason is sent before that response. */
  end(text: string, code?: string): void;
}
