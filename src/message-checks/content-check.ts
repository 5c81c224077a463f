// A content check judges a message between its receipt and its acceptance: a policy, a spam filter, a virus scanner. The
// chain (check-chain.ts) runs the checks; the gateways that receive messages ask the chain.
import type { Authenticated } from '../mail-format/authentication/authentication.js';

export interface CheckedMessage {
  /** The results of SPF, DKIM and DMARC; undefined for a submission, whose sender has logged in. */
  readonly authenticated: Authenticated | undefined;
  /** An earlier check of the chain doubts the message, or calls it junk. */
  readonly isDoubtful?: boolean;
  /** Reads the message from its first octet. Can be called repeatedly until the check ends. */
  chunks(): Iterable<Uint8Array> | AsyncIterable<Uint8Array>;
}

export interface CheckedEnvelope {
  /** The id of the transaction, which Received and the log name too. */
  readonly id: string;
  /** The reverse-path; '' for the null one. */
  readonly sender: string;
  readonly recipients: readonly string[];
}

/** The client that sends the message. */
export interface CheckedPeer {
  readonly remoteAddress: string;
  /** The name in HELO or EHLO; '' for mail that an account sends over HTTP. */
  readonly helo: string;
  /** The account that submits the message; undefined for mail from other servers. */
  readonly accountId: string | undefined;
  /** The address of that account. */
  readonly user: string | undefined;
}

/** A field that is added on top of an accepted message. The chain makes one line of the value. */
interface VerdictHeader {
  readonly name: string;
  readonly value: string;
}

export type Verdict =
  /**
   * `junk`: incoming mail goes to Junk. A submission is accepted, since its recipients judge it themselves. `isDoubtful`: an accepted message
   * may be spam; greylisting asks about it.
   */
  | { readonly verdict: 'accept' | 'junk'; readonly headers?: readonly VerdictHeader[]; readonly isDoubtful?: boolean }
  /** `defer`: the peer tries again later. `reply`: the reason, which the peer reads. `code`: that of a refusal, 550 by default. */
  | { readonly verdict: 'defer'; readonly reply: string }
  | { readonly verdict: 'refuse'; readonly reply: string; readonly code?: 550 | 554 };

export interface ContentCheck {
  /** In log lines and metrics: one of a closed set of words. */
  readonly name: string;
  /** The time limit of one message. */
  readonly deadlineMs: number;
  /** What a fault of the check means for the message; a late verdict is a fault too. */
  readonly onFault: 'defer' | 'skip';
  /** `signal` is aborted when the verdict is late: the message must not be read any more. */
  check(
    message: CheckedMessage,
    envelope: CheckedEnvelope,
    peer: CheckedPeer,
    signal: AbortSignal,
  ): Verdict | Promise<Verdict>;
}

/** What a check that refuses or defers means for the sender. */
export interface RefusingJudgement {
  readonly verdict: 'defer' | 'refuse';
  readonly reply: string;
  /** The code of a refusal; 550 by default. */
  readonly code?: 550 | 554;
  /** The name of the check. */
  readonly by: string;
}

/** Judges a client by its address, before it sends a message. */
export interface ClientCheck {
  /** Undefined when mail of the client is received. */
  refusalOf(remoteAddress: string): Promise<RefusingJudgement | undefined>;
}
