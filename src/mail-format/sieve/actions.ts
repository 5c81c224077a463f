// The result of a script, as a value: what becomes of the message.
import type { HeaderEdit } from './header-edit.js';
import type { SieveFault } from './syntax.js';

/** What commands before the action have changed in the header; undefined: the message is as it came. */
interface Edited {
  readonly edit?: HeaderEdit | undefined;
}

/** Names of flags and keywords. */
interface Flagged {
  readonly flags: readonly string[];
}

export interface KeepAction extends Edited, Flagged {
  readonly type: 'keep';
  /** The script has not said what becomes of the message, or has failed. */
  readonly isImplicit: boolean;
}

export interface FileintoAction extends Edited, Flagged {
  readonly type: 'fileinto';
  /** The path as the script gives it. */
  readonly folder: string;
  /** The folder is created when it is missing. */
  readonly create: boolean;
  /** The folder with this attribute is taken where there is one (RFC 8579 §4). */
  readonly specialUse: string | undefined;
}

export interface RedirectAction extends Edited {
  readonly type: 'redirect';
  readonly address: string;
}

export interface RejectAction {
  readonly type: 'reject';
  /** `ereject` prefers a refusal by the protocol (RFC 5429 §2.1). */
  readonly command: 'reject' | 'ereject';
  readonly reason: string;
}

export interface VacationAction {
  readonly type: 'vacation';
  readonly reason: string;
  /** The reason is a MIME entity. */
  readonly isMime: boolean;
  readonly days: number | undefined;
  readonly subject: string | undefined;
  readonly from: string | undefined;
  /** Further addresses of the account. */
  readonly addresses: readonly string[];
  /** Replies with one handle count together (RFC 5230 §4.2). */
  readonly handle: string;
}

/** What the sender is told. */
export type SieveAnswer = RejectAction | VacationAction;

export type SieveAction = KeepAction | FileintoAction | RedirectAction | SieveAnswer;

/** A key that later deliveries find tracked (RFC 7352). */
export interface TrackedKey {
  readonly key: string;
  /** How long it is tracked. */
  readonly seconds: number;
}

export interface SieveResult {
  /** In the order of the script; none: the message is discarded. */
  readonly actions: readonly SieveAction[];
  readonly tracked: readonly TrackedKey[];
  /** Why the script has failed: the message is then kept, and nothing else happens (RFC 5228 §2.10.6). */
  readonly fault: SieveFault | undefined;
}
