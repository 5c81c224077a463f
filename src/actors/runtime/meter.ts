// Port: what the runtime counts for those who watch a node. Its methods are called on hot paths: they must not throw and
// must cost next to nothing. What can be read when somebody looks (`Host.load`, `Ownership`) is not counted here.
import type { ActorFaultCode } from './errors.js';
import type { ReplyPacket } from './packet.js';

/** How an ask, or the answer to one, came out. */
export type AskOutcome = 'reply' | 'refusal' | 'not-owner' | ActorFaultCode;

export interface Meter {
  /** Monotonic, in ms; who counts nothing does not look at the clock either. */
  now(): number;
  /** An ask of this node is over. `local`: this node owned the account. */
  asked(protocol: string, outcome: AskOutcome, local: boolean, ms: number): void;
  /** An ask was not answered by an owner and looks for one again. */
  lookedAgain(): void;
  /** A request that reached this node's host was answered. */
  answered(protocol: string, operation: string, outcome: AskOutcome, ms: number): void;
  /** An actor's state was loaded. */
  loaded(): void;
  /** Idle actors left the memory. */
  passivated(actors: number): void;
  /** A load or a commit met a later owner. */
  fenced(): void;
  published(events: number): void;
  received(events: number): void;
  /** Events read from the log, by followers who had missed them or came later. */
  readFromLog(events: number): void;
  /** `crashed`: the owner before had not released them. */
  shardsTaken(shards: number, crashed: boolean): void;
  shardsHandedOver(shards: number): void;
  /** Taken by others while this node was not looking. */
  shardsLost(shards: number): void;
}

export const NO_METER: Meter = {
  now: () => 0,
  asked: () => {},
  lookedAgain: () => {},
  answered: () => {},
  loaded: () => {},
  passivated: () => {},
  fenced: () => {},
  published: () => {},
  received: () => {},
  readFromLog: () => {},
  shardsTaken: () => {},
  shardsHandedOver: () => {},
  shardsLost: () => {},
};

export function outcomeOf(reply: ReplyPacket): AskOutcome {
  if (reply.kind === 'fault') return reply.code;
  return reply.kind === 'notOwner' ? 'not-owner' : reply.kind;
}
