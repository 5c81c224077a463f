// Packets between nodes have a format version, so that two neighbouring versions of Mansio understand each other (decision 0082). They are
// trees of JSON values and Uint8Arrays; packet-batch encodes them. The in-process transport may skip the encoding.
import type { ActorFaultCode } from '../errors.js';

/**
 * Rises when a node that knows only the previous version would misunderstand a packet; fields, kinds and operations that may be ignored do
 * not raise it. A release that understands a new version still sends the previous one, and the next release sends the new one, so
 * neighbouring versions always understand each other. A request with a newer version is answered with `unsupported`; such a publication
 * makes its listeners read the store.
 */
export const PACKET_VERSION = 1;

export interface RequestPacket {
  readonly v: number;
  /** Equal for all attempts of one ask, so that a repeated command is recognized. */
  readonly id: string;
  readonly accountId: string;
  /** Name of the command or query. */
  readonly name: string;
  readonly payload: unknown;
  /** What travels with the command besides its payload. */
  readonly carried?: unknown;
  /** In ms since the epoch: the caller waits no longer. */
  readonly deadline: number;
  /** The W3C trace context of the caller, if it is traced. */
  readonly trace?: string;
}

export type ReplyPacket =
  | { readonly kind: 'reply'; readonly reply: unknown }
  | { readonly kind: 'refusal'; readonly refusal: string }
  | { readonly kind: 'fault'; readonly code: ActorFaultCode; readonly message: string }
  /** The node does not own the account: the caller tries again. */
  | { readonly kind: 'notOwner' };

export interface EventRecord {
  readonly seq: number;
  readonly n: number;
  readonly type: string;
  /** ms since the epoch. */
  readonly at: number;
  readonly payload: unknown;
}

/** The events of one commit, published after it. `after`: the account's change number before the commit. */
export interface EventPacket {
  readonly v: number;
  readonly accountId: string;
  readonly after: number;
  readonly seq: number;
  readonly events: readonly EventRecord[];
  /** The W3C trace context of the command that made the change, if it is traced. */
  readonly trace?: string;
}

/** Notices between nodes about the placement of shards; hints, because the leases in the store decide. */
export type PlacementPacket =
  /** These shards have no owner: the nodes that should own them may take them. */
  | { readonly v: number; readonly kind: 'freed'; readonly node: string; readonly shards: readonly number[] }
  /** `node` now answers for these shards. `crashed`: the previous owner may have left commits unpublished. */
  | {
      readonly v: number;
      readonly kind: 'acquired';
      readonly node: string;
      readonly shards: readonly number[];
      readonly crashed: boolean;
    }
  /** The previous owner released these shards during commits, and may end without publishing them. */
  | { readonly v: number; readonly kind: 'unclean'; readonly node: string; readonly shards: readonly number[] }
  /** The node `to` now has the leases. */
  | {
      readonly v: number;
      readonly kind: 'given';
      readonly node: string;
      readonly to: string;
      readonly leases: readonly { readonly shard: number; readonly epoch: number }[];
    }
  /** The node `gone` did not answer two pings: other nodes must check themselves. */
  | { readonly v: number; readonly kind: 'gone'; readonly node: string; readonly gone: string };

/** A PlacementPacket without its sender. */
export type PlacementNotice = {
  [K in PlacementPacket['kind']]: Omit<Extract<PlacementPacket, { readonly kind: K }>, 'v' | 'node'>;
}[PlacementPacket['kind']];

/** An outbound email is due now. A hint: the store knows all due emails. */
export interface DuePacket {
  readonly v: number;
  readonly kind: 'due';
  readonly accountId: string;
  readonly outboundId: string;
}

/** The logins that a node has seen since its last packet. A hint for the login guards of other nodes. */
export interface LoginsPacket {
  readonly v: number;
  readonly kind: 'logins';
  readonly node: string;
  /** Failed logins by network and by name. */
  readonly networks: readonly (readonly [network: string, failures: number])[];
  readonly names: readonly (readonly [name: string, failures: number])[];
  /** Pairs of the network and the name of successful logins. */
  readonly known: readonly (readonly [network: string, name: string])[];
}

/** Durable consumers of the account were added or changed. A hint for the account's owner. */
export interface ConsumersPacket {
  readonly v: number;
  readonly kind: 'consumers';
  readonly accountId: string;
}

/** A packet may have been missed or was not understood: subscribers must read the store. */
export interface RecheckPacket {
  readonly v: number;
  readonly kind: 'recheck';
}

export type Publication = EventPacket | PlacementPacket | DuePacket | LoginsPacket | ConsumersPacket | RecheckPacket;
