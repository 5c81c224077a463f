// Port: metrics of the runtime. The methods are called on hot paths: they must not throw and must cost next to nothing.
// Figures that can be read on demand (`Host.load`, `Ownership`) are not counted here.
import type { ActorFaultCode } from './errors.js';
import type { ReplyPacket } from './packet.js';

/** The outcome of an ask, or of a request. */
export type AskOutcome = 'reply' | 'refusal' | 'not-owner' | ActorFaultCode;

export interface Meter {
  /** Monotonic, in ms; 0 where nothing is measured. */
  now(): number;
  /** An ask of this node is over. `local`: this node owned the account. */
  asked(protocol: string, outcome: AskOutcome, local: boolean, ms: number): void;
  /** An ask found no owner and is repeated. */
  askRetried(): void;
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
  /** Events that followers read from the log, because they had missed them or started at an earlier position. */
  readFromLog(events: number): void;
  /** `crashed`: the owner before had not released them. */
  shardsTaken(shards: number, crashed: boolean): void;
  shardsHandedOver(shards: number): void;
  /** Other nodes had taken the shards, which this node noticed afterwards. */
  shardsLost(shards: number): void;
}

export const NO_METER: Meter = {
  now: () => 0,
  asked: () => {},
  askRetried: () => {},
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
