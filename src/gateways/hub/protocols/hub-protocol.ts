// Port: an encoding of hub messages (SignalR calls it a hub protocol), which the client names in its handshake. Pure. A frame contains one
// or more whole messages.
import type { HubMessage } from './hub-messages.js';

export interface HubProtocol {
  readonly name: string;
  /** The index of its frames in tables that have one entry per protocol. */
  readonly index: number;
  /** Whether WebSocket frames are binary. */
  readonly isBinary: boolean;
  /** The message Ping, encoded. */
  readonly ping: Uint8Array;
  /** Includes the framing, so frames are joined by concatenation. */
  encode(message: HubMessage): Uint8Array;
  /**
   * The messages of a frame without their framing.
   * @throws ProtocolError
   */
  split(frame: Uint8Array): readonly Uint8Array[];
  /**
   * Undefined for types that this version does not know, which are ignored.
   * @throws ProtocolError
   */
  parse(message: Uint8Array): HubMessage | undefined;
}
