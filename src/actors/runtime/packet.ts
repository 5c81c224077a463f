// Packets: what travels between nodes. Plain JSON with a format version, so that two neighbouring versions of Mansio
// understand each other (D13). Encoding is apart from meaning: the in-process transport may skip it.
import type { ActorFaultCode } from './errors.js';

export const PACKET_VERSION = 1;

export interface RequestPacket {
  readonly v: number;
  readonly accountId: string;
  /** Name of the command or query. */
  readonly name: string;
  readonly payload: unknown;
  /** ms since the epoch: later than this nobody waits for the outcome. */
  readonly deadline: number;
}

export type ReplyPacket =
  | { readonly kind: 'reply'; readonly reply: unknown }
  | { readonly kind: 'refusal'; readonly refusal: string }
  | { readonly kind: 'fault'; readonly code: ActorFaultCode; readonly message: string }
  /** Whoever was asked does not own the account: look again. */
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
}

export function encode(packet: RequestPacket | ReplyPacket | EventPacket): Uint8Array {
  return Buffer.from(JSON.stringify(packet));
}

export function decode<T>(bytes: Uint8Array): T {
  return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString()) as T;
}
