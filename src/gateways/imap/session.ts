// The state of one IMAP session, as commands see it.
import type { Logger } from 'pino';
import type { ProtocolLogin } from '../../auth/protocol-login.js';
import type { LineConnection } from '../tcp/line-connection.js';
import type { ImapContext } from './context.js';
import type { Output } from './output.js';
import type { FolderView, ViewUpdates } from './view/folder-view.js';

export type SessionState = 'not-authenticated' | 'authenticated' | 'selected';

/** What ENABLE turned on, or a command that implies it. */
export type Enabled = 'IMAP4REV2' | 'CONDSTORE' | 'QRESYNC' | 'UTF8=ACCEPT' | 'UIDONLY';

export interface Selected {
  readonly folderId: string;
  /** As the client named it. */
  readonly name: string;
  readonly isReadOnly: boolean;
  readonly view: FolderView;
}

/** What a command of the session has changed in an account's folders. */
export type OwnChange = { readonly folderId: string } & (
  | {
      /** Messages were put into the folder; modseqs of the folder before that and after it. */
      readonly type: 'messages';
      readonly uids: readonly (readonly [first: number, last: number])[];
      readonly modseqBefore: number;
      readonly modseq: number;
    }
  | { readonly type: 'created' | 'renamed'; readonly path: string }
  | { readonly type: 'deleted' }
  | { readonly type: 'subscribed'; readonly isSubscribed: boolean }
);

/** Sends the changes that NOTIFY asks for, between commands. */
export interface Notifier {
  /** Changes are being written at this moment. */
  readonly isTelling: boolean;
  /** Changes of flags in the selected mailbox are among what is written. */
  readonly sendsFlags: boolean;
  /**
   * The modseq up to which the client had been sent of the selected mailbox when the last command ended, IDLE included. It may have
   * sent the next one before it read what was sent since, and reads that while this one runs.
   */
  readonly sentModseq: number;
  /** A command begins: nothing is written until `release`. Resolves when what is being written has been written. */
  hold(): Promise<void>;
  /** No command runs, or IDLE does, in which expunges may be sent. */
  release(during: 'idle' | 'no command'): void;
  /** The command that runs has changed this: the client is not told of it. */
  caused(change: OwnChange): void;
  end(): void;
}

export interface Session {
  readonly state: SessionState;
  readonly isSecure: boolean;
  readonly remoteAddress: string;
  readonly log: Logger;
  readonly output: Output;
  /** For STARTTLS, COMPRESS, and the account's share of connections. */
  readonly connection: LineConnection;
  /** What the server can do in this state, as CAPABILITY says it. */
  readonly capabilities: string;
  /** Shared by all sessions of the node. */
  readonly context: ImapContext;
  /** @throws Error before the login */
  readonly login: ProtocolLogin;
  /** @throws Error before the login */
  readonly accountId: string;
  /** Failed logins so far. */
  failedLogins: number;
  /** The state becomes `authenticated`. */
  open(login: ProtocolLogin): void;
  readonly enabled: ReadonlySet<Enabled>;
  enable(...extensions: Enabled[]): void;
  /** Undefined in the other states. */
  readonly selected: Selected | undefined;
  /** Replaces what is selected; the view of the mailbox before is closed. */
  select(selected: Selected | undefined): void;
  /** Of the command that runs. */
  readonly tag: string;
  /** Undefined: NOTIFY is not in effect. */
  readonly notifier: Notifier | undefined;
  /** Replaces the notifier; the one before is ended. */
  notify(notifier: Notifier | undefined): void;
  /** UIDs of the last search with SAVE, ascending; empty after SELECT. */
  savedSearch: readonly number[];
  /** The next line that the client sends while a command runs: IDLE's DONE, a response of AUTHENTICATE. Without its end. */
  readLine(mostOctets: number): Promise<Buffer>;
  /** Sends untagged responses for what changed in the selected mailbox, EXPUNGE too when it may be sent; returns the changes. */
  sendUpdates(mayExpunge: boolean): ViewUpdates;
  /** The connection ends after the tagged response of the command; a BYE with the reason is sent before that response. */
  end(text: string, code?: string): void;
}
