// Port: metrics of the runtime. The methods are called on hot paths: they must not throw and must cost next to nothing. Figures that can be
// read on demand (`Host.load`, `Ownership`) are not counted here.
import type { ActorFaultCode } from './errors.js';
import type { ReplyPacket } from './transport/packet.js';

/** The outcome of an ask, or of a request. */
export type AskOutcome = 'reply' | 'refusal' | 'not-owner' | ActorFaultCode;

export interface Meter {
  /** A monotonic time in ms; 0 when nothing is measured. */
  now(): number;
  /** Counts an ask of this node that has ended. `local`: this node owned the account. */
  asked(protocol: string, outcome: AskOutcome, local: boolean, ms: number): void;
  /** Counts an ask that found no owner and is repeated. */
  askRetried(): void;
  /** Counts an answer of this node's host to a request. */
  answered(protocol: string, operation: string, outcome: AskOutcome, ms: number): void;
  /** Counts a load of an actor's state. */
  loaded(): void;
  /** Counts idle actors that left memory. */
  passivated(actors: number): void;
  /** Counts a load or commit that met a later owner. */
  fenced(): void;
  published(events: number): void;
  received(events: number): void;
  /** Counts events that followers read from the log because they had missed them or started at an earlier position. */
  readFromLog(events: number): void;
  /** `crashed`: the previous owner had not released them. */
  shardsTaken(shards: number, crashed: boolean): void;
  shardsHandedOver(shards: number): void;
  /** Counts shards that other nodes have taken, which this node noticed afterwards. */
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
