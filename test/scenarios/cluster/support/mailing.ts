// What senders of the load have tried, and the answers that they got. Every attempt at a message has its own id, so an attempt whose answer
// was lost differs from its repetition: the former may be there at most once, the acknowledged one is there once.
import type { NumberedMessage } from './numbered-message.js';
import type { WayName } from './ways.js';

export interface Copy {
  readonly email: string;
  readonly folder: 'INBOX' | 'Sent' | 'Archive';
}

export interface Attempt extends NumberedMessage {
  readonly way: WayName;
  /** The name of the node, or of the balancer, that got it. */
  readonly at: string;
  /** The sender of the envelope: each message from another server has its own. */
  readonly from: string;
  /** Where it must be once it is acknowledged, and nowhere else. */
  readonly copies: readonly Copy[];
}

export interface Refusal {
  readonly node: string;
  /** The code of SMTP, the status of HTTP, or the response of IMAP. */
  readonly code: string;
  /** The step before the refusal: a command, `message`, or `connect`. */
  readonly after: string;
  readonly text: string;
}

export class Mailing {
  /** Attempts by their ids; whether they were sent completely is unknown. */
  readonly tried = new Map<string, Attempt>();
  readonly accepted = new Map<string, Attempt>();
  /** Ids of attempts whose answer is awaited. */
  readonly underWay = new Set<string>();
  /** The sender tries another node. */
  readonly temporary: Refusal[] = [];
  /** Final refusals, such as 5xx. */
  readonly refused: Refusal[] = [];
  /** Number of announced ends of a connection between two messages: nothing was refused. */
  goodbyes = 0;
  /** Connections that broke or hung within a message. */
  readonly interrupted: string[] = [];
  /** Connections that could not be opened. */
  readonly unreachable: string[] = [];
  /** In ms, from the first attempt at a message to its acknowledgement. */
  slowestMs = 0;
}

/** Thrown by a channel when the server refuses. */
export class Refused extends Error {
  readonly refusal: Refusal;
  readonly isForGood: boolean;

  constructor(refusal: Refusal, isForGood: boolean) {
    super(`${refusal.code} ${refusal.text}`);
    this.refusal = refusal;
    this.isForGood = isForGood;
  }
}

/** Thrown by a channel when the server has announced the end of the connection, and has taken no message since the last answer. */
export class Goodbye extends Error {}
