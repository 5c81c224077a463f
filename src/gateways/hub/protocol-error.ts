// What a hub client did wrong on the wire: thrown by the codecs, told to the client in a close message, never a fault
// of ours.

export class ProtocolError extends Error {
  override readonly name = 'ProtocolError';
}
